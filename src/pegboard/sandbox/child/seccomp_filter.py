"""Builds and installs the seccomp filter of a confined process: the action for each system call, as BPF.

System calls that are not listed are allowed. A filter cannot read memory: calls with arguments in memory are decided by
their number alone. Not libseccomp, which would have to be installed on the machine.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.sandbox.child.syscall_numbers import SYSCALL_NUMBERS, get_machine
from pegboard.sandbox.child.syscalls import libc

LOAD = 0x20  # load the 32-bit word at an offset of the input into the accumulator
AND = 0x54
JUMP = 0x05
JUMP_EQUAL = 0x15
JUMP_AT_LEAST = 0x35
RETURN = 0x06

WORD = 0xFFFF_FFFF
# A conditional jump stores the number of skipped instructions in one byte.
_MAX_JUMP = 255


class Instruction(NamedTuple):
    """One BPF instruction: opcode, instructions to skip if a comparison holds or fails, and the operand."""

    code: int
    held: int
    failed: int
    operand: int


Block = tuple[Instruction, ...]


class Check(NamedTuple):
    """A condition: the masked word at an offset of the input is one of these values."""

    offset: int
    values: tuple[int, ...]
    mask: int = WORD


def build_return(value: int) -> Block:
    """Return the block that returns this value."""
    return (Instruction(RETURN, 0, 0, value),)


def load_word(offset: int) -> Instruction:
    """Return the instruction that loads the word at this offset of the input."""
    return Instruction(LOAD, 0, 0, offset)


def branch_if_equal(value: int, then: Block, otherwise: Block) -> Block:
    """Return the block that runs `then` if the accumulator equals the value, else `otherwise`."""
    return _branch(JUMP_EQUAL, value, then, otherwise)


def branch_by_range(ranges: Sequence[tuple[int, Block]]) -> Block:
    """Return the block that selects, by binary search, the range that contains the accumulator.

    Ranges are given by their first number. The first must start at 0; each ends where the next starts, and the last at
    the largest word.
    """
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    return _branch(JUMP_AT_LEAST, ranges[middle][0], branch_by_range(ranges[middle:]), branch_by_range(ranges[:middle]))


def branch_if_all(checks: Sequence[Check], then: Block, otherwise: Block) -> Block:
    """Return the block that runs `then` if all checks hold, else `otherwise`."""
    block = then
    for check in reversed(checks):
        steps = [load_word(check.offset)]
        if check.mask != WORD:
            steps.append(Instruction(AND, 0, 0, check.mask))
        left = len(check.values)
        for value in check.values:
            left -= 1
            steps.append(Instruction(JUMP_EQUAL, left + len(otherwise), 0, value))
        block = (*steps, *otherwise, *block)
    return block


def pack_program(block: Block) -> bytes:
    """Return the program in the binary format of the kernel, for little-endian machines."""
    return b"".join(struct.pack("<HBBI", *step) for step in block)


def _branch(code: int, value: int, then: Block, otherwise: Block) -> Block:
    if len(then) <= _MAX_JUMP:
        return (Instruction(code, 0, len(then), value), *then, *otherwise)
    return (Instruction(code, 1, 0, value), Instruction(JUMP, 0, 0, len(then)), *then, *otherwise)


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


_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4
_AUDIT_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
# From this number on, x86_64 has the x32 system calls, with 32-bit pointers.
_X32_BASE = 0x4000_0000

_SET_MODE_FILTER = 1
# Threads that a library started are filtered too.
_FLAG_TSYNC = 1


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def apply_seccomp(*, network: bool) -> None:
    """Restrict this process and its children to the system calls that tools need, permanently.

    Raise OSError on failure.

    The process must have no_new_privs set. With `network` it can create and connect TCP sockets, otherwise no sockets.
    """
    number = SYSCALL_NUMBERS[get_machine()]["seccomp"]
    code = _PACKED_FILTERS[network]
    program = _FilterProgram(len(code) // 8, code)
    outcome = libc.syscall(number, _SET_MODE_FILTER, _FLAG_TSYNC, ctypes.byref(program))
    if outcome < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"the kernel rejected the seccomp filter: {os.strerror(error)}")
    if outcome > 0:
        raise OSError(errno.EBUSY, f"the seccomp filter could not be installed on thread {outcome}")


def build_filter(name: str, *, network: bool) -> Block:
    """Build the filter for a machine in SYSCALL_NUMBERS."""
    answers = build_rules(network=network)
    calls = {number: call for call, number in SYSCALL_NUMBERS[name].items()}
    ranges: list[tuple[int, int | Rule]] = []
    for number in range(max(calls) + 2):
        # A system call that is in no table could do anything: a newer kernel's call is unknown until it was reviewed.
        answer = answers.get(calls[number], ALLOW) if number in calls else UNKNOWN
        if not ranges or ranges[-1][1] != answer:
            ranges.append((number, answer))
    if name == "x86_64":
        ranges.append((_X32_BASE, KILL))
    search = branch_by_range([(first, _build_answer(answer)) for first, answer in ranges])
    # A process can also make system calls of other architectures of the machine, whose numbers differ.
    return (
        load_word(_ARCHITECTURE_OFFSET),
        *branch_if_equal(_AUDIT_ARCHITECTURES[name], (load_word(_NUMBER_OFFSET), *search), build_return(KILL)),
    )


def _build_answer(answer: int | Rule) -> Block:
    if isinstance(answer, int):
        return build_return(answer)
    return branch_if_all(answer.checks, build_return(answer.then), build_return(answer.otherwise))


# Built once at import, so that each process forked from the zygote inherits them.
_PACKED_FILTERS = {
    network: pack_program(build_filter(name, network=network))
    for name in SYSCALL_NUMBERS.keys() & {os.uname().machine}
    for network in (False, True)
}
