"""Parse arguments without losing digits, limit their depth and size, and check them against the schema of a tool."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Literal

import orjson

from pegboard.json_schema.argument_problems import MAX_PROBLEMS, build_invalid_arguments, list_problems
from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.defaults import copy_if_mutable, read_defaults
from pegboard.json_schema.problem_text import build_unrecognized_problems, format_subject
from pegboard.json_schema.schema_document import Path, SchemaDocument
from pegboard.json_schema.validation_cost import TooCostly
from pegboard.json_schema.value_text import format_field_path, format_value, shorten
from pegboard.model.call import Malformed
from pegboard.model.call_errors import FieldProblem, Ignored, MalformedArguments
from pegboard.model.json_text import is_unicode, map_leaves

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**64 - 1
MAX_VALUES = 2_000_000
_MAX_SHOWN_CHARACTERS = 300

# Maps digits and points to 0 and all other bytes to a space, so that a long number is found by a substring search.
_DIGIT_TABLE = bytes(48 if 48 <= byte <= 57 or byte == 46 else 32 for byte in range(256))
# A float represents every number with fewer digits.
_LONG_NUMBER = b"0" * 17
_MAX_DIGITS = 200
# Longer integers are truncated when they are read, so they are not exact.
_MAX_EXACT_INTEGER = 10 ** (_MAX_DIGITS - 1)
_MAX_NUMBER_CHARACTERS = 1000
# An exponent that may be too small for a float, which would round to 0.
_TINY_EXPONENT = re.compile(rb"[0-9][eE]-[0-9]{3}")

_SYNTAX_HINTS = {
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
    """Return the value of the JSON body; raise MalformedArguments if it is not valid.

    Integers of any length are kept exactly, and a number with more digits than a float can represent becomes a Decimal.
    """
    may_be_tiny = b"e-" in body or b"E-" in body
    if _LONG_NUMBER in body.translate(_DIGIT_TABLE) or (may_be_tiny and _TINY_EXPONENT.search(body)):
        return _parse_exactly(body)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _build_malformed_error(error, body) from None


def check_arguments_extent(
    arguments: Any, *, max_depth: int, max_values: int = MAX_VALUES, exact: bool = False
) -> bool:
    """Return True if the arguments contain numbers that need a Decimal.

    Raises MalformedArguments or InvalidArguments unless they are a JSON object within `max_depth` and `max_values`.
    Integers beyond 64 bits count as such numbers if the tool is `exact`; otherwise they are rejected.
    """
    if not isinstance(arguments, dict):
        raise MalformedArguments(_explain_unreadable(arguments))
    problems: list[FieldProblem] = []
    has_decimals = False
    todo: list[tuple[Any, int, Path]] = [(arguments, 1, ())]
    left = max_values
    while todo:
        container, depth, path = todo.pop()
        left -= len(container)
        if depth > max_depth or left < 0:
            raise _build_too_large_error(path, max_depth if depth > max_depth else None, max_values)
        is_object = isinstance(container, dict)
        items = container.items() if is_object else () if _is_all_plain(container) else enumerate(container)
        for key, value in items:
            if is_object and not (type(key) is str and key.isascii()):
                _check_object_key(key, path)
            kind = type(value)
            if (kind is str and value.isascii()) or kind is bool or value is None:
                continue
            if kind is int and MIN_INTEGER <= value <= MAX_INTEGER:
                continue
            if kind is float and math.isfinite(value):
                continue
            if isinstance(value, dict | list | tuple):
                todo.append((value, depth + 1, (*path, key)))
            elif _is_exact(value, kind, exact):
                has_decimals = True
            else:
                problems += _list_value_problems(value, (*path, key))
    if problems:
        raise build_invalid_arguments(problems[:MAX_PROBLEMS])
    return has_decimals


def _is_all_plain(items: Sequence[Any]) -> bool:
    """Return True if all items have the same type and are valid JSON; False means that each item has to be checked."""
    kinds = set(map(type, items))
    if kinds == {float}:
        # A non-finite item makes the sum non-finite. Finite items may overflow too; they are then checked one by one.
        return math.isfinite(sum(items))
    if kinds == {int}:
        return bool(min(items) >= MIN_INTEGER and max(items) <= MAX_INTEGER)
    return kinds == {str} and all(map(str.isascii, items))


def _explain_unreadable(arguments: Any) -> str:
    if not isinstance(arguments, Malformed):
        return f"Arguments must be a JSON object, but received {_describe_type(arguments)}"
    shown = shorten(arguments.text, _MAX_SHOWN_CHARACTERS)
    received = f"; received: {shown}" if shown else ""
    why = arguments.why[:1].lower() + arguments.why[1:]
    return f"The arguments cannot be read, so nothing was run: {why}. Send the call again, whole{received}"


def convert_to_floats(value: Any) -> Any:
    """Return the value with every Decimal as the nearest float, for tools that support only floats."""
    return map_leaves(value, lambda leaf: float(leaf) if isinstance(leaf, Decimal) else leaf)


def convert_to_decimals(value: Any) -> Any:
    """Return the value with every integer beyond 64 bits as a Decimal, for tools that keep all digits."""

    def convert(leaf: Any) -> Any:
        return Decimal(leaf) if type(leaf) is int and not MIN_INTEGER <= leaf <= MAX_INTEGER else leaf

    return map_leaves(value, convert)


def _is_exact(value: Any, kind: type, exact: bool) -> bool:
    if kind is Decimal:
        return bool(value.is_finite() and math.isfinite(value))
    return exact and kind is int and abs(value) < _MAX_EXACT_INTEGER


def _build_too_large_error(path: Path, max_depth: int | None, max_values: int) -> MalformedArguments:
    if max_depth is None:
        return MalformedArguments(f"Arguments hold more than {max_values:,} values")
    field = format_field_path(path[:3])
    return MalformedArguments(f"Field '{field}' is nested too deeply, at most {max_depth} levels go")


def _check_object_key(key: Any, path: Path) -> None:
    if not isinstance(key, str):
        place = f" in field '{format_field_path(path)}'" if path else ""
        raise MalformedArguments(f"Keys must be strings, but received {_describe_type(key)}{place}")
    _check_unicode(key, f"A key of {format_subject(format_field_path(path)).lower()}")


def _list_value_problems(value: Any, path: Path) -> list[FieldProblem]:
    if isinstance(value, int):
        return [] if MIN_INTEGER <= value <= MAX_INTEGER else [_build_out_of_range_problem(value, path)]
    field = format_field_path(path)
    if isinstance(value, str):
        _check_unicode(value, format_subject(field))
    elif not isinstance(value, float | Decimal):
        raise MalformedArguments(
            f"Field '{field}' must be JSON: an object, an array, a string, a number, true, false or null, "
            f"but received {_describe_type(value)}"
        )
    elif isinstance(value, Decimal) or not math.isfinite(value):
        raise MalformedArguments(f"Field '{field}' must be a finite number, but received {value}")
    return []


def _check_unicode(text: str, subject: str) -> None:
    if not is_unicode(text):
        raise MalformedArguments(f"{subject} holds half of a surrogate pair, which is not valid Unicode")


def _build_out_of_range_problem(value: int, path: Path) -> FieldProblem:
    field, bounds = format_field_path(path), f"integer between {MIN_INTEGER} and {MAX_INTEGER}"
    shown = format_value(value)
    code = "too_big" if value > 0 else "too_small"
    return FieldProblem(code, f"Field '{field}' must be an {bounds}, but received {shown}", field, bounds, shown)


def _describe_type(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", int: "a number", float: "a number"}
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return names.get(type(value), f"a Python {type(value).__name__}")


class _InvalidJson(Exception):
    pass


def _parse_exactly(body: bytes) -> Any:
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # orjson rejects an integer of hundreds of digits as infinite; parsed below, it gets an error that names its
        # field.
        if "infinity" not in error.msg:
            raise _build_malformed_error(error, body) from None
    try:
        return json.loads(
            body.decode(), parse_int=_read_integer, parse_float=_read_finite, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise _build_malformed_error(error, body) from None
    except (_InvalidJson, UnicodeDecodeError) as error:
        raise MalformedArguments(f"Not valid JSON: {error}") from None
    except RecursionError:
        raise MalformedArguments("Not valid JSON: it is nested too deeply") from None


def _read_integer(digits: str) -> int:
    # The first digits are enough to report that the number is too large; converting all of them would be slow.
    return int(digits if len(digits) <= _MAX_DIGITS else digits[:_MAX_DIGITS])


def _read_finite(digits: str) -> float | Decimal:
    number = float(digits)
    if math.isinf(number):
        raise _InvalidJson(f"the number {digits[:40]} is too large")
    if len(digits) > _MAX_NUMBER_CHARACTERS:
        raise _InvalidJson(f"a number of {len(digits):,} characters is too long, at most {_MAX_NUMBER_CHARACTERS:,} go")
    exact = Decimal(digits)
    if exact and exact.adjusted() < -_MAX_NUMBER_CHARACTERS:
        raise _InvalidJson(f"the number {digits[:40]} is too small")
    return number if exact == Decimal(repr(number)) else exact


def _refuse_constant(word: str) -> Any:
    raise _InvalidJson(f"{word} is not JSON; use a number or null")


def _build_malformed_error(error: json.JSONDecodeError, body: bytes) -> MalformedArguments:
    if not body.strip():
        return MalformedArguments("Not valid JSON: the text is empty; expected a JSON object such as {}")
    try:
        text = body.decode()
    except UnicodeDecodeError as fault:
        return MalformedArguments(f"Not valid JSON: byte {fault.start + 1} is not valid UTF-8")
    words = _SYNTAX_HINTS.get(error.msg, error.msg[:1].lower() + error.msg[1:])
    found = text[error.pos : error.pos + 1]
    if found == "'":
        words += "; use double quotes, not single ones"
    elif text.startswith(("NaN", "Infinity", "-Infinity", "None", "True", "False", "undefined"), error.pos):
        words += "; use null, true or false"
    elif found and error.msg.startswith("unexpected character"):
        words += f", found {json.dumps(found, ensure_ascii=False)}"
    return MalformedArguments(f"Not valid JSON at line {error.lineno}, column {error.colno}: {words}")


__all__ = ["ArgumentChecker", "check_arguments_extent", "convert_to_decimals", "convert_to_floats", "parse_json"]

# How many ignored arguments are listed.
MAX_LISTED_IGNORED = 20


class ArgumentChecker:
    """Checks and completes the arguments of a tool's calls, according to its schema."""

    __slots__ = ("_beside", "_defaults", "_drops", "_is_valid", "_known", "_more", "_under", "_validator")

    def __init__(
        self,
        schema: Mapping[str, Any],
        *,
        unknown: Literal["ignore", "reject"] = "ignore",
        presets: Mapping[str, Any] | None = None,
    ) -> None:
        document = SchemaDocument(schema)
        names, is_closed = document.list_declared_names()
        defaults = read_defaults(document)
        given = presets or {}
        self._validator = BoundedValidator(schema)
        self._is_valid = self._validator.is_valid
        self._known = names if is_closed else None
        self._drops = unknown == "ignore"
        self._under = {name: value for name, value in given.items() if name in names}
        # How many bytes of JSON the presets add.
        self._more = len(orjson.dumps(self._under)) if self._under else 0
        self._beside = {name: value for name, value in given.items() if name not in names}
        self._defaults = defaults if defaults else None

    def check(self, arguments: dict[str, Any], size: int | None = None) -> dict[str, Any]:
        """Return the arguments to run with, or the same object if nothing changes; `size` is their JSON length, if
        known.

        Raises InvalidArguments, or MalformedArguments if validation would take too long.
        """
        known = self._known
        extra: list[str] = []
        given = arguments
        if known is not None and not arguments.keys() <= known:
            given = {name: value for name, value in arguments.items() if name in known}
            if not self._drops:
                extra = [name for name in arguments if name not in known]
        if self._under:
            given = {**{name: copy_if_mutable(value) for name, value in self._under.items()}, **given}
        try:
            fits = self._is_valid(given, None if size is None else size + self._more)
        except TooCostly as error:
            raise MalformedArguments(f"Arguments are too large for the schema of this tool: {error}") from None
        except ValueError as error:  # not JSON: the caller skipped `check_arguments_extent`
            raise MalformedArguments(f"Arguments must be JSON: {error}") from None
        if extra or not fits:
            problems: list[FieldProblem] = [] if fits else list_problems(self._validator, given)
            ignored = self.list_ignored(arguments)
            problems += build_unrecognized_problems(sorted(extra)[:MAX_PROBLEMS], known or ())
            if extra:
                problems.sort(key=lambda problem: "" if problem.code == "missing" else problem.field or "")
            raise build_invalid_arguments(problems[:MAX_PROBLEMS], ignored)
        if self._defaults is not None:
            given = self._defaults.fill(given)
        if self._beside:
            given = {**{name: copy_if_mutable(value) for name, value in self._beside.items()}, **given}
        return given

    def list_ignored(self, arguments: dict[str, Any]) -> tuple[Ignored, ...]:
        """Return the arguments that are dropped because they are not declared, at most MAX_LISTED_IGNORED."""
        known = self._known
        if known is None or not self._drops:
            return ()
        extra = [name for name in arguments if name not in known][:MAX_LISTED_IGNORED]
        names = sorted(known)[:200] if extra else []
        return tuple(
            Ignored(shorten(name), next(iter(get_close_matches(name[:64], names, 1)), None) if index < 5 else None)
            for index, name in enumerate(extra)
        )
