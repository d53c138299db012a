"""What of a definition a database can keep and a client can read back: JSON, not too deep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.core.refusals import Fault
from pegboard.registry.shown import field_of
from pegboard.registry.subschemas import Path
from pegboard.registry.values import LARGEST, SMALLEST

MAX_DEPTH = 64

_LISTED = 5


def unstorable(fields: Mapping[str, Any]) -> list[Fault]:
    """What in these fields of a definition cannot be kept, the first few of it."""
    faults = []
    for path, why in _found(fields):
        faults.append(Fault(field_of(path) or "", why))
        if len(faults) == _LISTED:
            break
    return faults


def _found(fields: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    todo: list[tuple[Path, Any]] = [((name,), value) for name, value in fields.items()]
    while todo:
        path, value = todo.pop()
        why = None
        if isinstance(value, Mapping | list | tuple):
            if len(path) > MAX_DEPTH:
                yield path[:4], f"nested more than {MAX_DEPTH} levels deep"
                return
            if isinstance(value, Mapping):
                why = next(filter(None, map(_wrong_key, value)), None)
                todo += [((*path, str(key)), item) for key, item in value.items()]
            else:
                todo += [((*path, place), item) for place, item in enumerate(value)]
        else:
            why = _wrong(value)
        if why is not None:
            yield path, why


def _wrong_key(key: Any) -> str | None:
    return _wrong(key) if isinstance(key, str) else "has a key that is not a string"


def _wrong(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        if "\0" in value:
            return "holds the character NUL (U+0000), which cannot be stored"
        return None if _encodes(value) else "holds half of a surrogate pair, which is not valid Unicode"
    if isinstance(value, int):
        return None if SMALLEST <= value <= LARGEST else "an integer beyond 64 bits; write it as a string"
    if isinstance(value, float):
        return None if math.isfinite(value) else "NaN and infinities are not JSON"
    return f"a value of type {type(value).__name__} is not JSON"


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
