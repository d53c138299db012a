"""Rows of the journal by position in the hash chains: reads, counts, pruning, rows of writers, the last verification.

An attacker may have stored any value in any column, so nothing here relies on the type of a column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Text,
    and_,
    cast,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.call import Execution
from pegboard.model.ids import make_lowest_id
from pegboard.model.journal_row import FIELDS, StoredRow, serialize_execution
from pegboard.model.json_text import is_uuid
from pegboard.storage import board_tables, journal_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.execution_rows import ChainRow, list_chain_rows
from pegboard.storage.journal_tables import executions

_columns = executions.c


class ChainWindow(NamedTuple):
    """Consecutive rows of a chain: their number, the last seq, and the first seq within a time span."""

    rows: int
    last: int
    first_within: int | None


class RowSample(NamedTuple):
    """The number of matching rows, and the id of one of them."""

    rows: int
    id: str | None


async def list_readable_rows(conn: AsyncConnection, writer: int, *, after: int, limit: int) -> list[ChainRow]:
    """Return the next rows of a chain; rows that cannot be decoded are returned with an empty `row`."""
    try:
        return await list_chain_rows(conn, writer, after=after, limit=limit)
    except (ValueError, TypeError, DBAPIError) as error:
        _raise_unless_invalid_value(error)
    if limit > 1:
        return await list_readable_rows(conn, writer, after=after, limit=max(1, limit // 8))
    query = select(_columns.seq).where(_columns.writer == writer, _columns.seq > after).order_by(_columns.seq).limit(1)
    seq = await _read_scalar(conn, query)
    mac = await read_mac(conn, writer, seq) if type(seq) is int else None
    return [ChainRow(writer, seq, mac or "", ())]


async def read_mac(conn: AsyncConnection, writer: int, seq: int) -> str | None:
    """Return the MAC of a row, or None if the row does not exist or has no valid MAC."""
    found = await _read_scalar(conn, select(_columns.mac).where(_columns.writer == writer, _columns.seq == seq))
    return found if isinstance(found, str) else None


async def find_last_seq_before(conn: AsyncConnection, writer: int, seq: int) -> int:
    """Return the number of the last row before this one; 0 if there is none."""
    found = (
        await conn.execute(select(func.max(_columns.seq)).where(_columns.writer == writer, _columns.seq < seq))
    ).scalar_one()
    return found if isinstance(found, int) else 0


async def count_rows_between(conn: AsyncConnection, writer: int, after: int, last: int) -> int:
    """Return how many rows of a chain have a number greater than `after`, up to `last`."""
    query = select(func.count()).where(_columns.writer == writer, _columns.seq > after, _columns.seq <= last)
    return (await conn.execute(query.select_from(executions))).scalar_one()


async def sample_misplaced_rows(conn: AsyncConnection, writer: int, marker: int) -> RowSample:
    """Sample the rows of a writer with no number, or with one at or before its prune marker."""
    # Two queries: a combined condition would scan all rows of the writer.
    nowhere = await _sample_rows(conn, and_(_columns.writer == writer, _columns.seq.is_(None)))
    before = await _sample_rows(conn, and_(_columns.writer == writer, _columns.seq <= marker))
    return RowSample(nowhere.rows + before.rows, nowhere.id or before.id)


async def find_next_named_writer(conn: AsyncConnection, after: float | None) -> int | float | None:
    """Return the next writer number in any row; infinity for a value that is not a number, which sorts last."""
    condition = _build_writer_condition(after)
    if not (await conn.execute(select(literal(1)).where(condition).limit(1))).first():
        return None
    found = await _read_scalar(conn, select(_columns.writer).where(condition).order_by(_columns.writer).limit(1))
    return found if isinstance(found, int | float) else math.inf


async def sample_rows_naming(conn: AsyncConnection, after: float | None, writer: float) -> RowSample:
    """Sample the rows with this writer number, which is the next one `after` another."""
    return await _sample_rows(
        conn, _columns.writer == writer if math.isfinite(writer) else _build_writer_condition(after)
    )


async def read_window(
    conn: AsyncConnection, writer: int, *, after: int, limit: int, since: datetime | None, until: datetime | None
) -> ChainWindow:
    """Return the extent of the next rows of a chain without reading them; `first_within` finished in the time span."""
    query = select(_columns.seq, _columns.finished_at).where(_columns.writer == writer, _columns.seq > after)
    rows = query.order_by(_columns.seq).limit(limit).subquery()
    within: ColumnElement[bool] = true()
    if since is not None:
        within = and_(within, rows.c.finished_at >= since)
    if until is not None:
        within = and_(within, rows.c.finished_at < until)
    first = func.min(rows.c.seq).filter(within)
    count, last, first_within = (await conn.execute(select(func.count(), func.max(rows.c.seq), first))).one()
    return ChainWindow(count, last if isinstance(last, int) else after, first_within)


async def list_gaps(conn: AsyncConnection, writer: int, *, after: int, last: int, limit: int) -> list[tuple[int, int]]:
    """Return the ranges of missing row numbers after one number and up to another."""
    before = func.lag(_columns.seq, 1, after).over(order_by=_columns.seq).label("before")
    query = (
        select(_columns.seq, before)
        .where(_columns.writer == writer, _columns.seq > after, _columns.seq <= last)
        .subquery()
    )
    found = select(query.c.before + 1, query.c.seq - 1).where(query.c.seq > query.c.before + 1)
    return [(row[0], row[1]) for row in await conn.execute(found.order_by(query.c.seq).limit(limit))]


async def count_unchained_rows(
    conn: AsyncConnection, *, since: datetime | None = None, until: datetime | None = None
) -> int:
    """Return how many rows are in no chain, optionally only those that began after or finished before a given time."""
    query = select(func.count()).where(_columns.writer.is_(None)).select_from(executions)
    if since is not None:
        query = query.where(_columns.started_at > since)
    if until is not None:
        query = query.where(_columns.finished_at < until)
    return (await conn.execute(query)).scalar_one()


async def find_last_unchained_id(conn: AsyncConnection) -> str | None:
    """Return the highest id of a row that is in no chain."""
    found = (
        await conn.execute(select(func.max(cast(_columns.id, Text))).where(_columns.writer.is_(None)))
    ).scalar_one()
    return _add_dashes(found)


async def list_unchained_rows(conn: AsyncConnection, *, after: str | None, last: str, limit: int) -> list[StoredRow]:
    """Return stored rows that are in no chain, by id, after one id and up to another."""
    # Not the plain column: with its index, all of the rows would be sorted for every page.
    query = select(*(_columns[name] for name in FIELDS)).where((_columns.writer + 0).is_(None), _columns.id <= last)
    if after is not None:
        query = query.where(_columns.id > after)
    found = await conn.execute(query.order_by(_columns.id).limit(limit))
    return [serialize_execution(Execution(**row)) for row in found.mappings()]


def _build_writer_condition(writer: float | None) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = _columns.writer.is_not(None) if writer is None else _columns.writer > writer
    return condition


async def _sample_rows(conn: AsyncConnection, condition: ColumnElement[bool]) -> RowSample:
    # As text: PostgreSQL has no min() of UUIDs, and SQLite would not use the index.
    one = _add_dashes(await _read_scalar(conn, select(func.min(cast(_columns.id, Text))).where(condition)))
    return RowSample(
        (await conn.execute(select(func.count()).select_from(executions).where(condition))).scalar_one(), one
    )


async def _read_scalar(conn: AsyncConnection, query: Select[Any]) -> Any:
    """Return the value of a query; None if it cannot be decoded."""
    try:
        return (await conn.execute(query)).scalar()
    except (ValueError, DBAPIError) as error:
        _raise_unless_invalid_value(error)
        return None


def _raise_unless_invalid_value(error: Exception) -> None:
    """Raise the error again, unless it means that a value stored in SQLite does not fit its column."""
    if isinstance(error, DBAPIError) and "Could not decode" not in str(error.orig):
        raise error


def _add_dashes(text: str | None) -> str | None:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}" if text and len(text) == 32 else text


_counts = get_table(journal_tables.ExecutionCount)
_intents = get_table(journal_tables.Intent)
_receipts = get_table(journal_tables.Receipt)
_MAX_HOURS_PER_RUN = 24


async def remove_chain_rows(conn: AsyncConnection, writer: int, *, after: int, last: int) -> int:
    """Delete rows of a chain; return how many."""
    columns = executions.c
    those = delete(executions).where(columns.writer == writer, columns.seq > after, columns.seq <= last)
    return (await conn.execute(those)).rowcount


async def remove_unchained_rows(conn: AsyncConnection, before: datetime, *, limit: int) -> int:
    """Delete rows in no chain that finished before a given time; return how many."""
    columns = executions.c
    query = select(columns.id).where(columns.writer.is_(None), columns.finished_at < before).limit(limit)
    ids: Sequence[str] = (await conn.execute(query)).scalars().all()
    return (await conn.execute(delete(executions).where(columns.id.in_(ids)))).rowcount if ids else 0


async def remove_counts(conn: AsyncConnection, before: datetime) -> bool:
    """Delete the statistics of some hours that ended before a given time; return whether there were any."""
    end = int(before.timestamp() // 3600)
    first: int | None = (await conn.execute(select(func.min(_counts.c.hour)).where(_counts.c.hour < end))).scalar_one()
    if first is None:
        return False
    await conn.execute(delete(_counts).where(_counts.c.hour < min(end, first + _MAX_HOURS_PER_RUN)))
    return True


async def remove_in_doubt(conn: AsyncConnection, before: datetime, now: datetime) -> int:
    """Delete in-doubt intents from before a given time, unless their key may still be used; return how many."""
    columns = _intents.c
    those = delete(_intents).where(columns.state == "in_doubt", columns.id < make_lowest_id(before))
    those = those.where(columns.set_aside_at.is_(None))
    those = those.where(or_(columns.expires_at.is_(None), columns.expires_at <= now))
    return (await conn.execute(those)).rowcount


async def list_quarantined(conn: AsyncConnection) -> list[tuple[str, int, str]]:
    """Return the tables with quarantined entries, the number in each, and the run id of the first."""
    found = []
    for table in (_intents, _receipts):
        where = table.c.set_aside_at.is_not(None)
        first = (await conn.execute(select(table.c.id).where(where).order_by(table.c.id).limit(1))).scalar()
        if first is not None:
            count = (await conn.execute(select(func.count()).select_from(table).where(where))).scalar_one()
            found.append((table.name, count, str(first)))
    return found


async def remove_quarantined(conn: AsyncConnection, before: datetime) -> None:
    """Delete entries that were quarantined before a given time."""
    for table in (_intents, _receipts):
        await conn.execute(delete(table).where(table.c.set_aside_at < before))


_writers = get_table(journal_tables.Writer)
_MAX_OPEN_INTENTS = 1000
_board = get_table(board_tables.BoardRow)


@dataclass(frozen=True, slots=True)
class WriterRow:
    """The signed columns of a writer; an attacker who can write to the database can store any value in them."""

    number: int
    seq: int
    mac: str
    signature: str
    pruned_seq: int
    pruned_mac: str
    pruned_signature: str


_WRITER_COLUMNS = tuple(_writers.c[name] for name in WriterRow.__dataclass_fields__)


async def list_writers(conn: AsyncConnection) -> list[WriterRow]:
    """Return all writers, by number."""
    found = await conn.execute(select(*_WRITER_COLUMNS).order_by(_writers.c.number))
    return [WriterRow(**row) for row in found.mappings()]


async def get_writer(conn: AsyncConnection, number: int) -> WriterRow | None:
    """Return the writer with this number, or None."""
    row = (await conn.execute(select(*_WRITER_COLUMNS).where(_writers.c.number == number))).mappings().first()
    return WriterRow(**row) if row else None


@dataclass(frozen=True, slots=True)
class WriterProcess:
    """A process that writes to the journal, by the number of its writer."""

    number: int
    host: str
    pid: int
    started_at: datetime


async def list_writer_processes(conn: AsyncConnection, limit: int) -> list[WriterProcess]:
    """Return the processes whose writers are not closed, latest first."""
    columns = [_writers.c[name] for name in WriterProcess.__dataclass_fields__]
    query = select(*columns).where(_writers.c.closed_at.is_(None), _writers.c.number > 0)
    rows = (await conn.execute(query.order_by(_writers.c.number.desc()).limit(limit))).mappings()
    return [WriterProcess(**row) for row in rows]


async def list_open_writers(conn: AsyncConnection) -> set[str]:
    """Return the ids of the writers that are not closed."""
    return {*(await conn.execute(select(_writers.c.id).where(_writers.c.closed_at.is_(None)))).scalars()}


async def list_intents_of_closed_writers(conn: AsyncConnection) -> Sequence[Row[Any]]:
    """Return some open intents of closed writers; their calls wait for a receipt to be read."""
    columns = _intents.c
    query = select(_intents).join(_writers, _writers.c.number == columns.writer).where(columns.state == "open")
    query = query.where(_writers.c.closed_at.is_not(None), columns.set_aside_at.is_(None))
    return (await conn.execute(query.order_by(columns.id).limit(_MAX_OPEN_INTENTS))).all()


async def find_next_writer(conn: AsyncConnection, number: int) -> int | None:
    """Return the number of the next existing writer, or None."""
    query = select(_writers.c.number).where(_writers.c.number > number).order_by(_writers.c.number).limit(1)
    found: int | None = (await conn.execute(query)).scalar()
    return found


async def read_writer_count(conn: AsyncConnection) -> tuple[int, str]:
    """Return the number of writers so far and its signature."""
    columns = (_board.c.writers, _board.c.writers_signature)
    row = (await conn.execute(select(*columns).where(_board.c.id == 1))).one()
    return row[0], row[1]


async def mark_pruned(
    conn: AsyncConnection, number: int, place: tuple[int, str], signature: str, *, was: int | None = None
) -> bool:
    """Move a writer's prune marker; return False if it is no longer at `was` because another process moved it."""
    columns = _writers.c
    step = update(_writers).where(columns.number == number)
    if was is not None:
        step = step.where(columns.pruned_seq == was)
    seq, mac = place
    done = await conn.execute(step.values(pruned_seq=seq, pruned_mac=mac, pruned_signature=signature))
    return done.rowcount == 1


