"""How much work a schema makes of a value, known before the validator begins.

The validator cannot be interrupted and holds the interpreter's lock, so its work is bounded beforehand. The unit is a
check: one schema applied to one value, about 0.1 µs at worst. A schema's cost is computed once, as what it makes of
one value and of one character at each depth; the cost of a call is then a multiplication, and for large arguments a
count of their values by depth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.registry.expansion import Expansion, TooManySchemas
from pegboard.registry.subschemas import Document

# As many checks as one value may take. The slowest schemas and values take 0.25 s for them.
MAX_CHECKS = 2_000_000


class TooCostly(ValueError):
    """A value that would take more checks than MAX_CHECKS."""

    def __init__(self) -> None:
        super().__init__(
            f"validation would take more than {MAX_CHECKS:,} checks, which is values times the schemas that apply to "
            "each; send fewer or shorter values, or make the unions and patterns of the schema smaller"
        )


class Cost(NamedTuple):
    """What a schema costs: checks per value and per character at each depth, and per byte of JSON at most."""

    by_depth: tuple[tuple[float, float], ...]
    # At every depth that is not listed.
    deeper: tuple[float, float]
    per_byte: float

    def check(self, value: Any) -> None:
        """Raise TooCostly where the value would take too many checks."""
        total = 0.0
        level: list[Any] = [value]
        depth = 0
        while level:
            values, characters, below = _measured(level)
            per_value, per_character = self.by_depth[depth] if depth < len(self.by_depth) else self.deeper
            total += values * per_value + (characters * per_character if characters else 0.0)
            if total > MAX_CHECKS:
                raise TooCostly
            level, depth = below, depth + 1


def cost_of(document: Document, node: Any) -> Cost:
    """The cost of a schema of the document."""
    expansion = Expansion(document)
    expanded = _expanded(expansion, node)
    if expanded is None:
        rates = expansion.rates(node)
        ends = bool(rates) and rates[-1] == (0.0, 0.0)
        deeper = (0.0, 0.0) if ends else (math.inf, math.inf)
    else:
        rates, deeper = expanded
        if deeper != (0.0, 0.0):
            # Two bounds of the same thing: the smaller one holds.
            least = expansion.rates(node)
            rates += [deeper] * (len(least) - len(rates))
            rates[: len(least)] = [(min(a, c), min(b, d)) for (a, b), (c, d) in zip(rates, least, strict=False)]
    return Cost(tuple(rates), deeper, max(map(sum, (*rates, deeper))))


def _expanded(expansion: Expansion, node: Any) -> tuple[list[tuple[float, float]], tuple[float, float]] | None:
    """The rates by depth and what recursion adds at every depth; None where there is too much to expand."""
    try:
        root = expansion.profile(node)
        recursive = list(expansion.recursive_targets())
    except TooManySchemas:
        return None
    value = sum(sum(target.per_value) for target in recursive)
    character = sum(sum(target.per_character) for target in recursive)
    # Profiles are kept deepest first.
    pairs = zip(reversed(root.per_value), reversed(root.per_character), strict=True)
    return [(own + value, text + character) for own, text in pairs], (value, character)


def _measured(level: list[Any]) -> tuple[int, int, list[Any]]:
    """How many values and characters are on this level, keys included, and the values on the next one."""
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
