"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, ColumnElement, DateTime, Dialect, String, Text, TypeDecorator, false, literal_column
from sqlalchemy.dialects.postgresql import JSONB

from pegboard.model.json_text import is_uuid, json_text, replace_unstorable

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


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


class ExactJson(JsonText):
    """JSON whose numbers keep every digit: a Decimal if a float would lose some."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the parsed value."""
        return None if value is None else json.loads(value, parse_float=_read_exact_number)


def _read_exact_number(text: str) -> float | Decimal:
    number = float(text)
    return number if len(text) < 16 or Decimal(repr(number)) == Decimal(text) else Decimal(text)


def has_id(column: Any, value: str) -> ColumnElement[bool]:
    """Return the condition that an id column has this value; false if the value is not an id."""
    condition: ColumnElement[bool] = column == value if is_uuid(value) else false()
    return condition
