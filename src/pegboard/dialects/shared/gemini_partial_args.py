"""Assemble calls whose arguments Gemini streams value by value, each with its JSON path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import orjson

from pegboard.dialects.call_assembler import Assembly, read_id, read_name
from pegboard.dialects.parsed_calls import ABSENT
from pegboard.dialects.shared.content_blocks import to_text, truncate_arguments
from pegboard.dialects.shared.gemini_fields import get_field, get_field_names

_PATH_STEP = re.compile(
    r"""\.([^.\[\]'"\s]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.ASCII | re.DOTALL
)
# Keys that only pieces of a call have.
_PARTIAL_KEYS = frozenset({*get_field_names("partialArgs"), *get_field_names("willContinue")})
_MAX_PATH_STEPS = 64
_MAX_PATH_CHARS = 4_000
# Numbers in protobuf are doubles; below this limit every integer is exact.
_MAX_EXACT_INTEGER = 2**53


def parse_json_path(path: Any) -> tuple[str | int, ...] | None:
    """Return the keys and indexes of a path such as `$.a.b[0]['c d']`, or None if it is not a single position."""
    if not isinstance(path, str) or not path.startswith("$") or not 1 < len(path) <= _MAX_PATH_CHARS:
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _PATH_STEP.match(path, at)
        if match is None or len(steps) == _MAX_PATH_STEPS:
            return None
        step = _parse_path_step(match)
        if step is None:
            return None
        steps.append(step)
        at = match.end()
    return tuple(steps)


def _parse_path_step(match: re.Match[str]) -> str | int | None:
    name, index, single, double = match.groups()
    if name is not None:
        return name
    if index is not None:
        return int(index)
    text = double if double is not None else single.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(orjson.loads(f'"{text}"'))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


class _PartialCall:
    """One call that is not complete yet."""

    def __init__(self, key: tuple[str, int], name: str) -> None:
        self.key = key
        self.name = name
        self._values: dict[tuple[str | int, ...], Any] = {}
        self._given: list[Any] = []
        self._is_invalid = False

    def take(self, given: Any) -> None:
        """Add one value; pieces of a string are joined."""
        self._given.append(given)
        steps = parse_json_path(get_field(given, "jsonPath")) if isinstance(given, dict) else None
        if steps is None or isinstance(steps[0], int):
            self._is_invalid = True
            return
        value = _read_value(given)
        if value is ABSENT:
            return
        known = self._values.setdefault(steps, [] if isinstance(value, str) else value)
        if isinstance(known, list) != isinstance(value, str):
            self._is_invalid = True
        elif isinstance(value, str):
            known.append(value)
        else:
            self._values[steps] = value

    def replace_arguments(self, arguments: dict[str, Any]) -> None:
        """Replace all values by these arguments."""
        # Wrapped, because a plain list holds the pieces of a string.
        self._values = {(key,): _WholeValue(value) for key, value in arguments.items()}

    def arguments(self) -> Any:
        """Return the object of all values, or the text of the pieces if they are inconsistent."""
        whole = None if self._is_invalid else _build_object(self._values)
        return to_text(self._given) if whole is None else whole


class _WholeValue:
    """A value that arrived in one piece, and may be an object or a list."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class PartialCalls:
    """The calls that are not complete; most streams send one after another, but calls with ids may be interleaved."""

    def __init__(self) -> None:
        self._calls: dict[str | int, _PartialCall] = {}
        self._current: str | int | None = None
        self._count = 0

    def take(self, call: Mapping[str, Any], into: Assembly, extra: Mapping[str, Any]) -> bool:
        """Read a piece of a call and return True, or return False if it is not one."""
        if not self._calls and call.keys().isdisjoint(_PARTIAL_KEYS):
            return False
        identity, name = read_id(call.get("id")), read_name(call.get("name"))
        goes_on = get_field(call, "willContinue") is True
        pieces = get_field(call, "partialArgs")
        mark = self._find_key(identity, name)
        if mark is None:
            if not goes_on and not isinstance(pieces, list):
                return False
            self._count += 1
            mark = identity or self._count
            self._calls[mark] = _PartialCall(("partial", self._count), name)
        self._current = mark
        making = self._calls[mark]
        into.piece(making.key, name=name, id=identity, extra=extra)
        if isinstance(call.get("args"), dict) and call["args"]:
            making.replace_arguments(call["args"])
        for piece in pieces if isinstance(pieces, list) else ():
            making.take(piece)
        if not goes_on:
            self._close(mark, into)
        return True

    def close(self, into: Assembly) -> None:
        """Mark all calls as complete."""
        for mark in list(self._calls):
            self._close(mark, into)

    def end_incomplete(self, into: Assembly) -> None:
        """End the incomplete calls, with arguments that cannot be parsed."""
        for making in self._calls.values():
            into.piece(making.key, truncate_arguments(making.arguments()))
        self._calls.clear()

    def _find_key(self, identity: str, name: str) -> str | int | None:
        if identity in self._calls:
            return identity
        current = self._calls.get(self._current) if self._current is not None else None
        if current is None or (identity and isinstance(self._current, str)) or (name and name != current.name):
            return None
        return self._current

    def _close(self, mark: str | int, into: Assembly) -> None:
        making = self._calls.pop(mark)
        into.snapshot(making.key, making.arguments())
        into.over(making.key)


def _read_value(given: Mapping[str, Any]) -> Any:
    """Return the value of a piece, or ABSENT if it has none."""
    text, number, truth = (get_field(given, name) for name in ("stringValue", "numberValue", "boolValue"))
    if isinstance(text, str):
        return text
    if isinstance(truth, bool):
        return truth
    if isinstance(number, int | float):
        is_whole = isinstance(number, float) and number.is_integer() and abs(number) < _MAX_EXACT_INTEGER
        return int(number) if is_whole else number
    return None if "nullValue" in given or given.get("null_value") is not None else ABSENT


def _build_object(values: Mapping[tuple[str | int, ...], Any]) -> dict[str, Any] | None:
    """Return the object with each value at its path, or None if two paths conflict."""
    whole: dict[str, Any] = {}
    for steps, value in values.items():
        holder: Any = whole
        for step, following in pairwise(steps):
            holder = _get_or_insert(holder, step, [] if isinstance(following, int) else {})
        plain = value.value if isinstance(value, _WholeValue) else "".join(value) if isinstance(value, list) else value
        if _get_or_insert(holder, steps[-1], plain) is not plain:
            return None
    return whole


def _get_or_insert(holder: Any, step: str | int, fresh: Any) -> Any:
    """Return the value at this position, or insert `fresh`; ABSENT if the position is impossible."""
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.setdefault(step, fresh)
    if isinstance(holder, list) and isinstance(step, int):
        if step == len(holder):
            holder.append(fresh)
        return holder[step] if step < len(holder) else ABSENT
    return ABSENT
