"""Which dialects there are."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.core.refusals import Fault, Invalid
from pegboard.dialects.base import Dialect
from pegboard.dialects.detailed import Detailed
from pegboard.dialects.plain import Plain
from pegboard.plugins import installed


def dialects() -> Mapping[str, Dialect]:
    """Every dialect by name, those of installed packages included."""
    ours: list[Dialect] = [Plain(), Detailed()]
    theirs: dict[str, Dialect] = installed("pegboard.dialects", lambda make: make())
    return {dialect.name: dialect for dialect in [*ours, *theirs.values()]}


def dialect_named(known: Mapping[str, Dialect], name: str, parameter: str) -> Dialect:
    """The dialect of that name; Invalid lists the ones there are."""
    found = known.get(name)
    if found is None:
        accepted = ", ".join(sorted(known))
        raise Invalid.of("There is no such dialect", [Fault(parameter, f"'{name}' is not one of: {accepted}")])
    return found
