"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import JSON, ColumnElement, DateTime, Dialect, String, Text, TypeDecorator, false, literal_column
from sqlalchemy.dialects.postgresql import JSONB

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
# Integers of more bits are left to decimals.
_BITS = 63
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def storable(text: str) -> str:
    """The text without what no database can store: NUL becomes U+FFFD, a lone surrogate `?`."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def lowered(text: str) -> str:
    """The text as `lower()` makes it in both databases: ASCII letters only."""
    return storable(text).translate(_ASCII_LOWER)


def json_type() -> JSON:
    """JSON where None is NULL: JSONB on PostgreSQL."""
    return JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def name_type(length: int = 255) -> Words:
    """A name whose order and `lower()` are those of its bytes, whatever the database's locale."""
    return Words(length, collation="C")


def is_not_deleted(column: Any) -> ColumnElement[bool]:
    """The condition in the very words of the partial indexes, or SQLite would not use them."""
    condition: ColumnElement[bool] = column.op("IS", is_comparison=True)(literal_column("FALSE"))
    return condition


class Instant(TypeDecorator[datetime]):
    """A moment: timezone-aware UTC going in and coming out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC; SQLite keeps no zone, so it gets none."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment needs a timezone: {value.isoformat()}")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text that takes any string and keeps what can be stored of it."""

    impl = Text
    cache_ok = True

    def __init__(self, length: int | None = None, collation: str | None = None) -> None:
        super().__init__()
        self.length = length
        self.collation = collation

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """TEXT or VARCHAR(length); the collation is PostgreSQL's."""
        collation = self.collation if dialect.name == "postgresql" else None
        return String(self.length, collation=collation) if self.length else Text(collation=collation)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text without what cannot be stored."""
        return None if value is None else storable(value)


class JsonText(TypeDecorator[Any]):
    """JSON that comes back as the very text that went in; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """The value as JSON text."""
        return None if value is None else json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """The value again."""
        return None if value is None else json.loads(value)


def json_text(value: Any) -> str:
    """The value as JSON that every database can store; what is no JSON becomes the string that shows it."""
    try:
        return orjson.dumps(value, default=_exact).decode()
    except TypeError:  # integers past 64 bits, lone surrogates: rare
        pass
    try:
        return orjson.dumps(_with_decimals(value), default=_exact).decode()
    except (TypeError, RecursionError):
        pass
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(repr(value))


def _exact(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError


def _with_decimals(value: Any) -> Any:
    """The value with integers that are too large for others as decimals, which are written digit by digit."""
    if isinstance(value, dict):
        return {key: _with_decimals(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_decimals(item) for item in value]
    return Decimal(value) if isinstance(value, int) and value.bit_length() > _BITS else value


def is_uuid(text: str) -> bool:
    """Whether the text is an id as ids are written; other spellings of a UUID are not the same to both databases."""
    return _ID.fullmatch(text) is not None


def has_id(column: Any, value: str) -> ColumnElement[bool]:
    """The condition that an id column holds this; false where it never could."""
    condition: ColumnElement[bool] = column == value if is_uuid(value) else false()
    return condition
