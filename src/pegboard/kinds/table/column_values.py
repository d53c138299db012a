"""Converts JSON values to column values without loss; the converter is chosen once per table schema."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

from pegboard.kinds.table.config import DataType
from pegboard.kinds.table.insert_refusals import ColumnValueRefused, encode_compact_json
from pegboard.kinds.table.table_schema import Column, ColumnFamily
from pegboard.model.timestamps import read_instant, write_instant

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
# The limits of PostgreSQL's numeric; more digits would also be slow to print.
_MAX_WHOLE_DIGITS, _MAX_DECIMAL_PLACES = 131_072, 16_383
_MAX_SHOWN_DIGITS = 30


class _ParsedNumber(NamedTuple):
    number: Decimal
    significant: int
    places: int


class _FloatRange(NamedTuple):
    """How many digits a float type preserves, and its smallest and largest magnitude."""

    digits: int
    smallest: Decimal
    largest: Decimal


_DOUBLE_RANGE = _FloatRange(15, Decimal("2.23E-308"), Decimal("1.79E+308"))
_REAL_RANGE = _FloatRange(6, Decimal("1.18E-38"), Decimal("3.4E+38"))


def bind_integer(column: Column) -> Callable[[Any], int]:
    """Return a converter to integers within the column's range."""
    low = MIN_INTEGER if column.low is None else column.low
    high = MAX_INTEGER if column.high is None else column.high
    words = f"between {low} and {high}"

    def bind(value: Any) -> int:
        if low <= value <= high:
            return int(value)
        code = "too_big" if value > high else "too_small"
        raise ColumnValueRefused(code, f"must be an integer {words}", f"integer {words}")

    return bind


def bind_exact(column: Column) -> Callable[[Any], Decimal]:
    """Return a converter to decimals that fit the column's precision and scale without rounding."""
    scale = column.scale
    limit = None
    if column.precision is not None:
        limit = Decimal(1).scaleb(column.precision - (scale or 0))
    shown = (
        f"{limit:f}" if limit is not None and -_MAX_SHOWN_DIGITS < limit.adjusted() < _MAX_SHOWN_DIGITS else str(limit)
    )

    def bind(value: Any) -> Decimal:
        number, _, places = _parse_number(value)
        if scale is not None and places > scale:
            raise _make_scale_error(scale)
        # abs() would round.
        if limit is not None and number.copy_abs() >= limit:
            code, words = ("too_big", f"less than {shown}") if number > 0 else ("too_small", f"more than -{shown}")
            raise ColumnValueRefused(code, f"must be {words}", f"number {words}")
        return number

    return bind


def bind_float(column: Column) -> Callable[[Any], float]:
    """Return a converter to floats that rejects numbers whose digits a float cannot preserve."""
    is_real = column.type.lower() in {"real", "float4"}
    return lambda value: _to_float(_parse_number(value), _REAL_RANGE if is_real else _DOUBLE_RANGE, keeps=not is_real)


def bind_sqlite_number(column: Column) -> Callable[[Any], int | float]:
    """Return a converter to numbers that SQLite stores without loss: 64-bit integers and fractions of 15 digits."""
    check = bind_exact(column)

    def bind(value: Any) -> int | float:
        digits = _parse_number(check(value))
        if digits.places <= 0 and MIN_INTEGER <= digits.number <= MAX_INTEGER:
            return int(digits.number)
        return _to_float(digits, _DOUBLE_RANGE)

    return bind


def bind_sqlite_float(_column: Column) -> Callable[[Any], float]:
    """Return a converter to floats of 15 digits; REAL in SQLite is a double."""
    return lambda value: _to_float(_parse_number(value), _DOUBLE_RANGE)


def bind_sqlite_digits(_column: Column) -> Callable[[Any], str]:
    """Return a converter to the digits as text, for text columns."""
    return lambda value: f"{_parse_number(value).number:f}"


def _parse_number(value: Any) -> _ParsedNumber:
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or number.adjusted() >= _MAX_WHOLE_DIGITS or -exponent > _MAX_DECIMAL_PLACES:
        words = f"number of at most {_MAX_WHOLE_DIGITS} digits before the point and {_MAX_DECIMAL_PLACES} after it"
        raise ColumnValueRefused("too_big", f"must be a {words}", words)
    if not number:
        return _ParsedNumber(number, 0, -_MAX_WHOLE_DIGITS)
    significant = len(digits)
    while digits[significant - 1] == 0:
        significant -= 1
    return _ParsedNumber(number, significant, significant - len(digits) - exponent)