_verifications = get_table(journal_tables.Verification)


@dataclass(frozen=True, slots=True)
class VerificationRow:
    """A verification that reached the end of the journal, as stored; `findings` is JSON text."""

    started_at: datetime
    finished_at: datetime
    checked: int
    findings: str
    caller: str
    mac: str


class ChainLink(NamedTuple):
    """The place of a row: its writer, its number and its MAC; each None if the row is in no chain."""

    writer: int | None
    seq: int | None
    mac: str | None


async def save_verification(conn: AsyncConnection, row: VerificationRow) -> None:
    """Store the last verification in place of the one before."""
    values = asdict(row)
    if not (await conn.execute(update(_verifications).values(values))).rowcount:
        await conn.execute(insert(_verifications).values(id=1, **values))


async def get_verification(conn: AsyncConnection) -> VerificationRow | None:
    """Return the last verification, or None."""
    columns = [_verifications.c[name] for name in VerificationRow.__dataclass_fields__]
    row = (await conn.execute(select(*columns))).mappings().first()
    return None if row is None else VerificationRow(**row)


async def find_chain_link(conn: AsyncConnection, execution_id: str) -> ChainLink | None:
    """Return the place of a row in the journal, or None if there is no such row."""
    if not is_uuid(execution_id):
        return None
    columns = executions.c
    query = select(columns.writer, columns.seq, columns.mac).where(columns.id == execution_id.lower())
    row = (await conn.execute(query)).first()
    return None if row is None else ChainLink(*row)
