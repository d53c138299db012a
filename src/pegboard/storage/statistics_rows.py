"""Rows of call counts by hour, tool, caller, outcome and latency: updated with the journal, read for statistics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.storage import journal_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.journal_tables import executions

# The caller id of rows that count the calls of all callers.
ALL_CALLERS = ""

_counts = get_table(journal_tables.ExecutionCount)
_writers = get_table(journal_tables.Writer)

_COLUMNS = "hour, tool_name, caller_id, status, code, bucket, calls"
_ON_CONFLICT = (
    "ON CONFLICT (hour, tool_name, caller_id, status, code, bucket)"
    " DO UPDATE SET calls = execution_counts.calls + excluded.calls"
)
# For one row, and for seven arrays of columns; both in the order of `_COLUMNS`.
SQLITE_UPSERT = f"INSERT INTO execution_counts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) {_ON_CONFLICT}"  # noqa: S608 -- nothing but our own words
POSTGRESQL_UPSERT = (
    f"INSERT INTO execution_counts ({_COLUMNS})"  # noqa: S608 -- nothing but our own words
    " SELECT * FROM unnest($1::int4[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int4[], $7::int8[])"
    f" {_ON_CONFLICT}"
)

# The name of one tool, or those of several; None matches any.
ToolNames = str | Collection[str] | None

# Enough to be worth a round trip, few enough not to block the event loop.
_ROWS_PER_PART = 1000


async def iterate_counts(
    conn: AsyncConnection,
    hours: range,
    *,
    tool_name: ToolNames = None,
    caller_id: str | None = None,
    period: int | None = None,
    by_tool: bool = True,
) -> AsyncIterator[Sequence[Any]]:
    """Yield rows of (tool_name, status, code, bucket, calls) of these hours; unknown tools have an empty name.

    With a `period`, a number of hours, the rows are (period, tool_name, status, bucket, calls), the period counted
    since 1970, and the name is empty without `by_tool`.
    """
    ends = select(
        select(func.min(_counts.c.hour)).scalar_subquery(), select(func.max(_counts.c.hour)).scalar_subquery()
    )
    first, last = (await conn.execute(ends)).one()
    if first is None:
        return
    hours = range(max(hours.start, first), min(hours.stop, last + 1))
    if hours:
        query = build_counts_query(hours, tool_name=tool_name, caller_id=caller_id, period=period, by_tool=by_tool)
        async with conn.stream(query) as found:
            async for part in found.partitions(_ROWS_PER_PART):
                yield part


def build_counts_query(
    hours: range, *, tool_name: ToolNames, caller_id: str | None, period: int | None = None, by_tool: bool = True
) -> Select[Any]:
    """Return the query of `iterate_counts`, hour by hour: within an hour the primary key leads to a caller's rows."""
    columns = _counts.c
    hour = select(literal(hours.start).label("hour")).cte("hours", recursive=True)
    hour = hour.union_all(select(hour.c.hour + 1).where(hour.c.hour < hours.stop - 1))
    alike: tuple[ColumnElement[Any], ...] = (columns.tool_name, columns.status, columns.code, columns.bucket)
    shown = alike
    if period is not None:
        place, name = (columns.hour // literal(period, literal_execute=True)).label("period"), columns.tool_name
        alike = (place, *([name] if by_tool else []), columns.status, columns.bucket)
        shown = (place, name if by_tool else literal(""), columns.status, columns.bucket)
    query = select(*shown, func.sum(columns.calls)).join_from(hour, _counts, columns.hour == hour.c.hour)
    # Also as a range: PostgreSQL cannot know how few hours the recursive query returns.
    query = query.where(columns.hour >= hours.start, columns.hour < hours.stop)
    query = query.where(columns.caller_id == (ALL_CALLERS if caller_id is None else caller_id))
    if tool_name is not None:
        query = query.where(_has_name(columns.tool_name, tool_name))
    return query.group_by(*alike)


def _has_name(column: ColumnElement[str], wanted: str | Collection[str]) -> ColumnElement[bool]:
    return column == wanted if isinstance(wanted, str) else column.in_(wanted)


async def iterate_uncounted(
    conn: AsyncConnection,
    since: datetime,
    until: datetime,
    *,
    tool_name: ToolNames = None,
    caller_id: str | None = None,
) -> AsyncIterator[Sequence[Any]]:
    """Yield rows of (tool_name, status, code, elapsed_ms, seq, started_at) that are not counted yet, in parts."""
    writers = select(_writers.c.number, _writers.c.counted_seq).where(_writers.c.seq > _writers.c.counted_seq)
    columns = executions.c
    name = case((columns.tool_id.is_(None), ""), else_=columns.tool_name)
    taken = (columns.status, func.coalesce(columns.code, ""), columns.elapsed_ms, columns.seq, columns.started_at)
    query = select(name, *taken)
    query = query.where(columns.started_at >= since, columns.started_at < until)
    if caller_id is not None:
        query = query.where(columns.caller_id == caller_id)
    if tool_name is not None:
        query = query.where(_has_name(name, tool_name))
    # Writer by writer: for a join, the databases would plan a scan of all executions.
    for number, after in (await conn.execute(writers)).all():
        place, full = after, True
        while full:
            here = (
                query.where(columns.writer == number, columns.seq > place).order_by(columns.seq).limit(_ROWS_PER_PART)
            )
            part = (await conn.execute(here)).all()
            full = len(part) == _ROWS_PER_PART
            if part:
                place = part[-1].seq
                yield part
