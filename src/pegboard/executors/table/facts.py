"""What a database says about one of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# What a column holds, whatever its database calls that.
Family = Literal[
    "text", "integer", "numeric", "float", "boolean", "instant", "local", "date", "time", "json", "uuid", "enum",
    "array", "bytes", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type as the database writes it, and what of it matters for a value."""

    name: str
    type: str
    family: Family
    nullable: bool = True
    # Whether the database fills it in where a row does not: a default, a sequence, a rowid.
    has_default: bool = False
    # Whether nobody else may: GENERATED ALWAYS.
    is_generated: bool = False
    # Whether its values are counted upwards by the database, so that of rows sent in order each has a larger one.
    counts: bool = False
    # Whether its default is nothing but a random UUID, which might as well be made here.
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
class Facts:
    """A table, its names whitelisted by being here, its constraints by the names that errors give them."""

    schema: str | None
    table: str
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    uniques: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    foreign_keys: Mapping[str, ForeignKey] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    # Whether a view, a partition or another thing that takes rows, or something that cannot: then why.
    unfit: str | None = None
