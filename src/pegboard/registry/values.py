"""Arguments before any schema sees them: JSON of bounded depth, read without losing a digit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import orjson

from pegboard.core.call import Malformed
from pegboard.core.errors import FieldProblem, MalformedArguments
from pegboard.registry.problems import MAX_PROBLEMS, invalid
from pegboard.registry.shown import field_of, text_of
from pegboard.registry.subschemas import Path
from pegboard.registry.wording import subject_of

SMALLEST = -(2**63)
LARGEST = 2**64 - 1
MAX_VALUES = 2_000_000
_MOST_SHOWN = 300

# Every digit and point as 0, everything else as a space: what a long number looks like is then searched for quickly.
_DIGITS = bytes(48 if 48 <= byte <= 57 or byte == 46 else 32 for byte in range(256))
# Of fewer digits than this, a float keeps all.
_LONG = b"0" * 17
_MOST_DIGITS = 200
# Of an integer with more digits only the first are read.
_LARGEST_EXACT = 10 ** (_MOST_DIGITS - 1)
_LONGEST_NUMBER = 1000
# A number that may be too small for a float, which would be 0.
_TINY = re.compile(rb"[0-9][eE]-[0-9]{3}")

_EXPECTED = {
    "trailing comma is not allowed": "there is a comma after the last entry; leave it out",
    "unexpected character, expected a string key": "expected a key in double quotes",
    "unexpected character, expected ':' after key": "expected ':' after the key",
    "unexpected character, expected ',' or ']'": "expected ',' or ']' after an item",
    "unexpected character, expected ',' or '}'": "expected ',' or '}' after a value",
    "unexpected character, expected a JSON value": (
        "expected a value: an object, an array, a string in double quotes, a number, true, false or null"
    ),
    "unexpected content after document": "expected nothing more after the end of the JSON",
    "unexpected control character in string": "a line break or control character in a string must be escaped, as \\n",
    "unexpected end of data": "the text ends too early; a quote, bracket or brace is not closed",
    "no low surrogate in string": "a \\u escape is half of a surrogate pair; write both halves or the character itself",
    "invalid escaped sequence in string": 'a backslash must be followed by one of " \\ / b f n r t u',
    "number with leading zero is not allowed": "a number may not begin with a zero",
    "number is infinity when parsed as double": "the number is too large",
    "depth limit exceeded": "it is nested too deeply",
}  # fmt: skip


def parse_json(body: bytes) -> Any:
    """The JSON in the body; raises MalformedArguments.

    Integers of any length are kept whole, and a number with more digits than a float holds is a Decimal.
    """
    if _LONG in body.translate(_DIGITS) or (b"-" in body and _TINY.search(body)):
        return _parse_exactly(body)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _malformed(error, body) from None


def measure(arguments: Any, *, max_depth: int, max_values: int = MAX_VALUES, exact: bool = False) -> bool:
    """Whether it holds numbers that need a Decimal; raises unless it is an object of JSON, not too deep or large.

    Integers beyond 64 bits are among them if it is for an `exact` tool, and refused if not. What it raises is
    MalformedArguments or InvalidArguments.
    """
    if not isinstance(arguments, dict):
        raise MalformedArguments(_unread(arguments))
    problems: list[FieldProblem] = []
    has_decimals = False
    todo: list[tuple[Any, int, Path]] = [(arguments, 1, ())]
    left = max_values
    while todo:
        container, depth, path = todo.pop()
        left -= len(container)
        if depth > max_depth or left < 0:
            raise _too_much(path, max_depth if depth > max_depth else None, max_values)
        is_object = isinstance(container, dict)
        for key, value in container.items() if is_object else _looked_at(container):
            if is_object and not (type(key) is str and key.isascii()):
                _check_key(key, path)
            kind = type(value)
            if (kind is str and value.isascii()) or kind is bool or value is None:
                continue
            if kind is int and SMALLEST <= value <= LARGEST:
                continue
            if kind is float and math.isfinite(value):
                continue
            if isinstance(value, dict | list | tuple):
                todo.append((value, depth + 1, (*path, key)))
            elif _is_exact(value, kind, exact):
                has_decimals = True
            else:
                problems += _problems_of(value, (*path, key))
    if problems:
        raise invalid(problems[:MAX_PROBLEMS])
    return has_decimals


def _looked_at(items: Sequence[Any]) -> Iterable[tuple[int, Any]]:
    """Those that have to be looked at one by one, with their places: none of an embedding's numbers."""
    return () if _is_all_plain(items) else enumerate(items)


def _is_all_plain(items: Sequence[Any]) -> bool:
    """Whether these are all of one kind and nothing but JSON; no where that is not plain."""
    kinds = set(map(type, items))
    if kinds == {float}:
        # What is not finite makes the sum so; so may many that are, which are then looked at one by one.
        return math.isfinite(sum(items))
    if kinds == {int}:
        return bool(min(items) >= SMALLEST and max(items) <= LARGEST)
    return kinds == {str} and all(map(str.isascii, items))


def _unread(arguments: Any) -> str:
    if not isinstance(arguments, Malformed):
        return f"Arguments must be a JSON object, but received {_kind_of(arguments)}"
    shown = arguments.text if len(arguments.text) <= _MOST_SHOWN else arguments.text[:_MOST_SHOWN] + "…"
    received = f"; received: {shown}" if shown else ""
    why = arguments.why[:1].lower() + arguments.why[1:]
    return f"The arguments cannot be read, so nothing was run: {why}. Send the call again, whole{received}"


