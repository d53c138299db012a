"""Builds and installs the seccomp filter of a confined process and its children."""

from __future__ import annotations

import ctypes
import errno
import os

from pegboard.sandbox.child.bpf_program import (
    Block,
    branch_by_range,
    branch_if_all,
    branch_if_equal,
    build_return,
    load_word,
    pack_program,
)
from pegboard.sandbox.child.seccomp_rules import ALLOW, KILL, UNKNOWN, Rule, build_rules
from pegboard.sandbox.child.syscall_numbers import SYSCALL_NUMBERS, get_machine
from pegboard.sandbox.child.syscalls import libc

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