def _to_float(digits: _ParsedNumber, kind: _FloatRange, *, keeps: bool = False) -> float:
    size = digits.number.copy_abs()
    if size > kind.largest:
        raise ColumnValueRefused("too_big", f"must be a number up to {kind.largest}", f"number up to {kind.largest}")
    if 0 < size < kind.smallest:
        words = f"number of at least {kind.smallest}, or 0"
        raise ColumnValueRefused("too_small", f"must be a {words}", words)
    number = float(digits.number)
    if digits.significant <= kind.digits or (keeps and Decimal(repr(number)) == digits.number):
        return number
    words = f"number of at most {kind.digits} significant digits"
    raise ColumnValueRefused("custom", f"must be a {words}, since its column keeps no more", words)


def _make_scale_error(scale: int) -> ColumnValueRefused:
    if scale <= 0:
        step = f"{Decimal(1).scaleb(-scale):f}"
        words = "whole number" if scale == 0 else f"multiple of {step}"
        return ColumnValueRefused("not_multiple_of", f"must be a {words}", words)
    places = f"{scale} decimal place{'s' if scale > 1 else ''}"
    return ColumnValueRefused("not_multiple_of", f"must be a number with max {places}", f"number with at most {places}")


_MICROSECOND_DIGITS = 6
_MAX_LISTED_LABELS = 30
_MIN_INSTANT, _MAX_INSTANT = dt.datetime.min.replace(tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=dt.UTC)
_match_time = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?").fullmatch


def bind_text(column: Column) -> Callable[[str], str]:
    """Return a converter for text of at most the column's length."""
    most = column.max_length

    def bind(value: str) -> str:
        if most is not None and len(value) > most:
            length = f"{most} character{'' if most == 1 else 's'}"
            reason, expected = f"exceeds maximum length of {length}", f"string of at most {length}"
            raise ColumnValueRefused("too_big", reason, expected, shows=False)
        return value

    return bind


def bind_postgresql_text(column: Column) -> Callable[[str], str]:
    """Return a converter for text without NUL."""
    fitting = bind_text(column)

    def bind(value: str) -> str:
        if "\0" in value:
            raise _make_nul_error()
        return fitting(value)

    return bind


def bind_sqlite_untyped(column: Column) -> Callable[[str], str]:
    """Return a converter for text in a column of unknown type, in which SQLite would convert number-like text."""
    fitting = bind_text(column)
    if not column.type.strip():
        return fitting

    def bind(value: str) -> str:
        try:
            float(value)
        except ValueError:
            return fitting(value)
        reason = f"must not look like a number, which SQLite would make of it in a column of type {column.type}"
        raise ColumnValueRefused("invalid_string", reason, "text that is no number")

    return bind


def bind_label(column: Column) -> Callable[[str], str]:
    """Return a converter for the labels of an enum."""
    labels = frozenset(column.labels)

    def bind(value: str) -> str:
        if value not in labels:
            listed = ", ".join(column.labels[:_MAX_LISTED_LABELS]) + (
                ", …" if len(column.labels) > _MAX_LISTED_LABELS else ""
            )
            raise ColumnValueRefused("invalid_enum_value", f"must be one of: {listed}", f"one of: {listed}")
        return value

    return bind


def bind_uuid(_column: Column) -> Callable[[str], UUID]:
    """Return a converter for UUIDs, with all hyphens or without any."""

    def bind(value: str) -> UUID:
        try:
            found = UUID(value)
        except ValueError:
            found = None
        # Python also accepts braces, a prefix and hyphens anywhere.
        if found is None or value.lower() not in {str(found), found.hex}:
            raise ColumnValueRefused("invalid_string", "must be a valid UUID", "UUID")
        return found

    return bind


def bind_sqlite_uuid(column: Column) -> Callable[[str], str]:
    """Return a converter for UUIDs in canonical text form."""
    read = bind_uuid(column)
    return lambda value: str(read(value))


def bind_date(_column: Column) -> Callable[[str], str]:
    """Return a converter for dates, without time and zone."""

    def bind(value: str) -> str:
        try:
            is_written_so = dt.date.fromisoformat(value).isoformat() == value
        except ValueError:
            is_written_so = False
        if not is_written_so:
            raise ColumnValueRefused("invalid_string", "must be a date such as 2025-10-05", "ISO 8601 date")
        return value

    return bind


