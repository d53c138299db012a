"""The journal, as rows: added and read, never changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Text, TextClause, Tuple, cast, func, literal, select, tuple_, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Execution, Status
from pegboard.core.ids import AHEAD, first_id
from pegboard.store import journal_models
from pegboard.store.base_models import table_of
from pegboard.store.types import is_uuid, json_text, storable

_executions = table_of(journal_models.Execution)
FIELDS = tuple(Execution._fields)
# The fields that rows have only since migrations 0004 and 0007; those from before end there.
PRINTED = FIELDS.index("printed")
TRIES = FIELDS.index("tries")
_COLUMNS = tuple(_executions.c[name] for name in FIELDS)
# PostgreSQL refuses longer index entries, and a call must never be missing from the journal.
_INDEXED_LENGTH = 255

# How far a call's beginning may be from the time in its id, which is taken right after: the clock may be set between.
_SLACK = 3 * AHEAD
_FIRST, _LAST = "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"

Row = tuple[Any, ...]
# A column, the value it has, and what its index holds alone.
_Alike = tuple[ColumnElement[str], str, TextClause | None]


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which executions a list holds; None means no matter. A `tool_id` alone has no index: give its name too."""

    caller_id: str | None = None
    tool: str | None = None
    status: Status | None = None
    code: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool_id: str | None = None


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
    return [
        _execution(row) for row in await conn.execute(page_query(wanted, conn.dialect.name, before=before, limit=limit))
    ]


def page_query(wanted: ExecutionFilter, database: str, *, before: str | None, limit: int) -> Select[Any]:
    """The query behind `page`, which walks down one index and never sorts."""
    columns = _executions.c
    query = select(*_COLUMNS).limit(limit)
    low, high = _FIRST, before.lower() if before is not None else _LAST
    # Ids sort by time, and every index holds them in that order; the exact moment comes after.
    if wanted.since is not None:
        query = query.where(columns.started_at >= wanted.since)
        low = first_id(_shifted(wanted.since, -_SLACK))
    if wanted.until is not None:
        query = query.where(columns.started_at < wanted.until)
        high = min(high, first_id(_shifted(wanted.until, _SLACK)))
    if wanted.status == "succeeded":
        query = query.where(columns.status == wanted.status)  # most are, so there is no index of them
    if wanted.tool_id is not None:
        query = query.where(columns.tool_id == wanted.tool_id.lower())
    walked, others = _alike(wanted)
    for _, _, index_holds in (*walked, *others):
        if index_holds is not None:
            query = query.where(index_holds)  # in the index's very words, or it would not be used
    if database == "postgresql" and walked:
        # It would rather walk through all executions by their ids than down an index of few that lie far back,
        # unless only this index has the order that is asked for.
        order = [*(column for column, _, _ in walked), columns.id]
        place = tuple_(*order)
        query = query.where(place >= _place(walked, low), place < _place(walked, high))
        query = query.order_by(*(column.desc() for column in order))
    else:
        query = query.where(columns.id >= low, columns.id < high).order_by(columns.id.desc())
        others = [*walked, *others]
    return query.where(*(column == value for column, value, _ in others))


def _alike(wanted: ExecutionFilter) -> tuple[list[_Alike], list[_Alike]]:
    """What executions must have in common: first what one index leads to, the likely rarest, then the rest."""
    columns = _executions.c
    whose: list[_Alike] = []
    ended: list[_Alike] = []
    with_code: list[_Alike] = []
    if wanted.tool is not None:
        whose.append((columns.tool_name, wanted.tool[:_INDEXED_LENGTH], None))
    if wanted.caller_id is not None:
        whose.append((columns.caller_id, wanted.caller_id[:_INDEXED_LENGTH], None))
    if wanted.status is not None and wanted.status != "succeeded":
        ended.append((columns.status, wanted.status, journal_models.NOT_WELL))
    if wanted.code is not None:
        with_code.append((columns.code, wanted.code, journal_models.WITH_CODE))
    if whose and ended:
        return [whose[-1], *ended], [*whose[:-1], *with_code]
    found = [*whose, *ended, *with_code]
    return found[-1:], found[:-1]


