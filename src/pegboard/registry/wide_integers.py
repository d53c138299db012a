"""Integers of a schema that do not fit in 64 bits, and so cannot be written as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.registry.values import LARGEST, SMALLEST

Note = Callable[[str], None]

# Lengths and counts: no value is so long, and a validator reads these as 64-bit integers.
_COUNTS = frozenset({
    "maxLength", "minLength", "maxItems", "minItems", "maxContains", "minContains", "maxProperties", "minProperties",
})  # fmt: skip
_LOWER = frozenset({"minimum", "exclusiveMinimum"})
_UPPER = frozenset({"maximum", "exclusiveMaximum"})
# Values rather than bounds. A default would be sent as a number that the source did not write.
_VALUES = frozenset({"enum", "const"})
_DROPPED = frozenset({"default", "examples", "example"})
_DEPTH = 100


def fit_keyword(schema: dict[str, Any], word: str, value: Any, note: Note) -> None:
    """Set the keyword; an integer outside 64 bits becomes the next wider float, or the keyword is dropped."""
    if not _has_wide(value):
        schema[word] = value
        return
    fitted = None
    if word not in _COUNTS and word not in _DROPPED:
        fitted = _as_float(word, value) if isinstance(value, int) else _as_floats(value)
    if fitted is None:
        note(f"{word} {_short(value)} does not fit in 64 bits and is left out")
        return
    schema[word] = fitted
    note(f"{word} {_short(value)} does not fit in 64 bits and is {_short(fitted)} instead")


def fit_schema(schema: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """The schema with every integer in it that is outside 64 bits widened or dropped."""
    found: dict[str, Any] = _fit_below(schema, note, 0)
    return found


def _fit_below(node: Any, note: Note, depth: int) -> Any:
    if depth > _DEPTH:
        return node  # the check of the whole schema refuses it
    if isinstance(node, list):
        return [_fit_below(item, note, depth + 1) for item in node]
    if not isinstance(node, Mapping):
        return node
    fitted: dict[str, Any] = {}
    for word, value in node.items():
        if isinstance(value, Mapping) and word not in _VALUES | _DROPPED:
            fitted[word] = _fit_below(value, note, depth + 1)
        elif isinstance(value, list) and word not in _VALUES | _DROPPED:
            fitted[word] = [_fit_below(item, note, depth + 1) for item in value]
        else:
            fit_keyword(fitted, word, value, note)
    return fitted


def _is_wide(value: Any) -> bool:
    return isinstance(value, int) and not SMALLEST <= value <= LARGEST


def _has_wide(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list) and depth < _DEPTH:
        return any(_has_wide(item, depth + 1) for item in value)
    if isinstance(value, Mapping) and depth < _DEPTH:
        return any(_has_wide(item, depth + 1) for item in value.values())
    return _is_wide(value)


def _as_float(word: str, value: int) -> float | None:
    """The nearest float, on the side on which the bound allows more; None where there is none."""
    try:
        number = float(value)
    except OverflowError:
        return None
    if word in _LOWER and number > value:
        number = math.nextafter(number, -math.inf)
    elif word in _UPPER and number < value:
        number = math.nextafter(number, math.inf)
    return number if math.isfinite(number) else None


def _as_floats(value: Any) -> Any:
    """The value with each wide integer in it as a float; None where one has none."""
    if isinstance(value, list):
        items = [_as_floats(item) if _has_wide(item) else item for item in value]
        return None if any(new is None and old is not None for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, Mapping):
        entries = {name: _as_floats(item) if _has_wide(item) else item for name, item in value.items()}
        return None if any(entries[name] is None and item is not None for name, item in value.items()) else entries
    return _as_float("", value)


def _short(value: Any) -> str:
    # Digits of very long integers take long to write.
    if isinstance(value, int) and value.bit_length() > 400:
        return f"of {value.bit_length():,} bits"
    text = repr(value) if isinstance(value, int | float) else "with an integer"
    return text[:60]
