"""Which dialects there are."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points

from pegboard.core.refusals import Fault, Invalid
from pegboard.dialects.base import Dialect
from pegboard.dialects.detailed import Detailed
from pegboard.dialects.plain import Plain


def dialects() -> Mapping[str, Dialect]:
    """Every dialect by name, those of installed packages included."""
    ours: list[Dialect] = [Plain(), Detailed()]
    installed: list[Dialect] = [point.load()() for point in entry_points(group="pegboard.dialects")]
    return {dialect.name: dialect for dialect in [*ours, *installed]}


def dialect_named(known: Mapping[str, Dialect], name: str, parameter: str) -> Dialect:
    """The dialect of that name; Invalid lists the ones there are."""
    found = known.get(name)
    if found is None:
        accepted = ", ".join(sorted(known))
        raise Invalid.of("There is no such dialect", [Fault(parameter, f"'{name}' is not one of: {accepted}")])
    return found
