"""Whether a transaction was committed whose COMMIT was sent and never answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.lanes import Waiting
from pegboard.executors.table.postgresql_faults import FAILURES
from pegboard.executors.table.postgresql_pool import Connections
from pegboard.executors.table.postgresql_statements import key_part, table_name
from pegboard.executors.table.source import Answered, Fault, Key
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_PATIENCE = 0.3
_KEYS = 20
_STATUS = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_xact_status($1::text::xid8) END"
_RECEIPTS = (
    "SELECT (SELECT count(*) FROM receipts WHERE id = ANY($1::uuid[]) AND NOT is_void) AS receipts,"
    " (SELECT count(*) FROM intents WHERE id = ANY($1::uuid[]) AND state = 'open') AS intents"
)

# A transaction that still waits for our COMMIT, on a connection that is dead only at our end, waits for ever.
_END_IT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid::text = $1"
    " AND state = 'idle in transaction' AND application_name = 'pegboard' AND usename = current_user"
)


class Sent(NamedTuple):
    """A transaction that lacked nothing but its COMMIT."""

    answers: list[Answered]
    keys: list[Key]
    xid: str
    facts: Facts
    has_receipts: bool


async def was_committed(connections: Connections, sent: Sent, group: Sequence[Waiting], until: float) -> bool | None:
    """Whether it was, asked until the server knows; None if it could not be learnt in time."""
    pause = _FIRST_PAUSE
    while time.monotonic() < until:
        try:
            async with connections.lent(until) as conn, asyncio.timeout(until - time.monotonic()):
                status = await _status(conn, sent.xid)
                if status == "aborted":
                    return False
                if status == "committed":
                    return await _is_there(conn, sent, group)
                if pause > _PATIENCE:
                    await conn.execute(_END_IT, _short(sent.xid))
        except (Fault, *FAILURES) as error:
            log.info("commit_not_yet_known", table=sent.facts.table, error=type(error).__name__)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return None


async def _status(conn: Any, xid: str) -> str | None:
    try:
        status: str | None = await conn.fetchval(_STATUS, xid)
    except asyncpg.InvalidParameterValueError:
        # An id that the server has not come to yet: it crashed before anything of the transaction was on disk.
        return "aborted"
    return status


async def _is_there(conn: Any, sent: Sent, group: Sequence[Waiting]) -> bool | None:
    """Whether anything of it is found: a server that crashed may have given its id to another transaction since."""
    if sent.has_receipts:
        ids = [member.entry.run_id for member in group]
        found = await conn.fetchrow(_RECEIPTS, ids)
        if found["receipts"] == len(ids):
            return True
        # Receipts go only when their call is closed: where all calls are open and none has one, there never was any.
        return False if (found["receipts"], found["intents"]) == (0, len(ids)) else None
    made_by = _short(sent.xid)
    look = f"SELECT 1 FROM {table_name(sent.facts)} WHERE xmin::text = $1"  # noqa: S608 -- a quoted name
    for place, name in enumerate(sent.facts.key, 2):
        look += f" AND {key_part(sent.facts.columns[name])} = ${place}"
    look += " LIMIT 1"
    keys = sent.keys[:_KEYS] if sent.facts.key else [()]
    for key in keys:
        if await conn.fetchval(look, made_by, *key):
            return True
    return None


def _short(xid: str) -> str:
    """The id as rows and processes have it, without its epoch."""
    return str(int(xid) & 0xFFFFFFFF)
