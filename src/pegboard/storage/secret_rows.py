"""Rows of named secrets, and of all encrypted values, for the rotation of keys."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Row, Select, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import Secret
from pegboard.model.json_text import is_uuid
from pegboard.storage import board_tables, journal_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import has_id

_secrets = get_table(board_tables.Secret)
_tools = get_table(board_tables.Tool)
_versions = get_table(board_tables.ToolVersion)
_SEALED_COLUMN = {"secrets": "sealed", "tool_versions": "definition", "intents": "answer"}
_COLUMNS = tuple(_secrets.c[name] for name in Secret.__dataclass_fields__)

_intents = get_table(journal_tables.Intent)

SealedTable = Literal["secrets", "tools", "tool_versions", "intents"]
_SEALED_TABLES: tuple[SealedTable, ...] = ("secrets", "tools", "tool_versions", "intents")


async def put_secret(conn: AsyncConnection, secret: Secret, *, revision: int) -> None:
    """Insert or update a secret."""
    values = {**asdict(secret), "revision": revision}
    done = await conn.execute(update(_secrets).where(_secrets.c.id == secret.id).values(values))
    if done.rowcount == 0:
        await conn.execute(insert(_secrets).values(values))


async def get_secret(conn: AsyncConnection, secret_id: str) -> Secret | None:
    """Return the secret with this id, removed or not."""
    if not is_uuid(secret_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_secrets.c.id == secret_id))).first()
    return _read_secret(row) if row else None


async def find_secret_by_name(conn: AsyncConnection, owner_id: str, name: str) -> Secret | None:
    """Return the owner's secret of exactly this name, removed or not."""
    if not is_uuid(owner_id):
        return None
    query = select(*_COLUMNS).where(_secrets.c.owner_id == owner_id, _secrets.c.name == name)
    row = (await conn.execute(query)).first()
    return _read_secret(row) if row else None


async def list_secrets(
    conn: AsyncConnection, owner_id: str | None = None, *, after: str | None = None, limit: int
) -> list[Secret]:
    """Return secrets that are not removed, of one owner or all, oldest first; `after` is the last id seen."""
    query = select(*_COLUMNS).where(_secrets.c.sealed.is_not(None))
    if owner_id is not None:
        query = query.where(has_id(_secrets.c.owner_id, owner_id))
    if after is not None:
        query = query.where(_secrets.c.id > after)
    return [_read_secret(row) for row in await conn.execute(query.order_by(_secrets.c.id).limit(limit))]


async def list_changed_secrets(conn: AsyncConnection, since: int) -> list[Secret]:
    """Return every secret that changed after a revision, including removed ones."""
    return [_read_secret(row) for row in await conn.execute(select(*_COLUMNS).where(_secrets.c.revision > since))]


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row with encrypted values: text for a secret or answer, `{config, sealed_auth}` for a tool, or a definition."""

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
    if row.table == "tools":
        values = {"config": new_value["config"], "auth_config": new_value["sealed_auth"]}
    else:
        values = {_SEALED_COLUMN[row.table]: new_value}
    if revision is not None and row.table in ("secrets", "tools"):
        values["revision"] = revision
    table = {"secrets": _secrets, "tools": _tools, "tool_versions": _versions, "intents": _intents}[row.table]
    await conn.execute(update(table).where(table.c.id == row.id).values(values))
    return True


def _build_sealed_query(table: SealedTable) -> Select[Any]:
    if table == "secrets":
        query = select(_secrets.c.id, _secrets.c.id.label("subject"), _secrets.c.sealed)
        return query.where(_secrets.c.sealed.is_not(None))
    if table == "tools":
        return select(_tools.c.id, _tools.c.id.label("subject"), _tools.c.config, _tools.c.auth_config)
    if table == "intents":
        query = select(_intents.c.id, _intents.c.id.label("subject"), _intents.c.answer)
        return query.where(_intents.c.answer.is_not(None))
    return select(_versions.c.id, _versions.c.tool_id.label("subject"), _versions.c.definition)


def _get_sealed_value(table: SealedTable, row: Row[Any]) -> Any:
    if table == "tools":
        return {"config": row.config, "sealed_auth": row.auth_config}
    return getattr(row, _SEALED_COLUMN[table])


def _read_secret(row: Row[Any]) -> Secret:
    return Secret(**row._mapping)
