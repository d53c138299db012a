"""Rows of the baseline of findings, read and written in bulk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import orjson
from sqlalchemy import (
    ColumnElement,
    Text,
    Uuid,
    and_,
    bindparam,
    cast,
    delete,
    func,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import NullType

from pegboard.model.baseline_finding import BaselineFinding, KnownStatus, SeenRecord
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table

_findings = get_table(board_tables.Finding)
_COLUMNS = tuple(_findings.c[name] for name in BaselineFinding._fields)
# Rows per statement: enough to be fast, few enough that no statement is large.
CHUNK_ROWS = 10_000

T = TypeVar("T")


class Sightings(NamedTuple):
    """All sightings of one hash in one request."""

    composite_hash: str
    finding_id: str
    times: int
    first: datetime
    last: datetime
    is_now: bool
    """Whether one of them is of this very moment, which is after every other."""


class RecordCounts(NamedTuple):
    """The number of sightings: all, of new findings, of known findings, and of findings that were reopened."""

    recorded: int
    new: int
    recurring: int
    reopened: int


class ResolveCounts(NamedTuple):
    """The number of findings: resolved now, resolved before, and unknown."""

    resolved: int
    already_resolved: int
    unknown: int


_owner = bindparam("owner", type_=Uuid(as_uuid=False))
_now = bindparam("now", type_=_findings.c.resolved_at.type)
# SQLite gets the list of hashes as JSON, PostgreSQL as an array.
_HASH_CONDITIONS: dict[str, Any] = {
    "sqlite": _findings.c.composite_hash.in_(
        select(func.json_each(bindparam("hashes", type_=Text)).table_valued("value").c.value)
    ),
    # Not as an ARRAY type, which would process every single item.
    "postgresql": text("findings.composite_hash = ANY(CAST(:hashes AS text[]))"),
}
_FINDING_CONDITIONS = {kind: and_(_findings.c.owner_id == _owner, given) for kind, given in _HASH_CONDITIONS.items()}
# In the format of `write_instant`.
_FIRST_SEEN: dict[str, ColumnElement[str]] = {
    "sqlite": func.replace(type_coerce(_findings.c.first_seen_at, Text), " ", "T") + "Z",
    "postgresql": func.to_char(func.timezone("UTC", _findings.c.first_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
}
_SEEN_COLUMNS = {
    kind: (func.replace(first, ".000000Z", "Z"), _findings.c.seen_count, _findings.c.resolved_at.is_not(None))
    for kind, first in _FIRST_SEEN.items()
}
# All of it as one JSON string, which the databases and orjson handle fast; fetching a row costs more than finding it.
_LOOK_UP = {
    "sqlite": select(
        func.json_group_object(_findings.c.composite_hash, func.json_array(*_SEEN_COLUMNS["sqlite"]))
    ).where(_FINDING_CONDITIONS["sqlite"]),
    "postgresql": select(
        cast(
            func.json_object_agg(_findings.c.composite_hash, func.json_build_array(*_SEEN_COLUMNS["postgresql"])),
            Text,
        )
    ).where(_FINDING_CONDITIONS["postgresql"]),
}
# Ordered by hash, as in every statement, otherwise two transactions could deadlock.
_LOCKED_ROWS = {
    kind: select(_findings.c.composite_hash, _findings.c.resolved_at)
    .where(these)
    .order_by(_findings.c.composite_hash)
    .with_for_update()
    .subquery()
    for kind, these in _FINDING_CONDITIONS.items()
}
_LOCK_AND_COUNT = {
    kind: select(func.count(), func.count(held.c.resolved_at)).select_from(held) for kind, held in _LOCKED_ROWS.items()
}
_AGGREGATE_LIST: dict[str, Any] = {"sqlite": func.json_group_array, "postgresql": func.array_agg}
# Includes the open ones, in the format of the parameters: another statement could see, and lock, more of them.
_LOCK_AND_LIST_OPEN = {
    kind: hold.add_columns(
        type_coerce(
            _AGGREGATE_LIST[kind](_LOCKED_ROWS[kind].c.composite_hash).filter(
                _LOCKED_ROWS[kind].c.resolved_at.is_(None)
            ),
            NullType(),
        )
    )
    for kind, hold in _LOCK_AND_COUNT.items()
}
_RESOLVE = {
    kind: update(_findings).where(these, _findings.c.resolved_at.is_(None)).values(resolved_at=_now)
    for kind, these in _FINDING_CONDITIONS.items()
}
_REOPEN = {kind: update(_findings).where(these).values(resolved_at=None) for kind, these in _FINDING_CONDITIONS.items()}
_RESOLVED = select(_findings.c.composite_hash, _findings.c.resolved_at).where(
    _FINDING_CONDITIONS["sqlite"], _findings.c.resolved_at.is_not(None)
)
_RECORD_SQLITE = """
    INSERT INTO findings (owner_id, composite_hash, finding_id, seen_count, first_seen_at, last_seen_at)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (owner_id, composite_hash) DO UPDATE SET
        finding_id = excluded.finding_id,
        seen_count = seen_count + excluded.seen_count,
        first_seen_at = min(first_seen_at, excluded.first_seen_at),
        last_seen_at = max(last_seen_at, excluded.last_seen_at)
