"""What a confined process is answered to each system call; every call not named here is allowed.

What a call reads from memory no filter can see: such calls are judged by their number alone.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.sandbox.inside.bpf import Check

ALLOW = 0x7FFF_0000
KILL = 0x8000_0000
REFUSE = 0x0005_0000 | errno.EPERM
# As if the kernel were too old for it, which makes a library fall back to an older call.
UNKNOWN = 0x0005_0000 | errno.ENOSYS


class Rule(NamedTuple):
    """What a call is answered if all checks of its arguments hold, and what if not."""

    checks: tuple[Check, ...]
    then: int
    otherwise: int


def rules(*, network: bool) -> Mapping[str, int | Rule]:
    """The answers by the calls' names; with `network` TCP sockets can be made and connected, else none at all."""
    answers: dict[str, int | Rule] = {}
    for names in _REFUSED.values():
        answers |= dict.fromkeys(names.split(), REFUSE)
    for names in _UNKNOWN.values():
        answers |= dict.fromkeys(names.split(), UNKNOWN)
    answers |= _GUARDED
    if network:
        # What else runs over such sockets (SCTP, MPTCP, SMC) is only more of the kernel to attack.
        answers["socket"] = _only_if(_low(0, _INET, _INET6), _low(1, _STREAM, mask=_SOCKET_TYPE), _low(2, 0, _TCP))
    else:
        answers |= {"socket": REFUSE, "connect": REFUSE}
    return answers


def _low(argument: int, *values: int, mask: int = 0xFFFF_FFFF) -> Check:
    """On the low half of an argument, which is all that the kernel looks at where it is a C int."""
    return Check(16 + 8 * argument, values, mask)


def _high(argument: int, *values: int) -> Check:
    return Check(20 + 8 * argument, values)


def _only_if(*checks: Check) -> Rule:
    return Rule(checks, ALLOW, REFUSE)


def _refuse_if(*checks: Check) -> Rule:
    return Rule(checks, REFUSE, ALLOW)


_REFUSED = {
    "other processes' memory and files": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease "
    "kcmp pidfd_getfd",
    "work that a filter does not see, queued in shared memory": "io_uring_setup io_uring_enter io_uring_register "
    "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents",
    "another view of the files": "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig "
    "fsmount fspick mount_setattr name_to_handle_at open_by_handle_at fanotify_init fanotify_mark unshare setns",
    "memory that no limit of ours counts": "memfd_create memfd_secret shmget shmat shmctl shmdt msgget msgsnd msgrcv "
    "msgctl semget semop semctl semtimedop mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr "
    "add_key request_key keyctl vmsplice",
    "where memory lies": "mbind set_mempolicy set_mempolicy_home_node migrate_pages move_pages",
    "the whole machine": "bpf perf_event_open userfaultfd kexec_load kexec_file_load init_module finit_module "
    "delete_module reboot swapon swapoff clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname "
    "quotactl quotactl_fd acct syslog iopl ioperm modify_ldt vhangup lsm_set_self_attr sync",
    # Some kernels share the processors between sessions, whatever the priority of the processes in them.
    "weighing as much as the whole server": "setsid",
    "being reached by others": "bind listen accept accept4",
}

_UNKNOWN = {
    "arguments in memory; libraries then use clone and openat": "clone3 openat2",
    "lists of mounts and namespaces": "statmount listmount listns",
    "rules of its own, whose memory nobody counts": "landlock_create_ruleset landlock_add_rule landlock_restrict_self",
    "few for each user, whom all calls share; programs then look by themselves": "inotify_init inotify_init1",
    "gone from the kernel or from use": "_sysctl create_module get_kernel_syms query_module nfsservctl getpmsg putpmsg "
    "afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old uselib ustat sysfs lookup_dcookie",
}

_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _TCP = 1, 6
_FASTOPEN = 0x2000_0000
# The type of a socket without SOCK_NONBLOCK and SOCK_CLOEXEC.
_SOCKET_TYPE = 0xFFFF_FFFF ^ (0o4000 | 0o2000000)

# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; a time namespace clone cannot make.
_NAMESPACES = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000

# Typing into a terminal, the functions of its console, the drivers that can be put on it.
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423

