"""The kernel's packet-filter machine, as far as a filter of system calls uses it."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pegboard.sandbox.child.seccomp_filter import AND, JUMP, JUMP_AT_LEAST, JUMP_EQUAL, LOAD, RETURN, Block


def run_filter(program: Block, architecture: int, number: int, arguments: Sequence[int] = ()) -> int:
    """Return the filter's verdict on a system call; it must return before its end."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(argument % 2**64 for argument in padded))
    accumulator = at = 0
    while True:
        code, held, failed, operand = program[at]
        at += 1
        if code == RETURN:
            return operand
        if code == LOAD:
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif code == AND:
            accumulator &= operand
        elif code == JUMP:
            at += operand
        elif code == JUMP_EQUAL:
            at += held if accumulator == operand else failed
        elif code == JUMP_AT_LEAST:
            at += held if accumulator >= operand else failed
        else:
            raise AssertionError(f"instruction {at - 1} is none of those that a filter uses")
