"""Check that a definition can be stored and read back: valid JSON of limited depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pegboard.json_schema.read_arguments import MAX_INTEGER, MIN_INTEGER
from pegboard.json_schema.schema_document import Path
from pegboard.json_schema.value_text import format_field_path
from pegboard.model.api_errors import Fault
from pegboard.model.json_text import is_unicode

MAX_DEPTH = 64

_MAX_LISTED = 5


def find_unstorable(fields: Mapping[str, Any]) -> list[Fault]:
    """Return the faults of values that cannot be stored, at most _MAX_LISTED."""
    found = islice(_iterate_unstorable(fields), _MAX_LISTED)
    return [Fault(format_field_path(path) or "", why) for path, why in found]


def _iterate_unstorable(fields: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    todo: list[tuple[Path, Any]] = [((name,), value) for name, value in fields.items()]
    while todo:
        path, value = todo.pop()
        why = None
        if isinstance(value, Mapping | list | tuple):
            if len(path) > MAX_DEPTH:
                yield path[:4], f"nested more than {MAX_DEPTH} levels deep"
                return
            if isinstance(value, Mapping):
                faults = (
                    _explain_value(key) if isinstance(key, str) else "has a key that is not a string" for key in value
                )
                why = next(filter(None, faults), None)
                todo += [((*path, str(key)), item) for key, item in value.items()]
            else:
                todo += [((*path, place), item) for place, item in enumerate(value)]
        else:
            why = _explain_value(value)
        if why is not None:
            yield path, why


def _explain_value(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        if "\0" in value:
            return "holds the character NUL (U+0000), which cannot be stored"
        return None if is_unicode(value) else "holds half of a surrogate pair, which is not valid Unicode"
    if isinstance(value, int):
        return None if MIN_INTEGER <= value <= MAX_INTEGER else "an integer beyond 64 bits; write it as a string"
    if isinstance(value, float):
        return None if math.isfinite(value) else "NaN and infinities are not JSON"
    return f"a value of type {type(value).__name__} is not JSON"