# What runs in the kernel on a socket: SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF, TCP_ULP.
_SOCKET_LEVELS = (1, _TCP)
_SOCKET_PROGRAMS = (26, 50, 51, 52, 31)
# Memory of the kernel that nobody counts: SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE. What TCP has under
# these numbers nobody misses.
_SOCKET_BUFFERS = (7, 8, 32, 33)
# The same of a pipe, all of which together are bounded for each user, whom all calls share.
_SETPIPE_SZ = 1031

# A set-user-id file, made in a folder of the host, would lend the board's user to whoever runs it there.
_SET_ID, _SET_IDS = 0o6000, (0o2000, 0o4000, 0o6000)
_CREAT, _TMPFILE = 0o100, 0o20000000
_NEW_FILE, _NEW_FILES = _CREAT | _TMPFILE, (_CREAT, _TMPFILE, _CREAT | _TMPFILE)
_KIND, _FIFO, _REGULAR = 0o170000, 0o10000, 0o100000

# MAP_SHARED and MAP_ANONYMOUS: all of it stays while one page of it is mapped, and only that page would be counted.
_SHARED_AND_NAMELESS = 0x01 | 0x20
# MAP_HUGETLB: pages from a pool of the machine's, which is no memory of anybody's.
_HUGE = 0x40000
_UNCOUNTED = (_SHARED_AND_NAMELESS, *(_HUGE | flags for flags in (0, 0x01, 0x20, _SHARED_AND_NAMELESS)))

_MYSELF = _low(0, 0)

_GUARDED: Mapping[str, Rule] = {
    "mmap": _refuse_if(_low(3, *_UNCOUNTED, mask=_HUGE | _SHARED_AND_NAMELESS)),
    "clone": _only_if(_low(0, 0, mask=_NAMESPACES)),
    "personality": _only_if(_low(0, 0, 0xFFFF_FFFF)),
    "fcntl": _refuse_if(_low(1, _SETPIPE_SZ)),
    "ioctl": _refuse_if(_low(1, _TIOCSTI, _TIOCLINUX, _TIOCSETD)),
    # One of a pair of datagram sockets could send to others than its peer.
    "socketpair": _only_if(_low(0, _UNIX), _low(1, _STREAM, mask=_SOCKET_TYPE)),
    # With an address, or with the flag to open a connection fast, these would connect past the rules for connect.
    "sendto": _only_if(_low(4, 0), _high(4, 0)),
    "sendmsg": _only_if(_low(2, 0, mask=_FASTOPEN)),
    "sendmmsg": _only_if(_low(3, 0, mask=_FASTOPEN)),
    "setsockopt": _refuse_if(_low(1, *_SOCKET_LEVELS), _low(2, *_SOCKET_PROGRAMS, *_SOCKET_BUFFERS)),
    # The supervisor is of the same user, so the kernel would let this process slow it down or take its descriptors.
    "prlimit64": _only_if(_MYSELF),
    "sched_setaffinity": _only_if(_MYSELF),
    "sched_setattr": _only_if(_MYSELF),
    "sched_setparam": _only_if(_MYSELF),
    "sched_setscheduler": _only_if(_MYSELF),
    "setpriority": _only_if(_low(0, 0), _low(1, 0)),
    "ioprio_set": _only_if(_low(0, 1), _low(1, 0)),
    "chmod": _refuse_if(_low(1, *_SET_IDS, mask=_SET_ID)),
    "fchmod": _refuse_if(_low(1, *_SET_IDS, mask=_SET_ID)),
    "fchmodat": _refuse_if(_low(2, *_SET_IDS, mask=_SET_ID)),
    "fchmodat2": _refuse_if(_low(2, *_SET_IDS, mask=_SET_ID)),
    "creat": _refuse_if(_low(1, *_SET_IDS, mask=_SET_ID)),
    "open": _refuse_if(_low(1, *_NEW_FILES, mask=_NEW_FILE), _low(2, *_SET_IDS, mask=_SET_ID)),
    "openat": _refuse_if(_low(2, *_NEW_FILES, mask=_NEW_FILE), _low(3, *_SET_IDS, mask=_SET_ID)),
    "mknod": _only_if(_low(1, 0, _FIFO, _REGULAR, mask=_KIND | _SET_ID)),
    "mknodat": _only_if(_low(2, 0, _FIFO, _REGULAR, mask=_KIND | _SET_ID)),
}
