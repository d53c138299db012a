"""The journal, as rows: added and read, never changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Execution, Status
from pegboard.store import models
from pegboard.store.types import is_uuid

_executions = models.table_of(models.Execution)
_FIELDS = tuple(Execution._fields)
_COLUMNS = tuple(_executions.c[name] for name in _FIELDS)
# PostgreSQL refuses longer index entries, and a call must never be missing from the journal.
_INDEXED = ("tool_name", "tool_id", "caller_id")
_INDEXED_LENGTH = 255


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which executions a list holds; `tool` is a name or an id, None means no matter."""

    caller_id: str | None = None
    tool: str | None = None
    status: Status | None = None
    code: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def add(conn: AsyncConnection, execution: Execution) -> None:
    """Append one row."""
    await add_all(conn, [execution])


async def add_all(conn: AsyncConnection, executions: Sequence[Execution]) -> None:
    """Append rows, all of them or none; one that is there already stays, so a batch may be tried again."""
    if executions:
        insert = postgresql.insert if conn.dialect.name == "postgresql" else sqlite.insert
        statement = insert(_executions).on_conflict_do_nothing(index_elements=[_executions.c.id])
        await conn.execute(statement, [_row(execution) for execution in executions])


async def get(conn: AsyncConnection, execution_id: str) -> Execution | None:
    """The execution with this id."""
    if not is_uuid(execution_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_executions.c.id == execution_id))).first()
    return _execution(row) if row else None


async def page(
    conn: AsyncConnection, wanted: ExecutionFilter, *, before: str | None = None, limit: int
) -> list[Execution]:
    """Executions, newest first; `before` is the id of the last one seen."""
    return [_execution(row) for row in await conn.execute(page_query(wanted, before=before, limit=limit))]


def page_query(wanted: ExecutionFilter, *, before: str | None, limit: int) -> Select[Any]:
    """The query behind `page`."""
    columns = _executions.c
    query = select(*_COLUMNS)
    if wanted.tool is not None:
        by_id = is_uuid(wanted.tool)
        wanted_tool = str(UUID(wanted.tool)) if by_id else wanted.tool[:_INDEXED_LENGTH]
        query = query.where((columns.tool_id if by_id else columns.tool_name) == wanted_tool)
    for name in ("caller_id", "status", "code"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(columns[name] == value)
    if wanted.since is not None:
        query = query.where(columns.started_at >= wanted.since)
    if wanted.until is not None:
        query = query.where(columns.started_at < wanted.until)
    if before is not None:
        query = query.where(columns.id < before)
    return query.order_by(columns.id.desc()).limit(limit)


def _row(execution: Execution) -> dict[str, Any]:
    row = {name: getattr(execution, name) for name in _FIELDS}
    for name in _INDEXED:
        row[name] = row[name] and row[name][:_INDEXED_LENGTH]
    if not _is_json(execution.arguments):
        row["arguments"] = repr(execution.arguments)
    return row


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _execution(row: Row[Any]) -> Execution:
    return Execution(**row._mapping)
