"""Rows of the journal: inserted and read, never updated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Text, TextClause, Tuple, cast, func, literal, select, tuple_, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.call import Execution
from pegboard.model.filters import SEARCHED_FIELDS, ExecutionFilter
from pegboard.model.ids import MAX_CLOCK_LEAD, make_lowest_id
from pegboard.model.journal_row import FIELDS, MAX_INDEXED_CHARS, STORED_COLUMNS, ColumnType, JournalColumn, StoredRow
from pegboard.model.json_text import is_uuid
from pegboard.storage import journal_tables
from pegboard.storage.journal_tables import executions

_COLUMNS = tuple(executions.c[name] for name in FIELDS)
# How far a call's start may be from the time in its id, which is taken right after: the clock may be set in between.
_ID_TIME_SLACK = 3 * MAX_CLOCK_LEAD
_FIRST_ID, _LAST_ID = "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"

# A column, its required value, and the condition of its partial index.
_EqualityCondition = tuple[ColumnElement[str], str, TextClause | None]


async def get_execution(conn: AsyncConnection, execution_id: str) -> Execution | None:
    """Return the execution with this id, or None."""
    if not is_uuid(execution_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(executions.c.id == execution_id))).mappings().first()
    return Execution(**row) if row else None


async def list_executions(
    conn: AsyncConnection,
    wanted: ExecutionFilter,
    *,
    before: str | None = None,
    lowest: str | None = None,
    limit: int,
) -> list[Execution]:
    """Return executions, newest first; `before` is the id of the last one seen, and `lowest` the last one to read."""
    query = build_executions_query(wanted, conn.dialect.name, before=before, limit=limit, lowest=lowest)
    return [Execution(**row) for row in (await conn.execute(query)).mappings()]


async def find_last_searched(
    conn: AsyncConnection, wanted: ExecutionFilter, *, before: str | None, rows: int
) -> tuple[str, datetime] | None:
    """Return id and start of the last of this many rows that match the indexed fields; None if there are fewer."""
    indexed = replace(wanted, **dict.fromkeys((*SEARCHED_FIELDS, "min_ms")))
    query = build_executions_query(indexed, conn.dialect.name, before=before, limit=1).offset(rows - 1)
    columns = executions.c
    row = (await conn.execute(query.with_only_columns(columns.id, columns.started_at))).first()
    return None if row is None else (row[0], row[1])


def build_executions_query(
    wanted: ExecutionFilter, database: str, *, before: str | None, limit: int, lowest: str | None = None
) -> Select[Any]:
    """Return the query of `list_executions`, which scans one index and never sorts."""
    columns = executions.c
    query = select(*_COLUMNS).limit(limit)
    for name in SEARCHED_FIELDS:
        if (value := getattr(wanted, name)) is not None:
            query = query.where(columns[name] == value)
    if wanted.min_ms is not None:
        query = query.where(columns.elapsed_ms >= wanted.min_ms)
    low, high = _FIRST_ID, before.lower() if before is not None else _LAST_ID
    # Ids sort by time, and every index contains them in that order; the exact time is filtered afterwards.
    if wanted.since is not None:
        query = query.where(columns.started_at >= wanted.since)
        low = make_lowest_id(_shift_moment(wanted.since, -_ID_TIME_SLACK))
    if wanted.until is not None:
        query = query.where(columns.started_at < wanted.until)
        high = min(high, make_lowest_id(_shift_moment(wanted.until, _ID_TIME_SLACK)))
    if lowest is not None:
        low = max(low, lowest.lower())
    if wanted.status == "succeeded":
        query = query.where(columns.status == wanted.status)  # most rows match, so there is no index for it
    if wanted.tool_id is not None:
        query = query.where(columns.tool_id == wanted.tool_id.lower())
    walked, others = _split_conditions(wanted)
    for _, _, index_holds in (*walked, *others):
        if index_holds is not None:
            query = query.where(index_holds)  # the exact condition of the partial index, or it is not used
    if database == "postgresql" and walked:
        # PostgreSQL would rather scan all executions by id than an index of a few old rows, unless only this index has
        # the requested order.
        order = [*(column for column, _, _ in walked), columns.id]
        place = tuple_(*order)
        query = query.where(place >= _build_index_position(walked, low), place < _build_index_position(walked, high))
        query = query.order_by(*(column.desc() for column in order))
    else:
        query = query.where(columns.id >= low, columns.id < high).order_by(columns.id.desc())
        others = [*walked, *others]
    return query.where(*(column == value for column, value, _ in others))


def _split_conditions(wanted: ExecutionFilter) -> tuple[list[_EqualityCondition], list[_EqualityCondition]]:
    """Return the equality conditions: first those of one index, probably the most selective, then the rest."""
    columns = executions.c
    whose: list[_EqualityCondition] = []
    ended: list[_EqualityCondition] = []
    with_code: list[_EqualityCondition] = []
    if wanted.tool is not None:
        whose.append((columns.tool_name, wanted.tool[:MAX_INDEXED_CHARS], None))
    if wanted.caller_id is not None:
        whose.append((columns.caller_id, wanted.caller_id[:MAX_INDEXED_CHARS], None))
    if wanted.status is not None and wanted.status != "succeeded":
        ended.append((columns.status, wanted.status, journal_tables.IS_NOT_SUCCEEDED))
    if wanted.code is not None:
        with_code.append((columns.code, wanted.code, journal_tables.HAS_CODE))
    if whose and ended:
        return [whose[-1], *ended], [*whose[:-1], *with_code]
    found = [*whose, *ended, *with_code]
    return found[-1:], found[:-1]


def _build_index_position(walked: Sequence[_EqualityCondition], execution_id: str) -> Tuple:
    values = (literal(value, column.type) for column, value, _ in walked)
    return tuple_(*values, literal(execution_id, executions.c.id.type))


class ChainRow(NamedTuple):
    """A row of the journal with its position in its writer's chain."""

    writer: int
    seq: int
    mac: str
    row: StoredRow


async def list_chain_rows(conn: AsyncConnection, writer: int, *, after: int, limit: int) -> list[ChainRow]:
    """Return the next rows of one writer's chain."""
    columns = executions.c
    place = (columns.writer, columns.seq, columns.mac)
    query = select(*place, *(_build_stored_column(column, conn.dialect.name) for column in STORED_COLUMNS))
    query = query.where(columns.writer == writer, columns.seq > after).order_by(columns.seq).limit(limit)
    return [ChainRow(row[0], row[1], row[2], tuple(row[3:])) for row in await conn.execute(query)]


def _build_stored_column(stored: JournalColumn, database: str) -> ColumnElement[Any]:
    column = executions.c[stored.name]
    if stored.type is ColumnType.MOMENT:
        if database == "sqlite":
            return type_coerce(column, Text)
        return func.to_char(func.timezone("UTC", column), "YYYY-MM-DD HH24:MI:SS.US")
    return cast(column, Text) if stored.type.is_json else column


def _shift_moment(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment + span
    except OverflowError:
        return moment
