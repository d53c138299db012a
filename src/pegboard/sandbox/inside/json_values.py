"""What a tool's function returned, as JSON text: exactly, within bounds, or with the place that cannot be said."""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections import abc
from collections.abc import Collection, Iterable
from typing import Any

from pegboard.sandbox.inside.array_values import Pairs, of_arrays
from pegboard.sandbox.inside.json_texts import NOTHING_KNOWN, TooLarge, Unfit, key_text, of_standard, type_name

__all__ = ["TooLarge", "Unfit", "json_text"]

DEEPEST = 64
_LONGEST_PATH = 300
_PLAIN = frozenset({str, int, float, bool, type(None)})
_VIEWS = (abc.KeysView, abc.ValuesView, abc.ItemsView)
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode


def json_text(value: Any, most: int) -> bytes:
    """The value as JSON in UTF-8; raises Unfit, which names the place, or TooLarge beyond `most` bytes."""
    writer = _Writer(most)
    try:
        writer.write(value)
    except Unfit as error:
        raise Unfit(f"{_place(writer.path)} {error}") from None
    return b"".join(writer.parts)


class _Writer:
    """Writes values, and knows at each moment where in the whole it is and how much room is left."""

    def __init__(self, most: int) -> None:
        self.parts: list[bytes] = []
        self._room = most
        self.path: list[str | int] = []
        self._around: dict[int, int] = {}

    def write(self, value: Any) -> None:
        """Add the value to what is written."""
        kind = type(value)
        if kind is str:
            self._text(value)
        elif value is None or kind is bool:
            self._add({None: "null", True: "true", False: "false"}[value])
        elif kind is dict:
            self._enter(value, self._mapping)
        elif kind is list or kind is tuple:
            self._enter(value, self._sequence)
        elif (stands_for := of_standard(value)) is not NOTHING_KNOWN:
            self.write(stands_for)
        elif isinstance(value, str):
            self._text(str.__str__(value))
        elif isinstance(value, int):
            self._integer(value)
        elif isinstance(value, float):
            self._number(value)
        else:
            self._enter(value, self._other)

    def _other(self, value: Any) -> None:
        if isinstance(value, bytes | bytearray | memoryview):
            raise Unfit(
                f"is {type(value).__name__}, and JSON holds texts: return .decode(), or base64.b64encode(…).decode()"
            )
        if isinstance(value, Pairs):
            self._pairs(value.items)
        elif isinstance(value, abc.Mapping):
            self._mapping(value)
        elif isinstance(value, (abc.Sequence, *_VIEWS)):
            self._sequence(value)
        elif isinstance(value, abc.Set):
            self._sequence(_in_order(value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            self._pairs([(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)])
        elif (stands_for := of_arrays(value, self._room)) is not NOTHING_KNOWN:
            self.write(stands_for)
        else:
            raise Unfit(_why_not(value))

    def _enter(self, value: Any, write: Any) -> None:
        if id(value) in self._around:
            outer = _place(self.path[: self._around[id(value)]])
            raise Unfit(f"is {outer} again, without end; return each thing once")
        if len(self.path) >= DEEPEST and not _is_scalar(value):
            raise Unfit(f"is nested more than {DEEPEST} levels deep; return something flatter")
        self._around[id(value)] = len(self.path)
        write(value)
        del self._around[id(value)]

    def _mapping(self, value: abc.Mapping[Any, Any]) -> None:
        if type(value) is dict and set(map(type, value)) <= {str} and self._at_once(value, [*value, *value.values()]):
            return
        self._pairs(value.items())

    def _pairs(self, items: Iterable[tuple[Any, Any]]) -> None:
        seen: set[str] = set()
        for key, item in items:
            text = key if type(key) is str else _key_text(key)
            if text in seen:
                raise Unfit(f"has two keys that are both '{text[:100]}' as text; return them under names that differ")
            self._add("," if seen else "{")
            seen.add(text)
            self.path.append(text)
            self._text(text)
            self._add(":")
            self.write(item)
            self.path.pop()
        self._add("}" if seen else "{}")

    def _sequence(self, value: Collection[Any]) -> None:
        if type(value) in (list, tuple) and self._at_once(value, value):
            return
        self._add("[")
        for place, item in enumerate(value):
            if place:
                self._add(",")
            self.path.append(place)
            self.write(item)
            self.path.pop()
        self._add("]")

    def _at_once(self, value: Any, items: Collection[Any]) -> bool:
        """Whether the value, of these plain items, was written at once, which is many times faster."""
        kinds = set(map(type, items))
        if not kinds <= _PLAIN:
            return False
        if 2 * len(items) > self._room:
            raise TooLarge
        if str in kinds and sum(len(item) for item in items if type(item) is str) > self._room:
            raise TooLarge
        if int in kinds and not all(_is_common(item) for item in items if type(item) is int):
            return False
        try:
            self._add(_encode(value))
        except ValueError:
            return False  # something that one by one will be named
        return True

    def _text(self, text: str) -> None:
        if len(text) > self._room:
            raise TooLarge
        try:
            self._add(_encode(text))
        except UnicodeEncodeError:
            raise Unfit(
                "is a text that is no Unicode: it holds half of a surrogate pair; return text.encode('utf-8', "
                "'replace').decode()"
            ) from None

    def _integer(self, value: int) -> None:
        if not _is_common(value):
            raise Unfit("is an integer beyond 64 bits, which few readers of JSON keep exact; return str(…) or float(…)")
        self._add(int.__repr__(value))

    def _number(self, value: float) -> None:
        if not math.isfinite(value):
            word = "NaN" if math.isnan(value) else "infinite"
            raise Unfit(f"is {word}, for which JSON has no number; return None, or check with math.isfinite() first")
        self._add(float.__repr__(value))

    def _add(self, text: str) -> None:
        data = text.encode()
        self._room -= len(data)
        if self._room < 0:
            raise TooLarge
        self.parts.append(data)


def _place(path: list[str | int]) -> str:
    """The place as `$.rows[3].price`."""
    steps = [
        f"[{step}]" if isinstance(step, int) else f".{step}" if step.isidentifier() else f"[{json.dumps(step)}]"
        for step in path
    ]
    text = "$" + "".join(steps)
    return text if len(text) <= _LONGEST_PATH else f"{text[:_LONGEST_PATH]}…"


def _key_text(key: Any) -> str:
    stands_for = of_arrays(key, 0)
    return key_text(key if stands_for is NOTHING_KNOWN else stands_for)


def _is_common(value: int) -> bool:
    return -(2**63) <= value < 2**64


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, abc.Iterable) and not dataclasses.is_dataclass(value)


def _in_order(values: abc.Set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        # A set has no order of its own, and texts in it come in another one each time.
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def _why_not(value: Any) -> str:
    if isinstance(value, types.CoroutineType | abc.Awaitable):
        return "is a coroutine that nobody awaited; write await before the call"
    if isinstance(value, abc.AsyncIterator):
        return "is an asynchronous generator; return [item async for item in …]"
    if isinstance(value, abc.Iterator):
        return f"is of type {type_name(value)}, which gives its items only once; return list(…)"
    if callable(value):
        return f"is a {type(value).__name__}, not what it gives; was it meant to be called?"
    return f"is of type {type_name(value)}, which has no form in JSON; return texts, numbers, lists and dicts of it"
