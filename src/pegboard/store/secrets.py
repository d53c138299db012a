"""Named secrets, as rows; and every row that holds sealed values, for when keys are rotated."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Row, Select, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.people import Secret
from pegboard.store import journal_models, models
from pegboard.store.base_models import table_of
from pegboard.store.types import has_id, is_uuid

_secrets = table_of(models.Secret)
_tools = table_of(models.Tool)
_versions = table_of(models.ToolVersion)
_SEALED_COLUMN = {"secrets": "sealed", "tool_versions": "definition", "intents": "answer"}
_COLUMNS = tuple(_secrets.c[name] for name in Secret.__dataclass_fields__)

_intents = table_of(journal_models.Intent)

SealedTable = Literal["secrets", "tools", "tool_versions", "intents"]
_SEALED_TABLES: tuple[SealedTable, ...] = ("secrets", "tools", "tool_versions", "intents")


async def put(conn: AsyncConnection, secret: Secret, *, revision: int) -> None:
    """Keep a secret as it is now, new or not."""
    values = {**asdict(secret), "revision": revision}
    done = await conn.execute(update(_secrets).where(_secrets.c.id == secret.id).values(values))
    if done.rowcount == 0:
        await conn.execute(insert(_secrets).values(values))


async def get(conn: AsyncConnection, secret_id: str) -> Secret | None:
    """The secret with this id, removed or not."""
    if not is_uuid(secret_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_secrets.c.id == secret_id))).first()
    return _secret(row) if row else None


async def named(conn: AsyncConnection, owner_id: str, name: str) -> Secret | None:
    """The secret of exactly this name of an owner, removed or not."""
    if not is_uuid(owner_id):
        return None
    query = select(*_COLUMNS).where(_secrets.c.owner_id == owner_id, _secrets.c.name == name)
    row = (await conn.execute(query)).first()
    return _secret(row) if row else None


async def page(
    conn: AsyncConnection, owner_id: str | None = None, *, after: str | None = None, limit: int
) -> list[Secret]:
    """Secrets not removed, of one owner or all, oldest first; `after` is the id of the last one seen."""
    query = select(*_COLUMNS).where(_secrets.c.sealed.is_not(None))
    if owner_id is not None:
        query = query.where(has_id(_secrets.c.owner_id, owner_id))
    if after is not None:
        query = query.where(_secrets.c.id > after)
    return [_secret(row) for row in await conn.execute(query.order_by(_secrets.c.id).limit(limit))]


async def changed(conn: AsyncConnection, since: int) -> list[Secret]:
    """Every secret that changed after a revision, removed ones included."""
    return [_secret(row) for row in await conn.execute(select(*_COLUMNS).where(_secrets.c.revision > since))]


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row with sealed values: text for a secret or an answer, `{config, sealed_auth}` for a tool, a definition."""

    table: SealedTable
    id: str
    subject: str
    value: Any


async def sealed(conn: AsyncConnection, *, after: SealedRow | None = None, limit: int = 500) -> list[SealedRow]:
    """The next rows that hold sealed values, `after` being the last one seen; none when all were seen."""
    start = _SEALED_TABLES.index(after.table) if after else 0
    for table in _SEALED_TABLES[start:]:
        query = _sealed_query(table)
        key = query.selected_columns["id"]
        if after is not None and after.table == table:
            query = query.where(key > after.id)
        rows = (await conn.execute(query.order_by(key).limit(limit))).all()
        if rows:
            return [SealedRow(table, row.id, row.subject, _sealed_value(table, row)) for row in rows]
    return []


async def replace(conn: AsyncConnection, row: SealedRow, new_value: Any, *, revision: int | None = None) -> bool:
    """Put a new value in a row unless it holds another than was read; inside a write transaction."""
    query = _sealed_query(row.table)
    now = (await conn.execute(query.where(query.selected_columns["id"] == row.id).with_for_update())).first()
    if now is None or _sealed_value(row.table, now) != row.value:
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


def _sealed_query(table: SealedTable) -> Select[Any]:
    if table == "secrets":
        query = select(_secrets.c.id, _secrets.c.id.label("subject"), _secrets.c.sealed)
        return query.where(_secrets.c.sealed.is_not(None))
    if table == "tools":
        return select(_tools.c.id, _tools.c.id.label("subject"), _tools.c.config, _tools.c.auth_config)
    if table == "intents":
        query = select(_intents.c.id, _intents.c.id.label("subject"), _intents.c.answer)
        return query.where(_intents.c.answer.is_not(None))
    return select(_versions.c.id, _versions.c.tool_id.label("subject"), _versions.c.definition)


def _sealed_value(table: SealedTable, row: Row[Any]) -> Any:
    if table == "tools":
        return {"config": row.config, "sealed_auth": row.auth_config}
    return getattr(row, _SEALED_COLUMN[table])


def _secret(row: Row[Any]) -> Secret:
    return Secret(**row._mapping)
