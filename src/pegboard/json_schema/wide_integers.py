"""Handle integers in a schema that do not fit in 64 bits and so cannot be written as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.json_schema.read_arguments import MAX_INTEGER, MIN_INTEGER

AddNote = Callable[[str], None]

# Lengths and counts: the validator reads these as 64-bit integers, and no value reaches such a size.
_COUNT_KEYWORDS = frozenset({
    "maxLength", "minLength", "maxItems", "minItems", "maxContains", "minContains", "maxProperties", "minProperties",
})  # fmt: skip
_LOWER_BOUNDS = frozenset({"minimum", "exclusiveMinimum"})
_UPPER_BOUNDS = frozenset({"maximum", "exclusiveMaximum"})
# Values rather than bounds. A default is dropped: it would be sent as a number that the source did not contain.
_VALUE_KEYWORDS = frozenset({"enum", "const"})
_DROPPED_KEYWORDS = frozenset({"default", "examples", "example"})
_MAX_DEPTH = 100


def fit_keyword(schema: dict[str, Any], word: str, value: Any, note: AddNote) -> None:
    """Set the keyword; an integer beyond 64 bits becomes a float that allows no less, or the keyword is dropped."""
    if not _has_wide(value):
        schema[word] = value
        return
    fitted = None
    if word not in _COUNT_KEYWORDS and word not in _DROPPED_KEYWORDS:
        fitted = _widen_to_float(word, value) if isinstance(value, int) else _widen_all(value)
    if fitted is None:
        note(f"{word} {_shorten_value(value)} does not fit in 64 bits and is left out")
        return
    schema[word] = fitted
    note(f"{word} {_shorten_value(value)} does not fit in 64 bits and is {_shorten_value(fitted)} instead")


def fit_schema(schema: Mapping[str, Any], note: AddNote) -> dict[str, Any]:
    """Return the schema with every integer beyond 64 bits converted to a float or dropped."""
    found: dict[str, Any] = _fit_children(schema, note, 0)
    return found


def _fit_children(node: Any, note: AddNote, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return node  # the check of the whole schema rejects it
    if isinstance(node, list):
        return [_fit_children(item, note, depth + 1) for item in node]
    if not isinstance(node, Mapping):
        return node
    fitted: dict[str, Any] = {}
    for word, value in node.items():
        if isinstance(value, Mapping) and word not in _VALUE_KEYWORDS | _DROPPED_KEYWORDS:
            fitted[word] = _fit_children(value, note, depth + 1)
        elif isinstance(value, list) and word not in _VALUE_KEYWORDS | _DROPPED_KEYWORDS:
            fitted[word] = [_fit_children(item, note, depth + 1) for item in value]
        else:
            fit_keyword(fitted, word, value, note)
    return fitted


def _is_wide(value: Any) -> bool:
    return isinstance(value, int) and not MIN_INTEGER <= value <= MAX_INTEGER


def _has_wide(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list) and depth < _MAX_DEPTH:
        return any(_has_wide(item, depth + 1) for item in value)
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        return any(_has_wide(item, depth + 1) for item in value.values())
    return _is_wide(value)


def _widen_to_float(word: str, value: int) -> float | None:
    """Return the nearest float on the more permissive side of the bound, or None if it is not finite."""
    try:
        number = float(value)
    except OverflowError:
        return None
    if word in _LOWER_BOUNDS and number > value:
        number = math.nextafter(number, -math.inf)
    elif word in _UPPER_BOUNDS and number < value:
        number = math.nextafter(number, math.inf)
    return number if math.isfinite(number) else None


def _widen_all(value: Any) -> Any:
    """Return the value with each integer beyond 64 bits as a float, or None if one cannot be converted."""
    if isinstance(value, list):
        items = [_widen_all(item) if _has_wide(item) else item for item in value]
        return None if any(new is None and old is not None for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, Mapping):
        entries = {name: _widen_all(item) if _has_wide(item) else item for name, item in value.items()}
        return None if any(entries[name] is None and item is not None for name, item in value.items()) else entries
    return _widen_to_float("", value)


def _shorten_value(value: Any) -> str:
    # Converting very long integers to decimal is slow.
    if isinstance(value, int) and value.bit_length() > 400:
        return f"of {value.bit_length():,} bits"
    text = repr(value) if isinstance(value, int | float) else "with an integer"
    return text[:60]
