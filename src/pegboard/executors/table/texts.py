"""What is text in JSON, as columns take it: text itself, labels, UUIDs, dates and moments; and JSON as a text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from pegboard.core.instants import read_instant, write_instant
from pegboard.executors.table.facts import Column
from pegboard.executors.table.refusing import Refused, written

_MICROSECOND_DIGITS = 6
_LISTED = 30
_FIRST, _LAST = dt.datetime.min.replace(tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=dt.UTC)
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?").fullmatch


def text(column: Column) -> Callable[[str], str]:
    """Text of the length that the column has room for."""
    most = column.max_length

    def bind(value: str) -> str:
        if most is not None and len(value) > most:
            length = f"{most} character{'' if most == 1 else 's'}"
            says, expected = f"exceeds maximum length of {length}", f"string of at most {length}"
            raise Refused("too_big", says, expected, shows=False)
        return value

    return bind


def postgresql_text(column: Column) -> Callable[[str], str]:
    """Text without NUL."""
    fitting = text(column)

    def bind(value: str) -> str:
        if "\0" in value:
            raise _holds_nul()
        return fitting(value)

    return bind


def sqlite_untyped(column: Column) -> Callable[[str], str]:
    """Text for a column of a type that SQLite does not know, where it makes numbers of what looks like one."""
    fitting = text(column)
    if not column.type.strip():
        return fitting

    def bind(value: str) -> str:
        try:
            float(value)
        except ValueError:
            return fitting(value)
        says = f"must not look like a number, which SQLite would make of it in a column of type {column.type}"
        raise Refused("invalid_string", says, "text that is no number")

    return bind


def label(column: Column) -> Callable[[str], str]:
    """One of an enum's labels."""
    labels = frozenset(column.labels)

    def bind(value: str) -> str:
        if value not in labels:
            listed = ", ".join(column.labels[:_LISTED]) + (", …" if len(column.labels) > _LISTED else "")
            raise Refused("invalid_enum_value", f"must be one of: {listed}", f"one of: {listed}")
        return value

    return bind


def uuid(_column: Column) -> Callable[[str], UUID]:
    """A UUID, with its hyphens or without any."""

    def bind(value: str) -> UUID:
        try:
            found = UUID(value)
        except ValueError:
            found = None
        # Python reads more than anybody writes: braces, a prefix, hyphens anywhere.
        if found is None or value.lower() not in {str(found), found.hex}:
            raise Refused("invalid_string", "must be a valid UUID", "UUID")
        return found

    return bind


def sqlite_uuid(column: Column) -> Callable[[str], str]:
    """A UUID as the text that everybody writes."""
    read = uuid(column)
    return lambda value: str(read(value))


def date(_column: Column) -> Callable[[str], str]:
    """A day, which is no moment and has no zone."""

    def bind(value: str) -> str:
        try:
            is_written_so = dt.date.fromisoformat(value).isoformat() == value
        except ValueError:
            is_written_so = False
        if not is_written_so:
            raise Refused("invalid_string", "must be a date such as 2025-10-05", "ISO 8601 date")
        return value

    return bind


def time(column: Column) -> Callable[[str], str]:
    """A time of day, without a zone."""
    check = _fineness(column, "time")

    def bind(value: str) -> str:
        try:
            found = dt.time.fromisoformat(value) if _TIME(value) else None
        except ValueError:
            found = None
        if found is None:
            raise Refused("invalid_string", "must be a time of day such as 14:30:00, without a zone", "ISO 8601 time")
        check(found.microsecond)
        return found.isoformat()

    return bind


def instant(column: Column) -> Callable[[str], dt.datetime]:
    """A moment in UTC, with no more decimals of a second than the column keeps."""
    check = _fineness(column, "datetime")

    def bind(value: str) -> dt.datetime:
        try:
            moment = read_instant(value)
        except ValueError:
            raise Refused("invalid_string", "must be a valid ISO 8601 datetime", "ISO 8601 date-time") from None
        check(moment.microsecond)
        return moment

    return bind


def _fineness(column: Column, word: str) -> Callable[[int], None]:
    """Refuses microseconds that the column would round away."""
    places = _MICROSECOND_DIGITS if column.precision is None else column.precision
    step = 10 ** (_MICROSECOND_DIGITS - places)

    def check(microsecond: int) -> None:
        if microsecond % step:
            kept = f"{word} with at most {places} decimals of a second" if places else f"{word} of whole seconds"
            raise Refused("custom", f"must be a {kept}, since its column keeps no more", kept)

    return check


def postgresql_instant(column: Column) -> Callable[[str], dt.datetime]:
    """A moment in UTC, but for the very first and last, which PostgreSQL's driver takes for infinities."""
    fitting = instant(column)

    def bind(value: str) -> dt.datetime:
        moment = fitting(value)
        if _FIRST < moment < _LAST:
            return moment
        is_last = moment == _LAST
        words = f"before {write_instant(_LAST)}" if is_last else f"after {write_instant(_FIRST)}"
        raise Refused("too_big" if is_last else "too_small", f"must be a datetime {words}", f"datetime {words}")

    return bind


def postgresql_local(column: Column) -> Callable[[str], dt.datetime]:
    """What clocks in UTC show at the moment."""
    moment = postgresql_instant(column)
    return lambda value: moment(value).replace(tzinfo=None)


def sqlite_instant(column: Column) -> Callable[[str], str]:
    """The moment in UTC as a text, for SQLite has no type for it."""
    moment = instant(column)
    return lambda value: write_instant(moment(value))


def json(_column: Column) -> Callable[[Any], str]:
    """Compact JSON."""
    return written


def postgresql_json(_column: Column) -> Callable[[Any], str]:
    """Compact JSON without NUL in any of its texts."""

    def bind(value: Any) -> str:
        found = written(value)
        if "\\u0000" in found and _has_nul(value):
            raise _holds_nul()
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


def _holds_nul() -> Refused:
    words = "text without the character NUL"
    return Refused("invalid_string", f"must be {words} (\\u0000), which PostgreSQL does not keep", words, shows=False)