"""
_RECORD_POSTGRESQL = text("""
    WITH given AS (
        SELECT * FROM unnest(
            CAST(:hashes AS text[]), CAST(:ids AS text[]), CAST(:times AS bigint[]),
            CAST(:firsts AS timestamptz[]), CAST(:lasts AS timestamptz[])
        ) AS t (composite_hash, finding_id, seen_count, first_seen_at, last_seen_at)
    ), kept AS (
        INSERT INTO findings AS f (owner_id, composite_hash, finding_id, seen_count, first_seen_at, last_seen_at)
        SELECT :owner, given.* FROM given ORDER BY composite_hash COLLATE "C"
        ON CONFLICT (owner_id, composite_hash) DO UPDATE SET
            finding_id = excluded.finding_id,
            seen_count = f.seen_count + excluded.seen_count,
            first_seen_at = least(f.first_seen_at, excluded.first_seen_at),
            last_seen_at = greatest(f.last_seen_at, excluded.last_seen_at)
        RETURNING composite_hash, seen_count, resolved_at
    )
    SELECT
        count(*) FILTER (WHERE kept.seen_count > given.seen_count),
        array_agg(kept.composite_hash) FILTER (WHERE kept.resolved_at IS NOT NULL),
        array_agg(kept.resolved_at) FILTER (WHERE kept.resolved_at IS NOT NULL)
    FROM kept JOIN given USING (composite_hash)
""").bindparams(_owner)


async def find_seen(
    conn: AsyncConnection, owner_id: str, hashes: Sequence[str], *, batch_size: int = CHUNK_ROWS
) -> dict[str, SeenRecord]:
    """Return the records of these hashes, `batch_size` per statement; unknown hashes are left out."""
    kind = conn.dialect.name
    found: dict[str, SeenRecord] = {}
    for some in _split_chunks(sorted(set(hashes)), batch_size):
        selected = await conn.execute(_LOOK_UP[kind], _bind_hashes(kind, owner_id, some))
        found.update(orjson.loads(selected.scalar_one() or "{}"))
    return found


async def record_sightings(conn: AsyncConnection, owner_id: str, sightings: Sequence[Sightings]) -> RecordCounts:
    """Record sightings, one per hash and in order; the rows stay locked until the transaction ends."""
    kept = _record_postgresql if conn.dialect.name == "postgresql" else _record_sqlite
    known = reopened = 0
    for some in _split_chunks(sightings, CHUNK_ROWS):
        known_here, resolved = await kept(conn, owner_id, some)
        known += known_here
        again = [
            it.composite_hash
            for it in (some if resolved else ())
            if (at := resolved.get(it.composite_hash)) is not None and (it.is_now or it.last > at)
        ]
        if again:
            await conn.execute(_REOPEN[conn.dialect.name], _bind_hashes(conn.dialect.name, owner_id, again))
            reopened += len(again)
    recorded, new = sum(it.times for it in sightings), len(sightings) - known
    return RecordCounts(recorded, new, recorded - new - reopened, reopened)


async def resolve_findings(conn: AsyncConnection, owner_id: str, hashes: Sequence[str], now: datetime) -> ResolveCounts:
    """Mark open findings as resolved."""
    kind = conn.dialect.name
    distinct = sorted(set(hashes))
    known = already = 0
    for some in _split_chunks(distinct, CHUNK_ROWS):
        these = _bind_hashes(kind, owner_id, some)
        known_here, already_here, are_open = (await conn.execute(_LOCK_AND_LIST_OPEN[kind], these)).one()
        if known_here > already_here:
            await conn.execute(_RESOLVE[kind], {"owner": owner_id, "hashes": are_open, "now": now})
        known, already = known + known_here, already + already_here
    return ResolveCounts(known - already, already, len(distinct) - known)


async def list_findings(
    conn: AsyncConnection, owner_id: str, *, status: KnownStatus | None, after: str | None, limit: int
) -> list[BaselineFinding]:
    """Return an owner's findings ordered by hash; `after` is the hash of the last one seen."""
    query = (
        select(*_COLUMNS)
        .where(_build_owner_condition(owner_id, status))
        .order_by(_findings.c.composite_hash)
        .limit(limit)
    )
    if after is not None:
        query = query.where(_findings.c.composite_hash > after)
    return [BaselineFinding(*row) for row in await conn.execute(query)]