def bind_time(column: Column) -> Callable[[str], str]:
    """Return a converter for times of day, without a zone."""
    check = _make_precision_check(column, "time")

    def bind(value: str) -> str:
        try:
            found = dt.time.fromisoformat(value) if _match_time(value) else None
        except ValueError:
            found = None
        if found is None:
            raise ColumnValueRefused(
                "invalid_string", "must be a time of day such as 14:30:00, without a zone", "ISO 8601 time"
            )
        check(found.microsecond)
        return found.isoformat()

    return bind


def bind_instant(column: Column) -> Callable[[str], dt.datetime]:
    """Return a converter for date-times in UTC, with no more fractional digits than the column stores."""
    check = _make_precision_check(column, "datetime")

    def bind(value: str) -> dt.datetime:
        try:
            moment = read_instant(value)
        except ValueError:
            raise ColumnValueRefused(
                "invalid_string", "must be a valid ISO 8601 datetime", "ISO 8601 date-time"
            ) from None
        check(moment.microsecond)
        return moment

    return bind


def _make_precision_check(column: Column, word: str) -> Callable[[int], None]:
    """Return a check that raises ColumnValueRefused for microseconds that the column would round."""
    places = _MICROSECOND_DIGITS if column.precision is None else column.precision
    step = 10 ** (_MICROSECOND_DIGITS - places)

    def check(microsecond: int) -> None:
        if microsecond % step:
            kept = f"{word} with at most {places} decimals of a second" if places else f"{word} of whole seconds"
            raise ColumnValueRefused("custom", f"must be a {kept}, since its column keeps no more", kept)

    return check


def bind_postgresql_instant(column: Column) -> Callable[[str], dt.datetime]:
    """Return a converter for date-times in UTC, except the minimum and maximum, which asyncpg sends as infinity."""
    fitting = bind_instant(column)

    def bind(value: str) -> dt.datetime:
        moment = fitting(value)
        if _MIN_INSTANT < moment < _MAX_INSTANT:
            return moment
        is_last = moment == _MAX_INSTANT
        words = f"before {write_instant(_MAX_INSTANT)}" if is_last else f"after {write_instant(_MIN_INSTANT)}"
        raise ColumnValueRefused(
            "too_big" if is_last else "too_small", f"must be a datetime {words}", f"datetime {words}"
        )

    return bind


def bind_postgresql_local(column: Column) -> Callable[[str], dt.datetime]:
    """Return a converter to local date-times in UTC, without a zone."""
    moment = bind_postgresql_instant(column)
    return lambda value: moment(value).replace(tzinfo=None)


def bind_sqlite_instant(column: Column) -> Callable[[str], str]:
    """Return a converter to date-times in UTC as text, because SQLite has no type for them."""
    moment = bind_instant(column)
    return lambda value: write_instant(moment(value))


def bind_json(_column: Column) -> Callable[[Any], str]:
    """Return a converter to compact JSON."""
    return encode_compact_json


def bind_postgresql_json(_column: Column) -> Callable[[Any], str]:
    """Return a converter to compact JSON without NUL in any text."""

    def bind(value: Any) -> str:
        found = encode_compact_json(value)
        if "\\u0000" in found and _has_nul(value):
            raise _make_nul_error()
        return found

    return bind


def _has_nul(value: Any) -> bool:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            if "\0" in item:
                return True
        elif isinstance(item, Mapping):
            todo += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            todo += item
    return False


def _make_nul_error() -> ColumnValueRefused:
    words = "text without the character NUL"
    return ColumnValueRefused(
        "invalid_string", f"must be {words} (\\u0000), which PostgreSQL does not keep", words, shows=False
    )


DatabaseKind = Literal["sqlite", "postgresql"]
# Converts a non-null value that is valid for its field; raises ColumnValueRefused if the column cannot store it.
BindValue = Callable[[Any], Any]


def find_binder(data_type: DataType, column: Column, kind: DatabaseKind) -> BindValue | None:
    """Return the converter for values of this field type and column; None if the two are not compatible."""
    made = (_POSTGRESQL_BINDERS if kind == "postgresql" else _SQLITE_BINDERS).get((data_type, column.family))
    return None if made is None else made(column)


def list_types(column: Column, kind: DatabaseKind) -> list[DataType]:
    """Return the field types that are compatible with the column."""
    return [name for name in get_args(DataType) if find_binder(name, column, kind) is not None]


