"""The filter of system calls that the kernel keeps for a confined process and all its children."""

from __future__ import annotations

import ctypes
import errno
import os

from pegboard.sandbox.inside.bpf import Block, by_range, if_all, if_equal, load, pack, verdict
from pegboard.sandbox.inside.seccomp_rules import ALLOW, KILL, UNKNOWN, Rule, rules
from pegboard.sandbox.inside.syscall_tables import NUMBERS, machine
from pegboard.sandbox.inside.syscalls import libc

_NUMBER, _ARCHITECTURE = 0, 4
_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
# From here on x86_64 has the calls once more, with 32-bit pointers.
_X32 = 0x4000_0000

_SET_MODE_FILTER = 1
# Threads that a library may have started come along.
_ALL_THREADS = 1


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def confine(*, network: bool) -> None:
    """Leave this process and its children the calls that a tool needs, for good; OSError where that fails.

    The process must have no_new_privs set. With `network` it can make TCP sockets and connect them, else no sockets.
    """
    number = NUMBERS[machine()]["seccomp"]
    code = _PROGRAMS[network]
    program = _Program(len(code) // 8, code)
    outcome = libc.syscall(number, _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program))
    if outcome < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"the kernel did not take the filter of system calls: {os.strerror(error)}")
    if outcome > 0:
        raise OSError(errno.EBUSY, f"the filter of system calls could not be put on thread {outcome}")


def filter_program(name: str, *, network: bool) -> Block:
    """The filter for one of the machines that there is a table of calls for."""
    answers = rules(network=network)
    calls = {number: call for call, number in NUMBERS[name].items()}
    ranges: list[tuple[int, int | Rule]] = []
    for number in range(max(calls) + 2):
        # A call that no table has could do anything: a later kernel's, until somebody has judged it.
        answer = answers.get(calls[number], ALLOW) if number in calls else UNKNOWN
        if not ranges or ranges[-1][1] != answer:
            ranges.append((number, answer))
    if name == "x86_64":
        ranges.append((_X32, KILL))
    search = by_range([(first, _block(answer)) for first, answer in ranges])
    # A process can also make the calls of its machine's other architectures, whose numbers mean other things.
    return (load(_ARCHITECTURE), *if_equal(_ARCHITECTURES[name], (load(_NUMBER), *search), verdict(KILL)))


def _block(answer: int | Rule) -> Block:
    if isinstance(answer, int):
        return verdict(answer)
    return if_all(answer.checks, verdict(answer.then), verdict(answer.otherwise))


# Made here, once, so that each process forked from a warm one has them.
_PROGRAMS = {
    network: pack(filter_program(name, network=network))
    for name in NUMBERS.keys() & {os.uname().machine}
    for network in (False, True)
}
