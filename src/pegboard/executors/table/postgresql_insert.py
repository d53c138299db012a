"""Entries into PostgreSQL, many in one transaction: never a row twice, and none said to be there that is not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import asyncpg

from pegboard.executors.table.lanes import GRACE, Outcome, Waiting
from pegboard.executors.table.postgresql_faults import (
    FAILURES,
    Refused,
    copied,
    fault_of,
    is_lost,
    is_shared,
    late,
    lost,
    parted,
    sqlstate_of,
    unknown,
)
from pegboard.executors.table.postgresql_outcome import Sent, was_committed
from pegboard.executors.table.postgresql_pool import Connections, drop
from pegboard.executors.table.postgresql_statements import Statements, Unmatched
from pegboard.executors.table.postgresql_transaction import commit, roll_back, rows_of, while_wanted
from pegboard.executors.table.source import Answered, Entry, Fault, Key, Row
from pegboard.store.receipts import SignReceipt
from pegboard.store.types import json_text
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long entries wait for a lock in a lane of many; one of them may be the only one that has to.
TOGETHER = 1.0
_TRIES = 2
# What a server says that has its own patience with statements and locks.
_WAITED = {"57014", "55P03"}
_RECEIPTS = (
    "INSERT INTO receipts (id, row_id, output, mac, is_void) SELECT id, row_id, output, mac, false"
    " FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS sent(id, row_id, output, mac)"
)
_columns_of = attrgetter("columns")


class Blocked(Exception):
    """Nothing was inserted for too long: the entry had better wait where it holds up nobody."""


class _Again(Exception):
    """Nothing was committed, and whoever still waits may be tried at once."""


class Fate:
    """How far the transaction of some entries has got; `committed` is how it ended, None if nobody can say."""

    __slots__ = ("answers", "committed", "stage")

    def __init__(self) -> None:
        self.stage = "connecting"
        self.answers: dict[int, Answered] = {}
        self.committed: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()


class Inserts:
    """Commits the entries that wait in a lane."""

    def __init__(self, connections: Connections, statements: Statements, *, sign_receipt: SignReceipt | None) -> None:
        self._connections = connections
        self._statements = statements
        self._sign_receipt = sign_receipt
        self._fates: dict[int, Fate] = {}

    async def write(self, batch: Sequence[Waiting]) -> list[Outcome]:
        """An outcome for each of many that share a statement, soon: Blocked where a lock takes long."""
        return await self._write(batch, TOGETHER)

    async def write_apart(self, batch: Sequence[Waiting]) -> list[Outcome]:
        """An outcome for an entry that has a lane of its own, and as long as it likes."""
        return await self._write(batch, None)

    async def late(self, entry: Entry) -> Answered:
        """The answer of an entry whose time is up, if its COMMIT went well after all; else raises Fault."""
        fate = self._fates.get(id(entry))
        if fate is None or fate.stage == "inserting":
            raise self._connections.late() if fate is None and self._connections.are_all_in_use else late()
        if fate.stage == "connecting":
            raise self._connections.late()
        committed = fate.committed.result() if fate.committed.done() else None
        if committed:
            return fate.answers[id(entry)]
        raise unknown() if committed is None else late()

    def forget(self, entry: Entry) -> None:
        """Keep nothing of an entry that has its answer, or nobody who waits for it."""
        self._fates.pop(id(entry), None)

    async def _write(self, batch: Sequence[Waiting], patience: float | None) -> list[Outcome]:
        outcomes: dict[Waiting, Outcome] = {}
        groups = [list(batch)]
        tries = 0
        while groups:
            group = [member for member in groups.pop() if not member.is_gone]
            if not group:
                continue
            try:
                outcomes.update(zip(group, await self._commit(group, patience), strict=True))
            except _Again:
                groups.append(group)
            except ConnectionError:
                tries += 1
                if tries < _TRIES:
                    groups.append(group)
                else:
                    outcomes.update((member, lost()) for member in group)
            except Exception as error:
                is_for_all = isinstance(error, Blocked) or (isinstance(error, Fault) and is_shared(error))
                if len(group) > 1 and not is_for_all:
                    groups += parted(group, error)
                    continue
                if isinstance(error, Fault) and len(group[0].entry.rows) > 1 and not is_shared(error):
                    error = await self._with_row(group[0].entry, error)
                outcomes.update((member, _for_one(error)) for member in group)
        return [outcomes.get(member) or late() for member in batch]

    async def _commit(self, group: Sequence[Waiting], patience: float | None) -> list[Answered]:
        """The answers, committed; raises what says that nothing was, or a Fault that nobody can say."""
        fate = Fate()
        self._fates.update((id(member.entry), fate) for member in group)
        try:
            return await self._transact(group, patience, fate)
        except Exception as error:
            # Whatever went wrong from COMMIT on, a row that may be there must never be sent again.
            if fate.stage != "committing" or (fate.committed.done() and fate.committed.result() is False):
                raise
            if not fate.committed.done():
                fate.committed.set_result(None)
                log.warning("commit_not_known", table=group[0].entry.facts.table, error=type(error).__name__)
            raise unknown() from error

    async def _transact(self, group: Sequence[Waiting], patience: float | None, fate: Fate) -> list[Answered]:
        ends = max(member.entry.ends for member in group)
        fault: Fault | None = None
        async with self._connections.lent(ends) as conn:
            fate.stage = "inserting"
            sent = await self._sent(conn, group, ends, patience)
            if any(member.is_gone for member in group):
                await roll_back(conn)
                raise _Again
            fate.answers = {id(member.entry): answer for member, answer in zip(group, sent.answers, strict=True)}
            fate.stage = "committing"
            for member in group:
                member.is_committing = True
            try:
                committed = await commit(conn, ends + GRACE, group)
            except Fault as refused:
                committed, fault = False, refused
        if committed is None:
            await self._connections.expire()
            committed = await was_committed(self._connections, sent, group, ends + GRACE)
        fate.committed.set_result(committed)
        if committed is None:
            raise unknown()
        if not committed:
            for member in group:
                member.is_committing = False
            raise fault or ConnectionResetError
        return sent.answers

    async def _sent(self, conn: Any, group: Sequence[Waiting], ends: float, patience: float | None) -> Sent:
        """Everything but the COMMIT; where something is in the way, the transaction is over."""
        facts = group[0].entry.facts
        rows = rows_of(group)
        try:
            async with while_wanted(group, ends, patience):
                await conn.execute("BEGIN")
                keys, xid = await self._inserted(conn, group[0].entry, rows)
                places = iter(keys)
                answers = [m.entry.answered([next(places) for _ in m.entry.rows]) for m in group]
                if self._sign_receipt is not None:
                    await _leave_receipts(conn, group, answers, self._sign_receipt)
                return Sent(answers, keys, xid, facts, self._sign_receipt is not None)
        except TimeoutError:
            await roll_back(conn)
            if patience is not None and time.monotonic() < ends:
                raise Blocked from None
            raise late() from None
        except Unmatched:
            await roll_back(conn)
            raise _Again from None
        except FAILURES as error:
            if is_lost(error):
                drop(conn)
                await self._connections.expire()
                raise ConnectionResetError from None
            await roll_back(conn)
            if patience is not None and sqlstate_of(error) in _WAITED:
                raise Blocked from None
            raise fault_of(error, facts, rows) from None
        except BaseException:
            await roll_back(conn)
            raise

    async def _inserted(self, conn: Any, entry: Entry, rows: Sequence[Row]) -> tuple[list[Key], str]:
        keys: list[Key] = []
        xid = ""
        for columns, alike in groupby(rows, _columns_of):
            statement = self._statements.get(entry.facts, columns)
            try:
                more, xid = await statement.run(conn, list(alike))
            except Unmatched:
                statement.is_grouped = False
                raise
            keys += more
        return keys, xid

    async def _with_row(self, entry: Entry, fault: Fault) -> Fault:
        """The fault with the row that it is about, found by sending one after another, and nothing committed."""
        found = None
        try:
            async with self._connections.lent(entry.ends) as conn, asyncio.timeout(entry.ends - time.monotonic()):
                await conn.execute("BEGIN")
                try:
                    found = await self._first_fault(conn, entry)
                finally:
                    await roll_back(conn)
        except (*FAILURES, Fault):
            pass  # then it is not known which
        # What is looked at only when everything is committed is met by no row alone.
        suspects = fault.suspects if isinstance(fault, Refused) else ()
        return found or (copied(fault, suspects[-1]) if suspects else fault)

    async def _first_fault(self, conn: Any, entry: Entry) -> Fault | None:
        for place, row in enumerate(entry.rows):
            try:
                await self._statements.get(entry.facts, row.columns).run(conn, [row])
            except asyncpg.PostgresError as error:
                return copied(fault_of(error, entry.facts, [row]), place)
            except Fault as skipped:
                return copied(skipped, place)
        return None


async def _leave_receipts(conn: Any, group: Sequence[Waiting], answers: Sequence[Answered], sign: SignReceipt) -> None:
    outputs = [None if answer.output is None else json_text(answer.output) for answer in answers]
    ids = [member.entry.run_id for member in group]
    row_ids = [answer.row_id for answer in answers]
    macs = list(map(sign, ids, row_ids, outputs))
    try:
        await conn.execute(_RECEIPTS, ids, row_ids, outputs, macs)
    except asyncpg.UniqueViolationError:
        raise Fault(
            "P2034", "the call was given up and recorded so before its row was committed", sqlstate="40001"
        ) from None


def _for_one(error: Exception) -> Exception:
    """What went wrong for several, for each of them to raise."""
    if isinstance(error, Fault):
        return copied(error)
    return Blocked() if isinstance(error, Blocked) else error
