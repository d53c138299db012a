"""Which dialects there are, in the order in which a payload is tried on them."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.dialects.base import Dialect
from pegboard.dialects.detailed import Detailed
from pegboard.dialects.dialects import Dialects
from pegboard.dialects.plain import Plain
from pegboard.plugins import installed

# One line a dialect. Where two would take the same payload, the first one gets it.
OURS: Sequence[type[Dialect]] = (
    Plain,
    Detailed,
)


def dialects() -> Dialects:
    """Every dialect, those of installed packages included; one of theirs takes the place of ours of the same name."""
    theirs: dict[str, Dialect] = installed("pegboard.dialects", lambda make: make())
    return Dialects([*(make() for make in OURS), *theirs.values()])
