"""Column types that behave the same on SQLite and PostgreSQL."""

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
# Integers with more bits are stored as decimals.
_BITS = 63
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def replace_unstorable(text: str) -> str:
    """Return the text without characters that no database can store: NUL becomes U+FFFD, a lone surrogate `?`."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def lower_ascii(text: str) -> str:
    """Return the text as `lower()` converts it in both databases: ASCII letters only."""
    return replace_unstorable(text).translate(_ASCII_LOWER)


def make_json_type() -> JSON:
    """Return the JSON type with None as NULL: JSONB on PostgreSQL."""
    return JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def make_name_type(length: int = 255) -> StorableText:
    """Return a text type that sorts and lowercases by bytes, regardless of the database's locale."""
    return StorableText(length, collation="C")


def is_not_deleted(column: Any) -> ColumnElement[bool]:
    """Return the exact condition of the partial indexes; otherwise SQLite would not use them."""
    condition: ColumnElement[bool] = column.op("IS", is_comparison=True)(literal_column("FALSE"))
    return condition


class Instant(TypeDecorator[datetime]):
    """A point in time: timezone-aware UTC in both directions."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC; without a timezone for SQLite, which does not store one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment needs a timezone: {value.isoformat()}")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class StorableText(TypeDecorator[str]):
    """Text that accepts any string and replaces characters that cannot be stored."""

    impl = Text
    cache_ok = True

    def __init__(self, length: int | None = None, collation: str | None = None) -> None:
        super().__init__()
        self.length = length
        self.collation = collation

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Return TEXT or VARCHAR(length); the collation applies to PostgreSQL."""
        collation = self.collation if dialect.name == "postgresql" else None
        return String(self.length, collation=collation) if self.length else Text(collation=collation)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the text without characters that cannot be stored."""
        return None if value is None else replace_unstorable(value)


class JsonText(TypeDecorator[Any]):
    """JSON that is returned as exactly the text that was stored; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Return the value as JSON text."""
        return None if value is None else json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the parsed value."""
        return None if value is None else json.loads(value)


def json_text(value: Any) -> str:
    """Return the value as JSON that every database can store; values that are not JSON are converted to strings."""
    try:
        return orjson.dumps(value, default=_encode_decimal).decode()
    except TypeError:  # integers above 64 bits, lone surrogates: rare
        pass
    try:
        return orjson.dumps(_convert_large_integers(value), default=_encode_decimal).decode()
    except (TypeError, RecursionError):
        pass
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(repr(value))


def _encode_decimal(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError


def _convert_large_integers(value: Any) -> Any:
    """Return the value with large integers as decimals, which are written digit by digit."""
    if isinstance(value, dict):
        return {key: _convert_large_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_convert_large_integers(item) for item in value]
    return Decimal(value) if isinstance(value, int) and value.bit_length() > _BITS else value


def is_uuid(text: str) -> bool:
    """True if the text is a UUID in canonical form; the databases treat other spellings differently."""
    return _ID.fullmatch(text) is not None


def has_id(column: Any, value: str) -> ColumnElement[bool]:
    """Return the condition that an id column has this value; false if the value is not an id."""
    condition: ColumnElement[bool] = column == value if is_uuid(value) else false()
    return condition
