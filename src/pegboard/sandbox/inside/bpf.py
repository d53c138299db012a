"""Programs for the kernel's packet-filter machine: built of blocks, each of which ends in a verdict on every way."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

LOAD = 0x20  # the accumulator becomes the 32-bit word at an offset of the input
AND = 0x54
JUMP = 0x05
JUMP_EQUAL = 0x15
JUMP_AT_LEAST = 0x35
RETURN = 0x06

WORD = 0xFFFF_FFFF
# A conditional jump counts the instructions that it skips in one byte.
_FARTHEST = 255


class Instruction(NamedTuple):
    """One step: what to do, how many instructions to skip if a comparison holds or not, and the operand."""

    code: int
    held: int
    failed: int
    operand: int


Block = tuple[Instruction, ...]


class Check(NamedTuple):
    """That the word at an offset of the input, masked, is one of some values."""

    offset: int
    values: tuple[int, ...]
    mask: int = WORD


def verdict(value: int) -> Block:
    """The block that answers with one value."""
    return (Instruction(RETURN, 0, 0, value),)


def load(offset: int) -> Instruction:
    """The step that takes the word at an offset of the input."""
    return Instruction(LOAD, 0, 0, offset)


def if_equal(value: int, then: Block, otherwise: Block) -> Block:
    """The block that goes one way if the accumulator is a value, the other way if not."""
    return _branch(JUMP_EQUAL, value, then, otherwise)


def by_range(ranges: Sequence[tuple[int, Block]]) -> Block:
    """The block that finds by halving, among ranges given by their first numbers, the one the accumulator is in.

    The first range must start at 0; each goes up to where the next one starts, the last one to the greatest word.
    """
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    return _branch(JUMP_AT_LEAST, ranges[middle][0], by_range(ranges[middle:]), by_range(ranges[:middle]))


def if_all(checks: Sequence[Check], then: Block, otherwise: Block) -> Block:
    """The block that goes one way if all checks hold, the other way if one does not."""
    block = then
    for check in reversed(checks):
        steps = [load(check.offset)]
        if check.mask != WORD:
            steps.append(Instruction(AND, 0, 0, check.mask))
        left = len(check.values)
        for value in check.values:
            left -= 1
            steps.append(Instruction(JUMP_EQUAL, left + len(otherwise), 0, value))
        block = (*steps, *otherwise, *block)
    return block


def pack(block: Block) -> bytes:
    """The program as the kernel reads it, on a machine whose low bytes come first."""
    return b"".join(struct.pack("<HBBI", *step) for step in block)


def _branch(code: int, value: int, then: Block, otherwise: Block) -> Block:
    if len(then) <= _FARTHEST:
        return (Instruction(code, 0, len(then), value), *then, *otherwise)
    return (Instruction(code, 1, 0, value), Instruction(JUMP, 0, 0, len(then)), *then, *otherwise)