def _bind_unchanged(_column: Column) -> BindValue:
    return lambda value: value


# The field type of an array element by column family, with the Python types that JSON has for it.
_ELEMENT_TYPES: Mapping[ColumnFamily, tuple[DataType, tuple[type, ...], str]] = {
    "text": ("text", (str,), "string"),
    "enum": ("text", (str,), "string"),
    "uuid": ("text", (str,), "string"),
    "date": ("text", (str,), "string"),
    "time": ("text", (str,), "string"),
    "integer": ("integer", (int,), "integer"),
    "numeric": ("numeric", (int, float, Decimal), "number"),
    "float": ("numeric", (int, float, Decimal), "number"),
    "boolean": ("boolean", (bool,), "true or false"),
    "instant": ("datetime", (str,), "string"),
    "local": ("datetime", (str,), "string"),
    "json": ("json", (object,), "value"),
    # Sent as text, which the server parses.
    "other": ("text", (str,), "string"),
}


def _bind_array(column: Column) -> BindValue | None:
    element = column.element
    if element is None or element.family not in _ELEMENT_TYPES:
        return None
    data_type, types, word = _ELEMENT_TYPES[element.family]
    bind_one = find_binder(data_type, element, "postgresql")
    if bind_one is None:
        return None

    def bind_item(item: Any) -> Any:
        if item is None:
            return None
        if isinstance(item, float) and types == (int,) and item.is_integer():
            return bind_one(item)
        if not isinstance(item, types) or (isinstance(item, bool) and int in types):
            raise ColumnValueRefused("invalid_type", f"must be {_add_article(word)}", word)
        return bind_one(item)

    def bind(value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ColumnValueRefused("invalid_type", "must be an array", "array")
        bound = []
        for index, item in enumerate(value):
            try:
                bound.append(bind_item(item))
            except ColumnValueRefused as refused:
                refused.place, refused.element = f"[{index}]", item
                raise
        return bound

    return bind


def _add_article(word: str) -> str:
    return word if word.startswith("true") else f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


_BinderTable = Mapping[tuple[DataType, ColumnFamily], Callable[[Column], BindValue | None]]

_POSTGRESQL_BINDERS: _BinderTable = {
    ("text", "text"): bind_postgresql_text,
    ("text", "enum"): bind_label,
    ("text", "uuid"): bind_uuid,
    ("text", "date"): bind_date,
    ("text", "time"): bind_time,
    ("text", "other"): bind_postgresql_text,
    ("integer", "integer"): bind_integer,
    ("integer", "numeric"): bind_exact,
    ("integer", "float"): bind_float,
    ("numeric", "numeric"): bind_exact,
    ("numeric", "float"): bind_float,
    ("boolean", "boolean"): _bind_unchanged,
    ("enum", "enum"): bind_label,
    ("enum", "text"): bind_postgresql_text,
    ("datetime", "instant"): bind_postgresql_instant,
    ("datetime", "local"): bind_postgresql_local,
    ("json", "json"): bind_postgresql_json,
    ("json", "array"): _bind_array,
}
_SQLITE_BINDERS: _BinderTable = {
    ("text", "text"): bind_text,
    ("text", "uuid"): bind_sqlite_uuid,
    ("text", "date"): bind_date,
    ("text", "time"): bind_time,
    ("integer", "integer"): bind_integer,
    ("integer", "numeric"): bind_sqlite_number,
    ("integer", "float"): bind_sqlite_float,
    ("numeric", "numeric"): bind_sqlite_number,
    ("numeric", "float"): bind_sqlite_float,
    ("numeric", "text"): bind_sqlite_digits,
    ("boolean", "boolean"): lambda _: int,
    ("boolean", "integer"): lambda _: int,
    ("enum", "text"): bind_text,
    ("datetime", "instant"): bind_sqlite_instant,
    ("datetime", "local"): bind_sqlite_instant,
    ("datetime", "text"): bind_sqlite_instant,
    ("json", "json"): bind_json,
    ("json", "text"): bind_json,
    ("text", "other"): bind_sqlite_untyped,
    ("integer", "other"): bind_integer,
    ("numeric", "other"): bind_sqlite_number,
    ("boolean", "other"): lambda _: int,
    ("enum", "other"): bind_sqlite_untyped,
    ("datetime", "other"): bind_sqlite_instant,
    ("json", "other"): bind_json,
}
