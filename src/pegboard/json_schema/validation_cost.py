"""Estimate the cost of validating a value before the validator runs.

The validator cannot be interrupted and holds the GIL, so its work is limited in advance. The unit is a check: one
schema applied to one value, about 0.1 µs at worst. The cost of a schema is computed once, as checks per value and per
character at each depth; the cost of a call is then a multiplication, and for large arguments a count of their values by
depth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.json_schema.schema_expansion import SchemaExpansion, TooManySchemas

# The limit for one value. With the slowest schemas and values it takes 0.25 s.
MAX_CHECKS = 2_000_000


class TooCostly(ValueError):
    """Validating the value would take more than MAX_CHECKS checks."""

    def __init__(self) -> None:
        super().__init__(
            f"validation would take more than {MAX_CHECKS:,} checks, which is values times the schemas that apply to "
            "each; send fewer or shorter values, or make the unions and patterns of the schema smaller"
        )


class SchemaCost(NamedTuple):
    """The cost of a schema: checks per value and per character at each depth, and at most per byte of JSON."""

    by_depth: tuple[tuple[float, float], ...]
    # The rate at every depth beyond `by_depth`.
    deeper: tuple[float, float]
    per_byte: float

    def check(self, value: Any) -> None:
        """Raise TooCostly if validating the value takes too many checks."""
        total = 0.0
        level: list[Any] = [value]
        depth = 0
        while level:
            values, characters, below = _measure_level(level)
            per_value, per_character = self.by_depth[depth] if depth < len(self.by_depth) else self.deeper
            total += values * per_value + (characters * per_character if characters else 0.0)
            if total > MAX_CHECKS:
                raise TooCostly
            level, depth = below, depth + 1


def compute_cost(document: SchemaDocument, node: Any) -> SchemaCost:
    """Return the cost of a schema of the document."""
    expansion = SchemaExpansion(document)
    expanded = _expand_rates(expansion, node)
    if expanded is None:
        rates = expansion.rates(node)
        ends = bool(rates) and rates[-1] == (0.0, 0.0)
        deeper = (0.0, 0.0) if ends else (math.inf, math.inf)
    else:
        rates, deeper = expanded
        if deeper != (0.0, 0.0):
            # Both are upper bounds, so the smaller one is used.
            least = expansion.rates(node)
            rates += [deeper] * (len(least) - len(rates))
            rates[: len(least)] = [(min(a, c), min(b, d)) for (a, b), (c, d) in zip(rates, least, strict=False)]
    return SchemaCost(tuple(rates), deeper, max(map(sum, (*rates, deeper))))


def _expand_rates(
    expansion: SchemaExpansion, node: Any
) -> tuple[list[tuple[float, float]], tuple[float, float]] | None:
    """Return the rates by depth and what recursion adds at every depth; None if there are too many schemas."""
    try:
        root = expansion.profile(node)
        recursive = list(expansion.recursive_targets())
    except TooManySchemas:
        return None
    value = sum(sum(target.per_value) for target in recursive)
    character = sum(sum(target.per_character) for target in recursive)
    # Profiles are stored deepest first.
    pairs = zip(reversed(root.per_value), reversed(root.per_character), strict=True)
    return [(own + value, text + character) for own, text in pairs], (value, character)


def _measure_level(level: list[Any]) -> tuple[int, int, list[Any]]:
    """Return how many values and characters are on this level, keys included, and the values on the next level."""
    characters = 0
    below: list[Any] = []
    for value in level:
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, Mapping):
            characters += sum(map(len, value))
            below += value.values()
        elif isinstance(value, list | tuple):
            below += value
    return len(level), characters, below
