"""Calls whose arguments Gemini streams one value at a time, each with the JSON path at which it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import orjson

from pegboard.dialects.asked import ABSENT
from pegboard.dialects.assembly import Assembly, id_of, name_of
from pegboard.dialects.parts.blocks import cut_off, shown
from pegboard.dialects.parts.google_fields import field, names_of

_STEP = re.compile(
    r"""\.([^.\[\]'"\s]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.ASCII | re.DOTALL
)
# What only pieces of a call have.
_MARKS = frozenset({*names_of("partialArgs"), *names_of("willContinue")})
_MOST_STEPS = 64
_LONGEST = 4_000
# Protobuf has no numbers but doubles: up to here each of them that has no fraction is one integer only.
_EXACT = 2**53


def steps_of(path: Any) -> tuple[str | int, ...] | None:
    """The keys and indexes of a path such as `$.a.b[0]['c d']`, or None where it is none that leads to one place."""
    if not isinstance(path, str) or not path.startswith("$") or not 1 < len(path) <= _LONGEST:
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or len(steps) == _MOST_STEPS:
            return None
        step = _step(match)
        if step is None:
            return None
        steps.append(step)
        at = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> str | int | None:
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


class _Call:
    """One call in the making."""

    def __init__(self, key: tuple[str, int], name: str) -> None:
        self.key = key
        self.name = name
        self._values: dict[tuple[str | int, ...], Any] = {}
        self._given: list[Any] = []
        self._is_faulty = False

    def take(self, given: Any) -> None:
        """One value; pieces of a text are put together."""
        self._given.append(given)
        steps = steps_of(field(given, "jsonPath")) if isinstance(given, dict) else None
        if steps is None or isinstance(steps[0], int):
            self._is_faulty = True
            return
        value = _value(given)
        if value is ABSENT:
            return
        known = self._values.setdefault(steps, [] if isinstance(value, str) else value)
        if isinstance(known, list) != isinstance(value, str):
            self._is_faulty = True
        elif isinstance(value, str):
            known.append(value)
        else:
            self._values[steps] = value

    def take_all(self, arguments: dict[str, Any]) -> None:
        """All of them at once, in the place of what came before."""
        # A list is what pieces of a text are kept in.
        self._values = {(key,): _Whole(value) for key, value in arguments.items()}

    def arguments(self) -> Any:
        """The object they make, or the text of what was given where they make none."""
        whole = None if self._is_faulty else _built(self._values)
        return shown(self._given) if whole is None else whole


class _Whole:
    """A value that came in one piece and may be an object or a list."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class PartialCalls:
    """The calls in the making; most streams make one after another, those with ids may mix them."""

    def __init__(self) -> None:
        self._calls: dict[str | int, _Call] = {}
        self._current: str | int | None = None
        self._count = 0

    def take(self, call: Mapping[str, Any], into: Assembly, extra: Mapping[str, Any]) -> bool:
        """Whether this is a piece of a call, and has been taken in."""
        if not self._calls and call.keys().isdisjoint(_MARKS):
            return False
        identity, name = id_of(call.get("id")), name_of(call.get("name"))
        goes_on = field(call, "willContinue") is True
        pieces = field(call, "partialArgs")
        mark = self._known(identity, name)
        if mark is None:
            if not goes_on and not isinstance(pieces, list):
                return False
            self._count += 1
            mark = identity or self._count
            self._calls[mark] = _Call(("partial", self._count), name)
        self._current = mark
        making = self._calls[mark]
        into.piece(making.key, name=name, id=identity, extra=extra)
        if isinstance(call.get("args"), dict) and call["args"]:
            making.take_all(call["args"])
        for piece in pieces if isinstance(pieces, list) else ():
            making.take(piece)
        if not goes_on:
            self._close(mark, into)
        return True

    def close(self, into: Assembly) -> None:
        """All of them are complete."""
        for mark in list(self._calls):
            self._close(mark, into)

    def cut(self, into: Assembly) -> None:
        """Nothing more comes for those that are not complete: what there is cannot be read as arguments."""
        for making in self._calls.values():
            into.piece(making.key, cut_off(making.arguments()))
        self._calls.clear()

    def _known(self, identity: str, name: str) -> str | int | None:
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


def _value(given: Mapping[str, Any]) -> Any:
    """The one value in there, ABSENT where there is none."""
    text, number, truth = (field(given, name) for name in ("stringValue", "numberValue", "boolValue"))
    if isinstance(text, str):
        return text
    if isinstance(truth, bool):
        return truth
    if isinstance(number, int | float):
        is_whole = isinstance(number, float) and number.is_integer() and abs(number) < _EXACT
        return int(number) if is_whole else number
    return None if "nullValue" in given or given.get("null_value") is not None else ABSENT


def _built(values: Mapping[tuple[str | int, ...], Any]) -> dict[str, Any] | None:
    """The object with each value at its place, or None where two of them cannot be in one object."""
    whole: dict[str, Any] = {}
    for steps, value in values.items():
        holder: Any = whole
        for step, following in pairwise(steps):
            holder = _entered(holder, step, [] if isinstance(following, int) else {})
        plain = value.value if isinstance(value, _Whole) else "".join(value) if isinstance(value, list) else value
        if _entered(holder, steps[-1], plain) is not plain:
            return None
    return whole


def _entered(holder: Any, step: str | int, fresh: Any) -> Any:
    """What is at this place, or what is put there now; ABSENT where the place cannot be."""
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.setdefault(step, fresh)
    if isinstance(holder, list) and isinstance(step, int):
        if step == len(holder):
            holder.append(fresh)
        return holder[step] if step < len(holder) else ABSENT
    return ABSENT