def _place(walked: Sequence[_Alike], execution_id: str) -> Tuple:
    values = (literal(value, column.type) for column, value, _ in walked)
    return tuple_(*values, literal(execution_id, _executions.c.id.type))


def stored(execution: Execution) -> Row:
    """The execution as it is stored: one text, number or None a field, the same for every database."""
    it = execution
    # One look at all texts together: what no database can store is rare, and looking is on every call's way.
    texts = (
        f"{it.tool_name}{it.caller_id}{it.caller}{it.dialect}{it.key_id}{it.agent_id}{it.request_id}{it.code}"
        f"{it.error}{it.row_id}{it.chain_id}{it.thread_id}{it.repeat_of}"
    )
    if not texts.isascii() or "\0" in texts:
        cleaned: Any = (storable(value) if isinstance(value, str) else value for value in execution)
        it = Execution(*cleaned)
    return (
        it.id,
        it.tool_name[:_INDEXED_LENGTH],
        it.status,
        _moment(it.started_at),
        _moment(it.finished_at),
        float(it.elapsed_ms),  # as it is read back, since the row's MAC is over its text
        it.caller_id[:_INDEXED_LENGTH],
        it.caller,
        it.surface,
        it.dialect,
        it.attempts,
        it.tool_id,
        it.tool_version,
        it.kind,
        it.key_id,
        it.agent_id,
        it.request_id,
        it.code,
        it.error,
        it.arguments_digest,
        None if it.arguments is None else json_text(it.arguments),
        it.row_id,
        it.chain_id,
        it.thread_id,
        it.repeat_of,
        None if it.result is None else json_text(it.result),
        None if it.printed is None else storable(it.printed),
        None if it.tries is None else json_text(it.tries),
    )


def whole(row: Sequence[Any]) -> Row:
    """A stored row with every field, where it may have been written before the last ones were added."""
    return (*row, *(None,) * (len(FIELDS) - len(row))) if len(row) >= PRINTED else tuple(row)


def restored(row: Row) -> Execution:
    """The execution that was stored as this; ValueError if none was."""
    known = dict(zip(FIELDS, whole(row), strict=True))
    for name in ("started_at", "finished_at"):
        known[name] = datetime.fromisoformat(f"{known[name]}+00:00")
    for name in ("arguments", "result", "tries"):
        known[name] = None if known[name] is None else json.loads(known[name])
    return Execution(**known)


class Linked(NamedTuple):
    """A row of the journal at its place in its writer's chain."""

    writer: int
    seq: int
    mac: str
    row: Row


async def linked(conn: AsyncConnection, writer: int, *, after: int, limit: int) -> list[Linked]:
    """The next rows of one writer's chain."""
    columns = _executions.c
    place = (columns.writer, columns.seq, columns.mac)
    query = select(*place, *(_as_stored(name, conn.dialect.name) for name in FIELDS))
    query = query.where(columns.writer == writer, columns.seq > after).order_by(columns.seq).limit(limit)
    return [Linked(row[0], row[1], row[2], tuple(row[3:])) for row in await conn.execute(query)]


def _as_stored(name: str, database: str) -> ColumnElement[Any]:
    column = _executions.c[name]
    if name in ("started_at", "finished_at"):
        if database == "sqlite":
            return type_coerce(column, Text)
        return func.to_char(func.timezone("UTC", column), "YYYY-MM-DD HH24:MI:SS.US")
    return cast(column, Text) if name in ("arguments", "result", "tries") else column


def _shifted(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment + span
    except OverflowError:
        return moment


def _moment(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(" ", "microseconds")[:26]


def _execution(row: Any) -> Execution:
    return Execution(**row._mapping)
