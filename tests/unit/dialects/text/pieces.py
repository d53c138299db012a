"""Parse texts at once, in chunks and as streams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pegboard.dialects.base import Dialect
from pegboard.dialects.call_assembler import Assembly, SchemaLookup
from pegboard.dialects.parsed_calls import AskedCall
from tests.formats import TOOLS

SIZES = st.integers(1, 7)
# The tests must also pass on a slow machine.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def schema_of(name: str) -> Mapping[str, Any] | None:
    """Return the input schema of one of the tools in the examples."""
    return TOOLS.get(name)


def pieces_of(text: str, size: int) -> list[str]:
    """Return the text in chunks of this many characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def read(dialect: Dialect, *pieces: str, schema_of: SchemaLookup = schema_of) -> list[AskedCall]:
    """Return the calls in a text that arrives in these chunks."""
    into = Assembly(schema_of)
    for piece in pieces:
        dialect.read(piece, into)
    dialect.finish(into)
    return into.calls()


def streamed(dialect: Dialect, *pieces: str) -> list[list[AskedCall]]:
    """The calls that are whole after each piece, and after the end."""
    into = Assembly(schema_of)
    given_out = []
    for piece in pieces:
        dialect.read(piece, into)
        given_out.append(into.ready())
    dialect.finish(into)
    return [*given_out, into.ready()]


def steps(work: Callable[[], object]) -> int:
    """Return the number of function calls."""
    count = 0

    def one_more(_frame: FrameType, _event: str, _of: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(one_more)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
