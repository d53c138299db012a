"""INSERT statements for PostgreSQL; one statement for many rows if the returned keys can be matched to the rows.

Not with SQLAlchemy, whose type conversions would take most of the CPU time of an insert.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy.dialects import postgresql

from pegboard.kinds.table.source import InsertFault, InsertRow, RowKey
from pegboard.kinds.table.table_schema import Column, TableSchema

# The dialect ships no types; with its default parameter style it would double every % in a name.
_postgresql_dialect: Any = postgresql.dialect
quote_identifier: Callable[[str], str] = _postgresql_dialect(paramstyle="named").identifier_preparer.quote_identifier

# Types that the driver encodes itself; all others are sent as text, which the server parses.
_NATIVE_TYPES = {
    "boolean": "bool",
    "smallint": "int2",
    "integer": "int4",
    "bigint": "int8",
    "real": "float4",
    "double precision": "float8",
    "numeric": "numeric",
    "text": "text",
    "character varying": "varchar",
    "character": "bpchar",
    "uuid": "uuid",
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    "jsonb": "jsonb",
    "json": "json",
    "bytea": "bytea",
}
_MAX_STATEMENTS = 1000
_XID_EXPRESSION = "pg_current_xact_id()::text"
_TYPE_MODIFIER = re.compile(r'("(?:[^"]|"")*")|\([^)]*\)')


class KeysUnmatched(Exception):
    """The returned keys are not those of the sent rows: a trigger or a rule has changed them."""


class InsertStatement:
    """Inserts rows with the same columns into a table; `is_grouped` if one statement inserts many of them."""

    __slots__ = ("_counted", "_given", "_grouped_sql", "_makers", "_one", "columns", "facts", "is_grouped")

    def __init__(self, facts: TableSchema, columns: tuple[str, ...]) -> None:
        self.facts = facts
        self.columns = columns
        held = [facts.columns[name] for name in columns]
        self._makers = [_choose_converter(column) for column in held]
        missing = [name for name in facts.key if name not in columns]
        self.is_grouped = (
            bool(columns)
            and not any(column.family == "array" for column in held)
            and (not missing or (len(missing) == 1 and facts.columns[missing[0]].counts))
        )
        # The position in the key of the column that the database counts, and the row value of each other key column.
        self._counted = facts.key.index(missing[0]) if missing else None
        self._given = [
            (place, columns.index(name), facts.columns[name].family == "uuid")
            for place, name in enumerate(facts.key)
            if name in columns
        ]
        into = f"INSERT INTO {quote_table(facts)}"
        names = ", ".join(map(quote_identifier, columns))
        returning = ", ".join([*(format_key_column(facts.columns[name]) for name in facts.key), _XID_EXPRESSION])
        casts = [_choose_cast(column) for column in held]
        values = ", ".join(f"${place}::{sent}{read}" for place, (sent, read) in enumerate(casts, 1))
        self._one = (
            f"{into} ({names}) VALUES ({values}) RETURNING {returning}"
            if columns
            else (f"{into} DEFAULT VALUES RETURNING {returning}")
        )
        arrays = ", ".join(f"${place}::{sent}[]" for place, (sent, _) in enumerate(casts, 1))
        sent_names = ", ".join(f"v{place}" for place in range(1, len(columns) + 1))
        read = ", ".join(f"v{place}{read}" for place, (_, read) in enumerate(casts, 1))
        self._grouped_sql = (
            f"{into} ({names}) SELECT {read} FROM unnest({arrays}) AS sent({sent_names})"  # noqa: S608 -- names quoted
            f" RETURNING {returning}, {_rewrite_check_sql(facts) if missing else 'false'}"
        )

    async def run(self, conn: Any, rows: Sequence[InsertRow]) -> tuple[list[RowKey], str]:
        """Insert the rows; return their keys in order and the transaction id; raise KeysUnmatched if keys differ."""
        if len(rows) == 1 or not self.is_grouped:
            return await self._one_by_one(conn, rows)
        columns = [
            list(values) if make is None else [None if value is None else make(value) for value in values]
            for make, values in zip(self._makers, zip(*(row.values for row in rows), strict=True), strict=True)
        ]
        returned = await conn.fetch(self._grouped_sql, *columns)
        # A trigger that was created after the schema was read may number rows differently.
        if len(returned) != len(rows) or returned[0][-1]:
            raise KeysUnmatched
        return self._match_keys(rows, returned), returned[0][-2]

    async def _one_by_one(self, conn: Any, rows: Sequence[InsertRow]) -> tuple[list[RowKey], str]:
        keys: list[RowKey] = []
        xid = ""
        for row in rows:
            values = [
                value if make is None or value is None else make(value)
                for make, value in zip(self._makers, row.values, strict=True)
            ]
            returned = await conn.fetch(self._one, *values)
            if len(returned) != 1:
                raise InsertFault("P2010", "a trigger or a rule of the table kept the row out of it", sqlstate="02000")
            *key, xid = returned[0]
            keys.append(tuple(key))
        return keys, xid

    def _match_keys(self, rows: Sequence[InsertRow], returned: Sequence[Any]) -> list[RowKey]:
        if not self.facts.key:
            return list(repeat((), len(rows)))
        keys = [tuple(record)[:-2] for record in returned]
        counted = self._counted
        if counted is None:
            given = [self._key(row) for row in rows]
            if set(given) != set(keys):
                raise KeysUnmatched
            return given
        keys.sort(key=lambda key: key[counted])
        for row, key in zip(rows, keys, strict=True):
            for place, index, is_uuid in self._given:
                if key[place] != _normalize_key_value(row.values[index], is_uuid=is_uuid):
                    raise KeysUnmatched
        return keys

    def _key(self, row: InsertRow) -> RowKey:
        return tuple(_normalize_key_value(row.values[index], is_uuid=is_uuid) for _, index, is_uuid in self._given)


class StatementCache:
    """Cache of insert statements for the current table schemas."""

    def __init__(self) -> None:
        self._made: dict[tuple[str | None, str, tuple[str, ...]], InsertStatement] = {}

    def get(self, facts: TableSchema, columns: tuple[str, ...]) -> InsertStatement:
        """Return the statement for rows with these columns."""
        at = (facts.schema, facts.table, columns)
        known = self._made.get(at)
        if known is None or known.facts is not facts:
            if len(self._made) >= _MAX_STATEMENTS:
                self._made.clear()
            known = self._made[at] = InsertStatement(facts, columns)
        return known


def quote_table(facts: TableSchema) -> str:
    """Return the quoted name of the table."""
    return (
        f"{quote_identifier(facts.schema)}.{quote_identifier(facts.table)}"
        if facts.schema
        else quote_identifier(facts.table)
    )


def format_key_column(column: Column) -> str:
    """Return the SQL expression of a key column; as text if the driver might decode it to a type of its own."""
    return (
        f"format('%s', {quote_identifier(column.name)})" if column.family == "other" else quote_identifier(column.name)
    )


def _rewrite_check_sql(facts: TableSchema) -> str:
    """Return SQL that is true if a trigger may change rows before they are inserted; evaluated once per statement."""
    itself = "to_regclass('" + quote_table(facts).replace("'", "''") + "')"
    parts = f"SELECT {itself} UNION ALL SELECT relid FROM pg_partition_tree({itself})"  # noqa: S608 -- a quoted name
    return f"EXISTS (SELECT FROM pg_trigger WHERE tgrelid IN ({parts}) AND NOT tgisinternal AND tgtype & 7 = 7)"


def _normalize_key_value(value: Any, *, is_uuid: bool) -> Any:
    return UUID(value) if is_uuid and isinstance(value, str) else value


def _strip_modifier(type_: str) -> str:
    # With a length, a cast would truncate long values, which an assignment rejects.
    bare = _TYPE_MODIFIER.sub(lambda part: part[1] or "", type_)
    return '"bit"' + bare[3:] if bare in {"bit", "bit[]"} else bare


def _choose_cast(column: Column) -> tuple[str, str]:
    """Return the type that a value is sent as, and the cast to the column's type."""
    bare = _strip_modifier(column.type)
    if column.family == "array":
        native = _NATIVE_TYPES.get(bare.removesuffix("[]"))
        return (f"{native}[]", "") if native else ("text[]", f"::{bare}")
    native = _NATIVE_TYPES.get(bare)
    return (native, "") if native else ("text", f"::{bare}")


def _choose_converter(column: Column) -> Callable[[Any], Any] | None:
    """Return the conversion of a value that the driver needs, or None."""
    if column.family == "local":
        return _to_local
    if column.family == "json":
        return _to_json
    if column.family == "array":
        return None if _choose_cast(column)[1] == "" else _to_texts
    return None if _strip_modifier(column.type) in _NATIVE_TYPES else _to_text


def _to_local(value: datetime) -> datetime:
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _to_json(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _to_texts(values: Sequence[Any]) -> list[Any]:
    return [None if value is None else _to_text(value) for value in values]


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
