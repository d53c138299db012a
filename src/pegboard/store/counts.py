"""How many calls there were, by hour, tool, caller, outcome and latency: added up as rows are, read for statistics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.store import journal_models
from pegboard.store.base_models import table_of

# Whose calls a row counts, where it counts those of all callers together.
EVERYBODY = ""

_counts = table_of(journal_models.ExecutionCount)
_executions = table_of(journal_models.Execution)
_writers = table_of(journal_models.Writer)

_COLUMNS = "hour, tool_name, caller_id, status, code, bucket, calls"
_ADDED = (
    "ON CONFLICT (hour, tool_name, caller_id, status, code, bucket)"
    " DO UPDATE SET calls = execution_counts.calls + excluded.calls"
)
# One row each, and seven columns of rows; both in the order of `_COLUMNS`.
SQLITE_UPSERT = f"INSERT INTO execution_counts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) {_ADDED}"  # noqa: S608 -- nothing but our own words
POSTGRESQL_UPSERT = (
    f"INSERT INTO execution_counts ({_COLUMNS})"  # noqa: S608 -- nothing but our own words
    " SELECT * FROM unnest($1::int4[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int4[], $7::int8[])"
    f" {_ADDED}"
)

# Enough to be worth a trip to the database, few enough to go through without holding anybody else up.
_PART = 1000


async def counted(
    conn: AsyncConnection, hours: range, *, tool_name: str | None = None, caller_id: str | None = None
) -> AsyncIterator[Sequence[Any]]:
    """Rows of (tool_name, status, code, bucket, calls) from these hours, some at a time; no name is no such tool."""
    ends = select(
        select(func.min(_counts.c.hour)).scalar_subquery(), select(func.max(_counts.c.hour)).scalar_subquery()
    )
    first, last = (await conn.execute(ends)).one()
    if first is None:
        return
    hours = range(max(hours.start, first), min(hours.stop, last + 1))
    if hours:
        query = counted_query(hours, tool_name=tool_name, caller_id=caller_id)
        async with conn.stream(query) as found:
            async for part in found.partitions(_PART):
                yield part


def counted_query(hours: range, *, tool_name: str | None, caller_id: str | None) -> Select[Any]:
    """The query behind `counted`, hour by hour: within one of them the key leads straight to a caller's rows."""
    columns = _counts.c
    hour = select(literal(hours.start).label("hour")).cte("hours", recursive=True)
    hour = hour.union_all(select(hour.c.hour + 1).where(hour.c.hour < hours.stop - 1))
    alike = (columns.tool_name, columns.status, columns.code, columns.bucket)
    query = select(*alike, func.sum(columns.calls)).join_from(hour, _counts, columns.hour == hour.c.hour)
    # The same again as a span: PostgreSQL cannot know how few hours those are.
    query = query.where(columns.hour >= hours.start, columns.hour < hours.stop)
    query = query.where(columns.caller_id == (EVERYBODY if caller_id is None else caller_id))
    if tool_name is not None:
        query = query.where(columns.tool_name == tool_name)
    return query.group_by(*alike)


async def uncounted(
    conn: AsyncConnection,
    since: datetime,
    until: datetime,
    *,
    tool_name: str | None = None,
    caller_id: str | None = None,
) -> AsyncIterator[Sequence[Any]]:
    """Rows of (tool_name, status, code, elapsed_ms, seq) that no count holds yet, some at a time."""
    writers = select(_writers.c.number, _writers.c.counted_seq).where(_writers.c.seq > _writers.c.counted_seq)
    columns = _executions.c
    name = case((columns.tool_id.is_(None), ""), else_=columns.tool_name)
    query = select(name, columns.status, func.coalesce(columns.code, ""), columns.elapsed_ms, columns.seq)
    query = query.where(columns.started_at >= since, columns.started_at < until)
    if caller_id is not None:
        query = query.where(columns.caller_id == caller_id)
    if tool_name is not None:
        query = query.where(name == tool_name)
    # Writer by writer: what a database expects of a join here is a walk through all executions.
    for number, after in (await conn.execute(writers)).all():
        place, full = after, True
        while full:
            here = query.where(columns.writer == number, columns.seq > place).order_by(columns.seq).limit(_PART)
            part = (await conn.execute(here)).all()
            full = len(part) == _PART
            if part:
                place = part[-1].seq
                yield part
