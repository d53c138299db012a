"""Where the journal's rows stand in their writers' chains: looked up and counted.

Whoever tampers with the journal may have put anything anywhere, so nothing here trusts a column's type.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, literal, select, true
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Execution
from pegboard.store import journal_models
from pegboard.store.base_models import table_of
from pegboard.store.executions import FIELDS, Linked, Row, linked, stored

_executions = table_of(journal_models.Execution)
_c = _executions.c


class Window(NamedTuple):
    """Some consecutive rows of a chain: how many, where they end, and the first of them in a span of time."""

    rows: int
    last: int
    first_within: int | None


class Some(NamedTuple):
    """How many rows there are, and the id of one of them."""

    rows: int
    id: str | None


async def readable(conn: AsyncConnection, writer: int, *, after: int, limit: int) -> list[Linked]:
    """The next rows of a chain; one that nobody could have written and nobody can read has nothing in it."""
    try:
        return await linked(conn, writer, after=after, limit=limit)
    except (ValueError, TypeError, DBAPIError) as error:
        _is_nonsense(error)
    if limit > 1:
        return await readable(conn, writer, after=after, limit=max(1, limit // 8))
    query = select(_c.seq).where(_c.writer == writer, _c.seq > after).order_by(_c.seq).limit(1)
    seq = await _scalar(conn, query)
    mac = await mac_at(conn, writer, seq) if type(seq) is int else None
    return [Linked(writer, seq, mac or "", ())]


async def mac_at(conn: AsyncConnection, writer: int, seq: int) -> str | None:
    """The MAC of one row, if it is there and has one."""
    found = await _scalar(conn, select(_c.mac).where(_c.writer == writer, _c.seq == seq))
    return found if isinstance(found, str) else None


async def last_before(conn: AsyncConnection, writer: int, seq: int) -> int:
    """The number of the last row before this one; 0 if there is none."""
    found = (await conn.execute(select(func.max(_c.seq)).where(_c.writer == writer, _c.seq < seq))).scalar_one()
    return found if isinstance(found, int) else 0


async def count_between(conn: AsyncConnection, writer: int, after: int, last: int) -> int:
    """How many rows of a chain lie after one number, up to another."""
    query = select(func.count()).where(_c.writer == writer, _c.seq > after, _c.seq <= last)
    return (await conn.execute(query.select_from(_executions))).scalar_one()


async def misplaced(conn: AsyncConnection, writer: int, marker: int) -> Some:
    """Rows that name a writer but stand at or before its prune marker, or nowhere."""
    # One by one: together they would be looked for in all rows of the writer.
    nowhere = await _some(conn, and_(_c.writer == writer, _c.seq.is_(None)))
    before = await _some(conn, and_(_c.writer == writer, _c.seq <= marker))
    return Some(nowhere.rows + before.rows, nowhere.id or before.id)


async def next_writer(conn: AsyncConnection, after: float | None) -> int | float | None:
    """The next number that any row names as its writer; infinity for what is no number and comes after all of them."""
    condition = _named_after(after)
    if not (await conn.execute(select(literal(1)).where(condition).limit(1))).first():
        return None
    found = await _scalar(conn, select(_c.writer).where(condition).order_by(_c.writer).limit(1))
    return found if isinstance(found, int | float) else math.inf


async def rows_naming(conn: AsyncConnection, after: float | None, writer: float) -> Some:
    """The rows that name this as their writer, where it is the next one `after` another."""
    return await _some(conn, _c.writer == writer if math.isfinite(writer) else _named_after(after))


async def window(
    conn: AsyncConnection, writer: int, *, after: int, limit: int, since: datetime | None, until: datetime | None
) -> Window:
    """The next rows of a chain, looked at without reading them; `first_within` finished in the given span."""
    query = select(_c.seq, _c.finished_at).where(_c.writer == writer, _c.seq > after)
    rows = query.order_by(_c.seq).limit(limit).subquery()
    within: ColumnElement[bool] = true()
    if since is not None:
        within = and_(within, rows.c.finished_at >= since)
    if until is not None:
        within = and_(within, rows.c.finished_at < until)
    first = func.min(rows.c.seq).filter(within)
    count, last, first_within = (await conn.execute(select(func.count(), func.max(rows.c.seq), first))).one()
    return Window(count, last if isinstance(last, int) else after, first_within)


async def gaps(conn: AsyncConnection, writer: int, *, after: int, last: int, limit: int) -> list[tuple[int, int]]:
    """The ranges of numbers that no row has, after one number and up to the row with another."""
    before = func.lag(_c.seq, 1, after).over(order_by=_c.seq).label("before")
    query = select(_c.seq, before).where(_c.writer == writer, _c.seq > after, _c.seq <= last).subquery()
    found = select(query.c.before + 1, query.c.seq - 1).where(query.c.seq > query.c.before + 1)
    return [(row[0], row[1]) for row in await conn.execute(found.order_by(query.c.seq).limit(limit))]


async def unchained(conn: AsyncConnection, *, since: datetime | None = None, until: datetime | None = None) -> int:
    """How many rows are in no chain at all, of those that began after or finished before a moment."""
    query = select(func.count()).where(_c.writer.is_(None)).select_from(_executions)
    if since is not None:
        query = query.where(_c.started_at > since)
    if until is not None:
        query = query.where(_c.finished_at < until)
    return (await conn.execute(query)).scalar_one()


async def last_unchained(conn: AsyncConnection) -> str | None:
    """The last id of a row that is in no chain."""
    found = (await conn.execute(select(func.max(cast(_c.id, Text))).where(_c.writer.is_(None)))).scalar_one()
    return _dashed(found)


async def unchained_page(conn: AsyncConnection, *, after: str | None, last: str, limit: int) -> list[Row]:
    """Rows in no chain as they are stored, by id, from after one up to another."""
    # Not the bare column: by its index, all of the rows would be sorted for every page.
    query = select(*(_c[name] for name in FIELDS)).where((_c.writer + 0).is_(None), _c.id <= last)
    if after is not None:
        query = query.where(_c.id > after)
    found = await conn.execute(query.order_by(_c.id).limit(limit))
    return [stored(Execution(**row._mapping)) for row in found]


def _named_after(writer: float | None) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = _c.writer.is_not(None) if writer is None else _c.writer > writer
    return condition


async def _some(conn: AsyncConnection, condition: ColumnElement[bool]) -> Some:
    # As text: a minimum of ids as they are is not to be had on PostgreSQL, and on SQLite leads past the index.
    one = _dashed(await _scalar(conn, select(func.min(cast(_c.id, Text))).where(condition)))
    return Some((await conn.execute(select(func.count()).select_from(_executions).where(condition))).scalar_one(), one)


async def _scalar(conn: AsyncConnection, query: Select[Any]) -> Any:
    """What a query gives; None where that can be no value of ours."""
    try:
        return (await conn.execute(query)).scalar()
    except (ValueError, DBAPIError) as error:
        _is_nonsense(error)
        return None


def _is_nonsense(error: Exception) -> None:
    """Raise the error again, unless it only says that what SQLite has stored is no value of its column."""
    if isinstance(error, DBAPIError) and "Could not decode" not in str(error.orig):
        raise error


def _dashed(text: str | None) -> str | None:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}" if text and len(text) == 32 else text
