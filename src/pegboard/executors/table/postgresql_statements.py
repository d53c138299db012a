"""The statements that insert into a table of PostgreSQL: one for many rows where each row's key can be told."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy.dialects import postgresql

from pegboard.executors.table.facts import Column, Facts
from pegboard.executors.table.source import Fault, Key, Row

# The dialect ships no types; with its usual style of parameters it would double every % in a name.
_dialect: Any = postgresql.dialect
quoted: Callable[[str], str] = _dialect(paramstyle="named").identifier_preparer.quote_identifier

# What the driver encodes by itself; everything else goes as text that the server reads.
_NATIVE = {
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
_MOST = 1000
_XID = "pg_current_xact_id()::text"
_PARTS = re.compile(r'("(?:[^"]|"")*")|\([^)]*\)')


class Unmatched(Exception):
    """The keys that came back are not those of the rows sent: a trigger or a rule had a hand in it."""


class Statement:
    """How rows with the same columns get into a table; `is_grouped` while one statement does for many of them."""

    __slots__ = ("_counted", "_given", "_groups", "_makers", "_one", "columns", "facts", "is_grouped")

    def __init__(self, facts: Facts, columns: tuple[str, ...]) -> None:
        self.facts = facts
        self.columns = columns
        held = [facts.columns[name] for name in columns]
        self._makers = [_maker(column) for column in held]
        missing = [name for name in facts.key if name not in columns]
        self.is_grouped = (
            bool(columns)
            and not any(column.family == "array" for column in held)
            and (not missing or (len(missing) == 1 and facts.columns[missing[0]].counts))
        )
        # Where in the key the database counts, and which value of a row each other part of the key is.
        self._counted = facts.key.index(missing[0]) if missing else None
        self._given = [
            (place, columns.index(name), facts.columns[name].family == "uuid")
            for place, name in enumerate(facts.key)
            if name in columns
        ]
        into = f"INSERT INTO {table_name(facts)}"
        names = ", ".join(map(quoted, columns))
        returning = ", ".join([*(key_part(facts.columns[name]) for name in facts.key), _XID])
        casts = [_cast(column) for column in held]
        values = ", ".join(f"${place}::{sent}{read}" for place, (sent, read) in enumerate(casts, 1))
        self._one = (
            f"{into} ({names}) VALUES ({values}) RETURNING {returning}"
            if columns
            else (f"{into} DEFAULT VALUES RETURNING {returning}")
        )
        arrays = ", ".join(f"${place}::{sent}[]" for place, (sent, _) in enumerate(casts, 1))
        sent_names = ", ".join(f"v{place}" for place in range(1, len(columns) + 1))
        read = ", ".join(f"v{place}{read}" for place, (_, read) in enumerate(casts, 1))
        self._groups = (
            f"{into} ({names}) SELECT {read} FROM unnest({arrays}) AS sent({sent_names})"  # noqa: S608 -- names quoted
            f" RETURNING {returning}, {_is_rewritten(facts) if missing else 'false'}"
        )

    async def run(self, conn: Any, rows: Sequence[Row]) -> tuple[list[Key], str]:
        """The keys of the rows, in their order, and the transaction's id; Unmatched if nobody can tell them apart."""
        if len(rows) == 1 or not self.is_grouped:
            return await self._one_by_one(conn, rows)
        columns = [
            list(values) if make is None else [None if value is None else make(value) for value in values]
            for make, values in zip(self._makers, zip(*(row.values for row in rows), strict=True), strict=True)
        ]
        returned = await conn.fetch(self._groups, *columns)
        # A trigger that was not there when the facts were read may number rows as it likes.
        if len(returned) != len(rows) or returned[0][-1]:
            raise Unmatched
        return self._matched(rows, returned), returned[0][-2]

    async def _one_by_one(self, conn: Any, rows: Sequence[Row]) -> tuple[list[Key], str]:
        keys: list[Key] = []
        xid = ""
        for row in rows:
            values = [
                value if make is None or value is None else make(value)
                for make, value in zip(self._makers, row.values, strict=True)
            ]
            returned = await conn.fetch(self._one, *values)
            if len(returned) != 1:
                raise Fault("P2010", "a trigger or a rule of the table kept the row out of it", sqlstate="02000")
            *key, xid = returned[0]
            keys.append(tuple(key))
        return keys, xid

    def _matched(self, rows: Sequence[Row], returned: Sequence[Any]) -> list[Key]:
        if not self.facts.key:
            return list(repeat((), len(rows)))
        keys = [tuple(record)[:-2] for record in returned]
        counted = self._counted
        if counted is None:
            given = [self._key(row) for row in rows]
            if set(given) != set(keys):
                raise Unmatched
            return given
        keys.sort(key=lambda key: key[counted])
        for row, key in zip(rows, keys, strict=True):
            for place, index, is_uuid in self._given:
                if key[place] != _known(row.values[index], is_uuid=is_uuid):
                    raise Unmatched
        return keys

    def _key(self, row: Row) -> Key:
        return tuple(_known(row.values[index], is_uuid=is_uuid) for _, index, is_uuid in self._given)


