"""Builds classic BPF programs from blocks; every path through a block ends in a return."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

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
