"""The seccomp action for each system call; calls that are not listed are allowed.

A filter cannot read memory: system calls with arguments in memory are decided by their number alone.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.sandbox.child.bpf_program import Check

ALLOW = 0x7FFF_0000
KILL = 0x8000_0000
REFUSE = 0x0005_0000 | errno.EPERM
# As if the kernel did not have the call, so that libraries fall back to an older one.
UNKNOWN = 0x0005_0000 | errno.ENOSYS


class Rule(NamedTuple):
    """The action if all checks of the arguments hold, and the action otherwise."""

    checks: tuple[Check, ...]
    then: int
    otherwise: int


def build_rules(*, network: bool) -> Mapping[str, int | Rule]:
    """Return the actions by name of the call; `network` permits TCP sockets and connections, otherwise no sockets."""
    answers: dict[str, int | Rule] = {}
    for names in _REFUSED_CALLS.values():
        answers |= dict.fromkeys(names.split(), REFUSE)
    for names in _UNKNOWN_CALLS.values():
        answers |= dict.fromkeys(names.split(), UNKNOWN)
    answers |= _CONDITIONAL_CALLS
    if network:
        # Other protocols on such sockets (SCTP, MPTCP, SMC) would only add attack surface.
        answers["socket"] = _allow_if(
            _check_low(0, _INET, _INET6), _check_low(1, _STREAM, mask=_SOCKET_TYPE), _check_low(2, 0, _TCP)
        )
    else:
        answers |= {"socket": REFUSE, "connect": REFUSE}
    return answers


def _check_low(argument: int, *values: int, mask: int = 0xFFFF_FFFF) -> Check:
    """Return a check on the low 32 bits of an argument, which is all that the kernel reads of a C int."""
    return Check(16 + 8 * argument, values, mask)


def _check_high(argument: int, *values: int) -> Check:
    return Check(20 + 8 * argument, values)


def _allow_if(*checks: Check) -> Rule:
    return Rule(checks, ALLOW, REFUSE)


def _refuse_if(*checks: Check) -> Rule:
    return Rule(checks, REFUSE, ALLOW)


_REFUSED_CALLS = {
    "other processes' memory and files": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease "
    "kcmp pidfd_getfd",
    "requests in shared memory, which a filter cannot see": "io_uring_setup io_uring_enter io_uring_register "
    "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents",
    "another view of the files": "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig "
    "fsmount fspick mount_setattr name_to_handle_at open_by_handle_at fanotify_init fanotify_mark unshare setns",
    "memory that no limit of ours counts": "memfd_create memfd_secret shmget shmat shmctl shmdt msgget msgsnd msgrcv "
    "msgctl semget semop semctl semtimedop mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr "
    "add_key request_key keyctl vmsplice",
    "the placement of memory": "mbind set_mempolicy set_mempolicy_home_node migrate_pages move_pages",
    "the whole machine": "bpf perf_event_open userfaultfd kexec_load kexec_file_load init_module finit_module "
    "delete_module reboot swapon swapoff clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname "
    "quotactl quotactl_fd acct syslog iopl ioperm modify_ldt vhangup lsm_set_self_attr sync",
    # With autogroup scheduling, CPU time is shared between sessions, regardless of the priority of their processes.
    "a new session": "setsid",
    "accepting connections": "bind listen accept accept4",
}

_UNKNOWN_CALLS = {
    "arguments in memory; libraries then use clone and openat": "clone3 openat2",
    "lists of mounts and namespaces": "statmount listmount listns",
    "rules of its own, whose memory is not counted": "landlock_create_ruleset landlock_add_rule landlock_restrict_self",
    "a limited number for each user, and all calls share one user; programs then poll": "inotify_init inotify_init1",
    "gone from the kernel or from use": "_sysctl create_module get_kernel_syms query_module nfsservctl getpmsg putpmsg "
    "afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old uselib ustat sysfs lookup_dcookie",
}

_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _TCP = 1, 6
_FASTOPEN = 0x2000_0000
# Mask for the type of a socket, without SOCK_NONBLOCK and SOCK_CLOEXEC.
_SOCKET_TYPE = 0xFFFF_FFFF ^ (0o4000 | 0o2000000)

# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; clone cannot create a time namespace.
_NAMESPACES = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000

# Inserting input into a terminal, the functions of its console, and its line discipline.
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423

# Programs and protocols on a socket: SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF, TCP_ULP.
_SOCKET_LEVELS = (1, _TCP)
_SOCKET_PROGRAMS = (26, 50, 51, 52, 31)
# Kernel memory that is not counted: SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE. The TCP options with the same
# numbers are not needed.
_SOCKET_BUFFERS = (7, 8, 32, 33)
# The size of a pipe: the total is limited for each user, and all calls share one user.
_SETPIPE_SZ = 1031

# A set-user-id file in a folder of the host would let any user there run it as the board's user.
_SET_ID_MASK, _SET_ID_VALUES = 0o6000, (0o2000, 0o4000, 0o6000)
_CREAT, _TMPFILE = 0o100, 0o20000000
_NEW_FILE_MASK, _NEW_FILE_VALUES = _CREAT | _TMPFILE, (_CREAT, _TMPFILE, _CREAT | _TMPFILE)
_FILE_TYPE_MASK, _FIFO, _REGULAR = 0o170000, 0o10000, 0o100000

# MAP_SHARED and MAP_ANONYMOUS: the whole mapping stays allocated while one page is mapped, and only that page would be
# counted.
_SHARED_ANONYMOUS = 0x01 | 0x20
# MAP_HUGETLB: pages from a pool of the host, which are not counted for any process.
_MAP_HUGETLB = 0x40000
_UNCOUNTED_MAPPINGS = (_SHARED_ANONYMOUS, *(_MAP_HUGETLB | flags for flags in (0, 0x01, 0x20, _SHARED_ANONYMOUS)))

_CHECK_SELF = _check_low(0, 0)

_CONDITIONAL_CALLS: Mapping[str, Rule] = {
    "mmap": _refuse_if(_check_low(3, *_UNCOUNTED_MAPPINGS, mask=_MAP_HUGETLB | _SHARED_ANONYMOUS)),
    "clone": _allow_if(_check_low(0, 0, mask=_NAMESPACES)),
    "personality": _allow_if(_check_low(0, 0, 0xFFFF_FFFF)),
    "fcntl": _refuse_if(_check_low(1, _SETPIPE_SZ)),
    "ioctl": _refuse_if(_check_low(1, _TIOCSTI, _TIOCLINUX, _TIOCSETD)),
    # A socket of a datagram pair could send to other sockets than its peer.
    "socketpair": _allow_if(_check_low(0, _UNIX), _check_low(1, _STREAM, mask=_SOCKET_TYPE)),
    # With an address, or with MSG_FASTOPEN, these would connect without the rules for connect.
    "sendto": _allow_if(_check_low(4, 0), _check_high(4, 0)),
    "sendmsg": _allow_if(_check_low(2, 0, mask=_FASTOPEN)),
    "sendmmsg": _allow_if(_check_low(3, 0, mask=_FASTOPEN)),
    "setsockopt": _refuse_if(_check_low(1, *_SOCKET_LEVELS), _check_low(2, *_SOCKET_PROGRAMS, *_SOCKET_BUFFERS)),
    # The supervisor has the same user, so the kernel would let this process change its priority or limits.
    "prlimit64": _allow_if(_CHECK_SELF),
    "sched_setaffinity": _allow_if(_CHECK_SELF),
    "sched_setattr": _allow_if(_CHECK_SELF),
    "sched_setparam": _allow_if(_CHECK_SELF),
    "sched_setscheduler": _allow_if(_CHECK_SELF),
    "setpriority": _allow_if(_check_low(0, 0), _check_low(1, 0)),
    "ioprio_set": _allow_if(_check_low(0, 1), _check_low(1, 0)),
    "chmod": _refuse_if(_check_low(1, *_SET_ID_VALUES, mask=_SET_ID_MASK)),
    "fchmod": _refuse_if(_check_low(1, *_SET_ID_VALUES, mask=_SET_ID_MASK)),
    "fchmodat": _refuse_if(_check_low(2, *_SET_ID_VALUES, mask=_SET_ID_MASK)),
    "fchmodat2": _refuse_if(_check_low(2, *_SET_ID_VALUES, mask=_SET_ID_MASK)),
    "creat": _refuse_if(_check_low(1, *_SET_ID_VALUES, mask=_SET_ID_MASK)),
    "open": _refuse_if(
        _check_low(1, *_NEW_FILE_VALUES, mask=_NEW_FILE_MASK), _check_low(2, *_SET_ID_VALUES, mask=_SET_ID_MASK)
    ),
    "openat": _refuse_if(
        _check_low(2, *_NEW_FILE_VALUES, mask=_NEW_FILE_MASK), _check_low(3, *_SET_ID_VALUES, mask=_SET_ID_MASK)
    ),
    "mknod": _allow_if(_check_low(1, 0, _FIFO, _REGULAR, mask=_FILE_TYPE_MASK | _SET_ID_MASK)),
    "mknodat": _allow_if(_check_low(2, 0, _FIFO, _REGULAR, mask=_FILE_TYPE_MASK | _SET_ID_MASK)),
}