class Statements:
    """The statements in use, each made once for the same facts."""

    def __init__(self) -> None:
        self._made: dict[tuple[str | None, str, tuple[str, ...]], Statement] = {}

    def get(self, facts: Facts, columns: tuple[str, ...]) -> Statement:
        """The statement for rows with these columns."""
        at = (facts.schema, facts.table, columns)
        known = self._made.get(at)
        if known is None or known.facts is not facts:
            if len(self._made) >= _MOST:
                self._made.clear()
            known = self._made[at] = Statement(facts, columns)
        return known


def table_name(facts: Facts) -> str:
    """The table as a statement names it."""
    return f"{quoted(facts.schema)}.{quoted(facts.table)}" if facts.schema else quoted(facts.table)


def key_part(column: Column) -> str:
    """A column of the key as it is asked for, as text where the driver might have a type of its own for it."""
    return f"format('%s', {quoted(column.name)})" if column.family == "other" else quoted(column.name)


def _is_rewritten(facts: Facts) -> str:
    """Whether a trigger may change rows before they are inserted, asked once a statement."""
    itself = "to_regclass('" + table_name(facts).replace("'", "''") + "')"
    parts = f"SELECT {itself} UNION ALL SELECT relid FROM pg_partition_tree({itself})"  # noqa: S608 -- a quoted name
    return f"EXISTS (SELECT FROM pg_trigger WHERE tgrelid IN ({parts}) AND NOT tgisinternal AND tgtype & 7 = 7)"


def _known(value: Any, *, is_uuid: bool) -> Any:
    return UUID(value) if is_uuid and isinstance(value, str) else value


def _bare(type_: str) -> str:
    # With its length a cast would cut what is too long, where an assignment refuses it.
    bare = _PARTS.sub(lambda part: part[1] or "", type_)
    return '"bit"' + bare[3:] if bare in {"bit", "bit[]"} else bare


def _cast(column: Column) -> tuple[str, str]:
    """The type that a value is sent as, and how it becomes the column's."""
    bare = _bare(column.type)
    if column.family == "array":
        native = _NATIVE.get(bare.removesuffix("[]"))
        return (f"{native}[]", "") if native else ("text[]", f"::{bare}")
    native = _NATIVE.get(bare)
    return (native, "") if native else ("text", f"::{bare}")


def _maker(column: Column) -> Callable[[Any], Any] | None:
    """What the driver wants done to a value first, if anything."""
    if column.family == "local":
        return _local
    if column.family == "json":
        return _json
    if column.family == "array":
        return None if _cast(column)[1] == "" else _texts
    return None if _bare(column.type) in _NATIVE else _text


def _local(value: datetime) -> datetime:
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _texts(values: Sequence[Any]) -> list[Any]:
    return [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