async def remove_finding(conn: AsyncConnection, owner_id: str, composite_hash: str) -> bool:
    """Delete a finding; return whether it existed."""
    of_hash = _findings.c.composite_hash == composite_hash
    return (await conn.execute(delete(_findings).where(_build_owner_condition(owner_id, None), of_hash))).rowcount > 0


async def remove_findings(conn: AsyncConnection, owner_id: str, status: KnownStatus | None, *, limit: int) -> int:
    """Delete some findings of an owner, of one status or any; return how many."""
    of_owner = _build_owner_condition(owner_id, status)
    some = (
        select(_findings.c.composite_hash)
        .where(of_owner)
        .order_by(_findings.c.composite_hash)
        .limit(limit)
        .with_for_update()
    )
    # Check the condition again: a finding that was seen in between must not be deleted.
    step = delete(_findings).where(of_owner, _findings.c.composite_hash.in_(some))
    return (await conn.execute(step)).rowcount


async def _record_sqlite(
    conn: AsyncConnection, owner_id: str, some: Sequence[Sightings]
) -> tuple[int, dict[str, datetime]]:
    these = _bind_hashes("sqlite", owner_id, [it.composite_hash for it in some])
    known, are_resolved = (await conn.execute(_LOCK_AND_COUNT["sqlite"], these)).one()
    resolved = {row[0]: row[1] for row in await conn.execute(_RESOLVED, these)} if are_resolved else {}
    owner = owner_id.replace("-", "")
    written = _MomentTexts()
    rows: Any = [
        (owner, it.composite_hash, it.finding_id, it.times, written[it.first], written[it.last]) for it in some
    ]
    await conn.exec_driver_sql(_RECORD_SQLITE, rows)
    return known, resolved


async def _record_postgresql(
    conn: AsyncConnection, owner_id: str, some: Sequence[Sightings]
) -> tuple[int, dict[str, datetime]]:
    hashes, ids, times, firsts, lasts, _ = zip(*some, strict=True)
    given = {"hashes": hashes, "ids": ids, "times": times, "firsts": firsts, "lasts": lasts}
    known, resolved, moments = (await conn.execute(_RECORD_POSTGRESQL, {"owner": owner_id, **given})).one()
    return known, dict(zip(resolved or (), moments or (), strict=True))


def _build_owner_condition(owner_id: str, status: KnownStatus | None) -> ColumnElement[bool]:
    of_owner = _findings.c.owner_id == owner_id
    if status is None:
        return of_owner
    resolved_at = _findings.c.resolved_at
    return and_(of_owner, resolved_at.is_not(None) if status == "resolved" else resolved_at.is_(None))


def _bind_hashes(kind: str, owner_id: str, hashes: Sequence[str]) -> dict[str, Any]:
    return {"owner": owner_id, "hashes": orjson.dumps(hashes).decode() if kind == "sqlite" else hashes}


class _MomentTexts(dict[datetime, str]):
    """Times in SQLite's format, each formatted once: most findings of a request have the same time."""

    def __missing__(self, moment: datetime) -> str:
        self[moment] = text = moment.isoformat(" ", "microseconds")[:26]
        return text


def _split_chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