def as_floats(value: Any) -> Any:
    """The value with every Decimal as the nearest float, for tools that know no other numbers."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: as_floats(item) for key, item in value.items()}
    return [as_floats(item) for item in value] if isinstance(value, list | tuple) else value


def as_decimals(value: Any) -> Any:
    """The value with every integer beyond 64 bits as a Decimal, for tools that keep all digits."""
    if type(value) is int and not SMALLEST <= value <= LARGEST:
        return Decimal(value)
    if isinstance(value, dict):
        return {key: as_decimals(item) for key, item in value.items()}
    return [as_decimals(item) for item in value] if isinstance(value, list | tuple) else value


def _is_exact(value: Any, kind: type, exact: bool) -> bool:
    if kind is Decimal:
        return bool(value.is_finite() and math.isfinite(value))
    return exact and kind is int and abs(value) < _LARGEST_EXACT


def _too_much(path: Path, max_depth: int | None, max_values: int) -> MalformedArguments:
    if max_depth is None:
        return MalformedArguments(f"Arguments hold more than {max_values:,} values")
    return MalformedArguments(f"Field '{field_of(path[:3])}' is nested too deeply, at most {max_depth} levels go")


def _check_key(key: Any, path: Path) -> None:
    if not isinstance(key, str):
        place = f" in field '{field_of(path)}'" if path else ""
        raise MalformedArguments(f"Keys must be strings, but received {_kind_of(key)}{place}")
    _check_unicode(key, f"A key of {subject_of(field_of(path)).lower()}")


def _problems_of(value: Any, path: Path) -> list[FieldProblem]:
    if isinstance(value, int):
        return [] if SMALLEST <= value <= LARGEST else [_beyond(value, path)]
    field = field_of(path)
    if isinstance(value, str):
        _check_unicode(value, subject_of(field))
    elif not isinstance(value, float | Decimal):
        raise MalformedArguments(
            f"Field '{field}' must be JSON: an object, an array, a string, a number, true, false or null, "
            f"but received {_kind_of(value)}"
        )
    elif isinstance(value, Decimal) or not math.isfinite(value):
        raise MalformedArguments(f"Field '{field}' must be a finite number, but received {value}")
    return []


def _check_unicode(text: str, subject: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MalformedArguments(f"{subject} holds half of a surrogate pair, which is not valid Unicode") from None


def _beyond(value: int, path: Path) -> FieldProblem:
    field, bounds = field_of(path), f"integer between {SMALLEST} and {LARGEST}"
    shown = text_of(value)
    code = "too_big" if value > 0 else "too_small"
    return FieldProblem(code, f"Field '{field}' must be an {bounds}, but received {shown}", field, bounds, shown)


def _kind_of(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", int: "a number", float: "a number"}
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return names.get(type(value), f"a Python {type(value).__name__}")


class _Unreadable(Exception):
    pass


def _parse_exactly(body: bytes) -> Any:
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # A literal of hundreds of digits is infinite to orjson only; below it becomes an integer with a field to name.
        if "infinity" not in error.msg:
            raise _malformed(error, body) from None
    try:
        return json.loads(body.decode(), parse_int=_integer, parse_float=_finite, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        raise _malformed(error, body) from None
    except (_Unreadable, UnicodeDecodeError) as error:
        raise MalformedArguments(f"Not valid JSON: {error}") from None
    except RecursionError:
        raise MalformedArguments("Not valid JSON: it is nested too deeply") from None


def _integer(digits: str) -> int:
    # The first digits are enough to be told that the number is too large; turning all of them would take long.
    return int(digits if len(digits) <= _MOST_DIGITS else digits[:_MOST_DIGITS])


def _finite(digits: str) -> float | Decimal:
    number = float(digits)
    if math.isinf(number):
        raise _Unreadable(f"the number {digits[:40]} is too large")
    if len(digits) > _LONGEST_NUMBER:
        raise _Unreadable(f"a number of {len(digits):,} characters is too long, at most {_LONGEST_NUMBER:,} go")
    exact = Decimal(digits)
    if exact and exact.adjusted() < -_LONGEST_NUMBER:
        raise _Unreadable(f"the number {digits[:40]} is too small")
    return number if exact == Decimal(repr(number)) else exact


def _not_json(word: str) -> Any:
    raise _Unreadable(f"{word} is not JSON; use a number or null")


def _malformed(error: json.JSONDecodeError, body: bytes) -> MalformedArguments:
    if not body.strip():
        return MalformedArguments("Not valid JSON: the text is empty; expected a JSON object such as {}")
    try:
        text = body.decode()
    except UnicodeDecodeError as fault:
        return MalformedArguments(f"Not valid JSON: byte {fault.start + 1} is not valid UTF-8")
    words = _EXPECTED.get(error.msg, error.msg[:1].lower() + error.msg[1:])
    found = text[error.pos : error.pos + 1]
    if found == "'":
        words += "; use double quotes, not single ones"
    elif text.startswith(("NaN", "Infinity", "-Infinity", "None", "True", "False", "undefined"), error.pos):
        words += "; use null, true or false"
    elif found and error.msg.startswith("unexpected character"):
        words += f", found {json.dumps(found, ensure_ascii=False)}"
    return MalformedArguments(f"Not valid JSON at line {error.lineno}, column {error.colno}: {words}")
