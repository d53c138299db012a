"""Whether a step is wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.core.chains import Condition
from pegboard.registry.chaining.references import Misreferred, filled


def is_wanted(when: str | Condition | None, known: Mapping[str, Any]) -> bool:
    """Whether a step runs for which this is said; raises Misreferred where that leads nowhere."""
    if when is None:
        return True
    return _holds(when, known) if isinstance(when, Condition) else bool(filled(when, known))


def _holds(condition: Condition, known: Mapping[str, Any]) -> bool:
    """Whether all comparisons that are given hold; a value that leads nowhere is one that does not exist."""
    given = condition.model_fields_set
    try:
        value = filled(condition.value, known)
    except Misreferred:
        if "exists" not in given:
            raise
        value = None
    checks: dict[str, Callable[[], bool]] = {
        "equals": lambda: _same(value, filled(condition.equals, known)),
        "not_equals": lambda: not _same(value, filled(condition.not_equals, known)),
        "among": lambda: any(_same(value, each) for each in filled(condition.among, known)),
        "at_least": lambda: _number(value) >= (condition.at_least or 0.0),
        "at_most": lambda: _number(value) <= (condition.at_most or 0.0),
        "exists": lambda: (value is not None) == condition.exists,
    }
    return all(check() for name, check in checks.items() if name in given)


def _number(value: Any) -> float:
    """The value, if it is a number; what is none is neither above nor below anything."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
