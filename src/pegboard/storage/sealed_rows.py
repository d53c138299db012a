"""All encrypted values in the database, for the rotation of keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Row, Select, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import Secret
from pegboard.storage import board_tables, journal_tables
from pegboard.storage.board_tables import get_table

_secrets = get_table(board_tables.Secret)
_tools = get_table(board_tables.Tool)
_versions = get_table(board_tables.ToolVersion)
_upstreams = get_table(board_tables.UpstreamRow)
_SEALED_COLUMN = {"secrets": "sealed", "tool_versions": "definition", "intents": "answer"}
_COLUMNS = tuple(_secrets.c[name] for name in Secret.__dataclass_fields__)

_intents = get_table(journal_tables.Intent)

SealedTable = Literal["secrets", "tools", "tool_versions", "upstreams", "intents"]
_SEALED_TABLES: tuple[SealedTable, ...] = ("secrets", "tools", "tool_versions", "upstreams", "intents")
_TABLES = {
    "secrets": _secrets,
    "tools": _tools,
    "tool_versions": _versions,
    "upstreams": _upstreams,
    "intents": _intents,
}
# Their config and auth_config are two columns.
_CONFIG_TABLES = ("tools", "upstreams")
# Their rows change with the board's revision.
_SNAPSHOT_TABLES = ("secrets", *_CONFIG_TABLES)


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row with encrypted values.

    These are the text of a secret or answer, `{config, sealed_auth}` of a tool or upstream, or a definition.
    """

    table: SealedTable
    id: str
    subject: str
    value: Any


async def list_sealed_rows(
    conn: AsyncConnection, *, after: SealedRow | None = None, limit: int = 500
) -> list[SealedRow]:
    """Return the next rows with encrypted values, `after` being the last one seen; empty at the end."""
    start = _SEALED_TABLES.index(after.table) if after else 0
    for table in _SEALED_TABLES[start:]:
        query = _build_sealed_query(table)
        key = query.selected_columns["id"]
        if after is not None and after.table == table:
            query = query.where(key > after.id)
        rows = (await conn.execute(query.order_by(key).limit(limit))).all()
        if rows:
            return [SealedRow(table, row.id, row.subject, _get_sealed_value(table, row)) for row in rows]
    return []


async def replace_sealed_value(
    conn: AsyncConnection, row: SealedRow, new_value: Any, *, revision: int | None = None
) -> bool:
    """Replace the value of a row and return True, unless it changed since it was read; needs a write transaction."""
    query = _build_sealed_query(row.table)
    now = (await conn.execute(query.where(query.selected_columns["id"] == row.id).with_for_update())).first()
    if now is None or _get_sealed_value(row.table, now) != row.value:
        return False
    if row.table in _CONFIG_TABLES:
        values = {"config": new_value["config"], "auth_config": new_value["sealed_auth"]}
    else:
        values = {_SEALED_COLUMN[row.table]: new_value}
    if revision is not None and row.table in _SNAPSHOT_TABLES:
        values["revision"] = revision
    table = _TABLES[row.table]
    await conn.execute(update(table).where(table.c.id == row.id).values(values))
    return True


def _build_sealed_query(table: SealedTable) -> Select[Any]:
    if table == "secrets":
        query = select(_secrets.c.id, _secrets.c.id.label("subject"), _secrets.c.sealed)
        return query.where(_secrets.c.sealed.is_not(None))
    if table in _CONFIG_TABLES:
        columns = _TABLES[table].c
        return select(columns.id, columns.id.label("subject"), columns.config, columns.auth_config)
    if table == "intents":
        query = select(_intents.c.id, _intents.c.id.label("subject"), _intents.c.answer)
        return query.where(_intents.c.answer.is_not(None))
    return select(_versions.c.id, _versions.c.tool_id.label("subject"), _versions.c.definition)


def _get_sealed_value(table: SealedTable, row: Row[Any]) -> Any:
    if table in _CONFIG_TABLES:
        return {"config": row.config, "sealed_auth": row.auth_config}
    return getattr(row, _SEALED_COLUMN[table])
