"""The baseline of findings, as rows: looked up, recorded and resolved by the thousand."""

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

from pegboard.core.findings import Finding, KnownStatus, Seen
from pegboard.store import contract_models
from pegboard.store.base_models import table_of

_findings = table_of(contract_models.Finding)
_COLUMNS = tuple(_findings.c[name] for name in Finding._fields)
# How many go in one statement: enough to be quick, few enough that no statement is large.
CHUNK = 10_000

T = TypeVar("T")


class Sightings(NamedTuple):
    """All that one request has to say of one hash."""

    composite_hash: str
    finding_id: str
    times: int
    first: datetime
    last: datetime
    is_now: bool
    """Whether one of them is of this very moment, which is after every other."""


class Recorded(NamedTuple):
    """Of how many sightings: those of unknown findings, of known ones, and of those that are open again by it."""

    recorded: int
    new: int
    recurring: int
    reopened: int


class Resolved(NamedTuple):
    """Of how many findings: those resolved now, those that were already, and those that are not known."""

    resolved: int
    already_resolved: int
    unknown: int


_owner = bindparam("owner", type_=Uuid(as_uuid=False))
_now = bindparam("now", type_=_findings.c.resolved_at.type)
# A list of hashes comes to SQLite as JSON, to PostgreSQL as an array.
_GIVEN: dict[str, Any] = {
    "sqlite": _findings.c.composite_hash.in_(
        select(func.json_each(bindparam("hashes", type_=Text)).table_valued("value").c.value)
    ),
    # Not as an ARRAY, of which every single item would be looked at.
    "postgresql": text("findings.composite_hash = ANY(CAST(:hashes AS text[]))"),
}
_THESE = {kind: and_(_findings.c.owner_id == _owner, given) for kind, given in _GIVEN.items()}
# As `write_instant` would write it.
_FIRST_SEEN: dict[str, ColumnElement[str]] = {
    "sqlite": func.replace(type_coerce(_findings.c.first_seen_at, Text), " ", "T") + "Z",
    "postgresql": func.to_char(func.timezone("UTC", _findings.c.first_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
}
_SEEN = {
    kind: (func.replace(first, ".000000Z", "Z"), _findings.c.seen_count, _findings.c.resolved_at.is_not(None))
    for kind, first in _FIRST_SEEN.items()
}
# All of it as one text, which the databases and orjson are quick with; a row by itself costs more than its lookup.
_LOOK_UP = {
    "sqlite": select(func.json_group_object(_findings.c.composite_hash, func.json_array(*_SEEN["sqlite"]))).where(
        _THESE["sqlite"]
    ),
    "postgresql": select(
        cast(
            func.json_object_agg(_findings.c.composite_hash, func.json_build_array(*_SEEN["postgresql"])),
            Text,
        )
    ).where(_THESE["postgresql"]),
}
# In the order of the hashes, as everybody takes them, or two could wait for each other.
_HELD = {
    kind: select(_findings.c.composite_hash, _findings.c.resolved_at)
    .where(these)
    .order_by(_findings.c.composite_hash)
    .with_for_update()
    .subquery()
    for kind, these in _THESE.items()
}
_HOLD = {kind: select(func.count(), func.count(held.c.resolved_at)).select_from(held) for kind, held in _HELD.items()}
_LIST: dict[str, Any] = {"sqlite": func.json_group_array, "postgresql": func.array_agg}
# With those that are open, in the form in which hashes are given: another statement would see, and take, more of them.
_HOLD_OPEN = {
    kind: hold.add_columns(
        type_coerce(_LIST[kind](_HELD[kind].c.composite_hash).filter(_HELD[kind].c.resolved_at.is_(None)), NullType())
    )
    for kind, hold in _HOLD.items()
}
_RESOLVE = {
    kind: update(_findings).where(these, _findings.c.resolved_at.is_(None)).values(resolved_at=_now)
    for kind, these in _THESE.items()
}
_REOPEN = {kind: update(_findings).where(these).values(resolved_at=None) for kind, these in _THESE.items()}
_RESOLVED = select(_findings.c.composite_hash, _findings.c.resolved_at).where(
    _THESE["sqlite"], _findings.c.resolved_at.is_not(None)
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


async def look_up(
    conn: AsyncConnection, owner_id: str, hashes: Sequence[str], *, batch_size: int = CHUNK
) -> dict[str, Seen]:
    """What is known of these hashes, so many looked up in one statement; those that are not known are left out."""
    kind = conn.dialect.name
    found: dict[str, Seen] = {}
    for some in _chunks(sorted(set(hashes)), batch_size):
        told = await conn.execute(_LOOK_UP[kind], _these(kind, owner_id, some))
        found.update(orjson.loads(told.scalar_one() or "{}"))
    return found


async def record(conn: AsyncConnection, owner_id: str, sightings: Sequence[Sightings]) -> Recorded:
    """Keep what was seen, each hash once and in order; whoever records holds the rows until their transaction ends."""
    kept = _record_postgresql if conn.dialect.name == "postgresql" else _record_sqlite
    known = reopened = 0
    for some in _chunks(sightings, CHUNK):
        known_here, resolved = await kept(conn, owner_id, some)
        known += known_here
        again = [
            it.composite_hash
            for it in (some if resolved else ())
            if (at := resolved.get(it.composite_hash)) is not None and (it.is_now or it.last > at)
        ]
        if again:
            await conn.execute(_REOPEN[conn.dialect.name], _these(conn.dialect.name, owner_id, again))
            reopened += len(again)
    recorded, new = sum(it.times for it in sightings), len(sightings) - known
    return Recorded(recorded, new, recorded - new - reopened, reopened)


async def resolve(conn: AsyncConnection, owner_id: str, hashes: Sequence[str], now: datetime) -> Resolved:
    """Mark findings resolved that are open."""
    kind = conn.dialect.name
    distinct = sorted(set(hashes))
    known = already = 0
    for some in _chunks(distinct, CHUNK):
        these = _these(kind, owner_id, some)
        known_here, already_here, are_open = (await conn.execute(_HOLD_OPEN[kind], these)).one()
        if known_here > already_here:
            await conn.execute(_RESOLVE[kind], {"owner": owner_id, "hashes": are_open, "now": now})
        known, already = known + known_here, already + already_here
    return Resolved(known - already, already, len(distinct) - known)


async def page(
    conn: AsyncConnection, owner_id: str, *, status: KnownStatus | None, after: str | None, limit: int
) -> list[Finding]:
    """An owner's findings in the order of their hashes; `after` is the hash of the last one seen."""
    query = select(*_COLUMNS).where(_of(owner_id, status)).order_by(_findings.c.composite_hash).limit(limit)
    if after is not None:
        query = query.where(_findings.c.composite_hash > after)
    return [Finding(*row) for row in await conn.execute(query)]


async def remove(conn: AsyncConnection, owner_id: str, composite_hash: str) -> bool:
    """Forget a finding; whether it was known."""
    of_hash = _findings.c.composite_hash == composite_hash
    return (await conn.execute(delete(_findings).where(_of(owner_id, None), of_hash))).rowcount > 0


async def remove_some(conn: AsyncConnection, owner_id: str, status: KnownStatus | None, *, limit: int) -> int:
    """Forget some findings of an owner's, all of one status or any; how many."""
    of_owner = _of(owner_id, status)
    some = (
        select(_findings.c.composite_hash)
        .where(of_owner)
        .order_by(_findings.c.composite_hash)
        .limit(limit)
        .with_for_update()
    )
    # Asked for anew: one that was seen meanwhile is not what was to be forgotten.
    step = delete(_findings).where(of_owner, _findings.c.composite_hash.in_(some))
    return (await conn.execute(step)).rowcount


async def _record_sqlite(
    conn: AsyncConnection, owner_id: str, some: Sequence[Sightings]
) -> tuple[int, dict[str, datetime]]:
    these = _these("sqlite", owner_id, [it.composite_hash for it in some])
    known, are_resolved = (await conn.execute(_HOLD["sqlite"], these)).one()
    resolved = {row[0]: row[1] for row in await conn.execute(_RESOLVED, these)} if are_resolved else {}
    owner = owner_id.replace("-", "")
    written = _Written()
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


def _of(owner_id: str, status: KnownStatus | None) -> ColumnElement[bool]:
    of_owner = _findings.c.owner_id == owner_id
    if status is None:
        return of_owner
    resolved_at = _findings.c.resolved_at
    return and_(of_owner, resolved_at.is_not(None) if status == "resolved" else resolved_at.is_(None))


def _these(kind: str, owner_id: str, hashes: Sequence[str]) -> dict[str, Any]:
    return {"owner": owner_id, "hashes": orjson.dumps(hashes).decode() if kind == "sqlite" else hashes}


class _Written(dict[datetime, str]):
    """Moments as SQLite keeps them, each written once: most findings of a request were seen at the same one."""

    def __missing__(self, moment: datetime) -> str:
        self[moment] = text = moment.isoformat(" ", "microseconds")[:26]
        return text


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
