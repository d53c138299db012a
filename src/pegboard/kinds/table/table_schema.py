"""The schema of one table, as read from its database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# The type of a column, independent of the database.
ColumnFamily = Literal[
    "text", "integer", "numeric", "float", "boolean", "instant", "local", "date", "time", "json", "uuid", "enum",
    "array", "bytes", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type as the database writes it, and the properties that matter for a value."""

    name: str
    type: str
    family: ColumnFamily
    nullable: bool = True
    # True if the database fills it when a row does not: a default, a sequence, a rowid.
    has_default: bool = False
    # True if only the database may fill it: GENERATED ALWAYS.
    is_generated: bool = False
    # True if the database numbers rows upwards, so that rows sent in order get increasing values.
    counts: bool = False
    # True if its default is exactly a random UUID, which can also be generated here.
    is_random_uuid: bool = False
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    low: int | None = None
    high: int | None = None
    labels: tuple[str, ...] = ()
    element: Column | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that refer to a row of another table."""

    columns: tuple[str, ...]
    table: str


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table. Only names in this object are used in SQL; constraints have the names that errors report."""

    schema: str | None
    table: str
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    uniques: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    foreign_keys: Mapping[str, ForeignKey] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    # Why the table accepts no rows, for example because it is a view; None if it does.
    unfit: str | None = None
