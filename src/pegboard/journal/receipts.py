"""Receipts: journal entries that calls commit in a database that is not the board's own, together with their effects.

Such a call needs no intent. Its entry is written to the journal after the commit, and then its receipt is removed. If
the process ends in between, another one records the receipt. Processes may record the same receipt at the same time:
the journal has each call once, so no process has to know which others are alive.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from pegboard.journal.commit_queue import DatabaseJournal
from pegboard.journal.entries import ClosingEntry, OpenIntent
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.recovery import FORGED_RECEIPT_MESSAGE, INTERRUPTED_MESSAGE
from pegboard.journal.signed_intents import is_intent_genuine
from pegboard.model.ids import make_lowest_id
from pegboard.model.journal_row import format_now, restore_execution, serialize_execution
from pegboard.storage.database import Database
from pegboard.storage.journal_chain_rows import list_intents_of_closed_writers, list_open_writers
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

RECOVERY_SECONDS = 2.5
# Without tools with receipts there is little to do: calls of tools that had receipts before.
IDLE_SECONDS = 60.0
VOID_LIFETIME = timedelta(days=1)
# After this time, a call whose receipt cannot be read is recorded as in doubt.
PENDING_LIFETIME = timedelta(days=1)
_EXPIRE_SECONDS = 3600.0
# Ids are small; each receipt has the arguments of its call.
IDS_PER_PAGE = 1000
RECEIPTS_PER_BATCH = 100
_MAX_LOGGED_IDS = 10
UNREADABLE_MESSAGE = (
    "The server ended while this call was running, and the database with its receipt could not be read for a day; "
    "whether it took effect is not known"
)


class ExternalReceipt(NamedTuple):
    """A receipt as stored; without an `entry` it is void: its call was given up and can commit no receipt anymore."""

    board_id: str
    id: str
    writer: str
    entry: str | None
    mac: str
    written_at: str


class ReceiptStore(Protocol):
    """The receipts in one database, of all boards that use it; every method raises an exception if it fails."""

    name: str
    # True if the table is known to exist.
    is_ready: bool

    async def prepare(self) -> None:
        """Create the table if it does not exist."""
        ...

    async def list_ids(self, board_id: str, living: Collection[str], after: str, limit: int) -> list[str]:
        """Return the next ids of receipts that are neither void nor set aside nor written by a `living` writer."""
        ...

    async def read(self, board_id: str, ids: Sequence[str]) -> list[ExternalReceipt]:
        """Return the receipts of these calls that are not set aside."""
        ...

    async def void(self, board_id: str, ids: Sequence[str], now: str) -> None:
        """Insert void receipts for calls without a receipt; wait for receipts that are being written."""
        ...

    async def set_aside(self, board_id: str, ids: Sequence[str], now: str) -> None:
        """Mark receipts that the board did not write."""
        ...

    async def remove(self, board_id: str, ids: Sequence[str]) -> None:
        """Remove the receipts of these calls."""
        ...

    async def remove_void(self, board_id: str, before: str) -> None:
        """Remove the void receipts of calls with an id below `before`."""
        ...


class ReceiptJournal:
    """Makes the receipts of this process; records and removes the receipts of the board in all its databases."""

    def __init__(self, journal: DatabaseJournal, database: Database, chain: HashChain, board_id: str) -> None:
        self._journal = journal
        self._database = database
        self._chain = chain
        self._board_id = board_id
        self._failed: set[str] = set()
        self._expired_at: dict[str, float] = {}

    def make(self, closing: ClosingEntry) -> ExternalReceipt:
        """Return the receipt of a call, signed, with its complete entry."""
        entry = closing.encode_for_spool().decode()
        writer = self._journal.writer_id
        return ExternalReceipt(self._board_id, closing.id, writer, entry, self._sign(closing.id, entry), format_now())

    async def watch(
        self, list_stores: Callable[[], Mapping[str, ReceiptStore]], list_used: Callable[[], set[str]]
    ) -> None:
        """Record and remove receipts until cancelled.

        `list_stores` returns the open databases by name, `list_used` the names of those that tools write receipts to.
        """
        while True:
            try:
                if not (used := list_used()):
                    await asyncio.sleep(IDLE_SECONDS)
                await self.recover(list_stores(), used)
                self._report_success("")
            except Exception:
                self._report_failure("")
            await asyncio.sleep(RECOVERY_SECONDS)

    async def recover(self, stores: Mapping[str, ReceiptStore], used: Collection[str]) -> None:
        """Record receipts that processes have left, and decide open calls; a database that fails is tried again."""
        async with self._database.read() as conn:
            living = await list_open_writers(conn) - {self._journal.writer_id}
            found = await list_intents_of_closed_writers(conn)
        pending: dict[str, list[OpenIntent]] = {}
        for row in found:
            intent = OpenIntent(row.id, row.execution, row.receipts, row.claim, row.digest, row.mac)
            # A call that still runs here, although others considered this process dead, is left to them.
            is_lost = not self._journal.has_receipt(intent.id) and is_intent_genuine(self._chain, row.writer, intent)
            if is_lost and (name := intent.receipts_in) is not None:
                pending.setdefault(name, []).append(intent)
        names = [name for name in stores if name in used or name in pending]
        done = await asyncio.gather(
            *(self._recover_store(stores[name], living, pending.get(name, ())) for name in names)
        )
        decided = {name for name, is_done in zip(names, done, strict=True) if is_done}
        await self._give_up([intent for name in pending.keys() - decided for intent in pending[name]])

    async def remove_recorded(self, store: ReceiptStore) -> None:
        """Remove the receipts of calls that this process has recorded."""
        ids = self._journal.list_recorded_receipts(store.name)
        for start in range(0, len(ids), IDS_PER_PAGE):
            batch = ids[start : start + IDS_PER_PAGE]
            await store.remove(self._board_id, batch)
            self._journal.forget_recorded_receipts(batch)

    async def _recover_store(self, store: ReceiptStore, living: set[str], pending: Sequence[OpenIntent]) -> bool:
        try:
            await store.prepare()
            await self.remove_recorded(store)
            # Before the other receipts: a receipt that is recorded and removed would be missing here.
            for start in range(0, len(pending), RECEIPTS_PER_BATCH):
                await self._decide(store, pending[start : start + RECEIPTS_PER_BATCH])
            await self._record_lost(store, living)
            if time.monotonic() >= self._expired_at.get(store.name, float("-inf")) + _EXPIRE_SECONDS:
                await store.remove_void(self._board_id, make_lowest_id(datetime.now(UTC) - VOID_LIFETIME))
                self._expired_at[store.name] = time.monotonic()
        except Exception:
            self._report_failure(store.name)
            return False
        self._report_success(store.name)
        return True

    async def _record_lost(self, store: ReceiptStore, living: set[str]) -> None:
        """Record the receipts of dead writers, and those of this process whose calls could not be recorded."""
        after = ""
        while True:
            ids = await store.list_ids(self._board_id, living, after, IDS_PER_PAGE)
            lost = [run_id for run_id in ids if not self._journal.has_receipt(run_id)]
            for start in range(0, len(lost), RECEIPTS_PER_BATCH):
                receipts = await store.read(self._board_id, lost[start : start + RECEIPTS_PER_BATCH])
                await self._record(store, [receipt for receipt in receipts if receipt.entry is not None])
            if len(ids) < IDS_PER_PAGE:
                return
            after = ids[-1]

    async def _record(self, store: ReceiptStore, receipts: Sequence[ExternalReceipt]) -> set[str]:
        """Record the receipts and remove them; return the calls whose receipts are forged, which are set aside."""
        entries = {receipt.id: self._open(receipt) for receipt in receipts}
        forged = [run_id for run_id, closing in entries.items() if closing is None]
        if forged:
            await store.set_aside(self._board_id, forged, format_now())
            log.error("entries_set_aside", table=store.name, count=len(forged), ids=forged[:_MAX_LOGGED_IDS])
        closings = [closing for closing in entries.values() if closing is not None]
        if closings:
            await self._journal.record_receipts(closings)
            await store.remove(self._board_id, [closing.id for closing in closings])
            log.warning("receipts_recorded", database=store.name, calls=len(closings))
        return {*forged}

    async def _decide(self, store: ReceiptStore, intents: Sequence[OpenIntent]) -> None:
        """Record calls that a dead process has left open: with their receipt, or as interrupted if there is none."""
        ids = [intent.id for intent in intents]
        await store.void(self._board_id, ids, format_now())
        receipts = {receipt.id: receipt for receipt in await store.read(self._board_id, ids)}
        forged = await self._record(store, [receipt for receipt in receipts.values() if receipt.entry is not None])
        closings = []
        for intent in intents:
            receipt = receipts.get(intent.id)
            if intent.id in forged or receipt is None:
                closings.append(_make_in_doubt(intent, FORGED_RECEIPT_MESSAGE))
            elif receipt.entry is None:
                draft = restore_execution(intent.row)._replace(finished_at=datetime.now(UTC))
                row = draft._replace(status="failed", code="interrupted", error=INTERRUPTED_MESSAGE)
                closings.append(ClosingEntry(serialize_execution(row), "forget", is_receipted=True))
        if closings:
            await self._journal.record_receipts(closings)

    async def _give_up(self, intents: Sequence[OpenIntent]) -> None:
        oldest = make_lowest_id(datetime.now(UTC) - PENDING_LIFETIME)
        if closings := [_make_in_doubt(intent, UNREADABLE_MESSAGE) for intent in intents if intent.id < oldest]:
            await self._journal.record_receipts(closings)

    def _open(self, receipt: ExternalReceipt) -> ClosingEntry | None:
        """Return the entry of a receipt, or None if this board did not write it."""
        try:
            if self._chain.is_same_mac(self._sign(receipt.id, receipt.entry), receipt.mac):
                return ClosingEntry.from_spool_bytes(str(receipt.entry).encode())
        except (TypeError, ValueError, AttributeError):  # SQLite may hold values of any type
            pass
        return None

    def _sign(self, run_id: str, entry: object) -> str:
        return self._chain.sign(("call receipt", self._board_id, run_id, entry))

    def _report_failure(self, name: str) -> None:
        if name not in self._failed:  # log once per outage
            log.warning("receipts_not_recovered", database=name, exc_info=True)
        self._failed.add(name)

    def _report_success(self, name: str) -> None:
        self._failed.discard(name)


def _make_in_doubt(intent: OpenIntent, message: str) -> ClosingEntry:
    draft = restore_execution(intent.row)._replace(finished_at=datetime.now(UTC))
    row = draft._replace(status="in_doubt", code="in_doubt", error=message)
    return ClosingEntry(serialize_execution(row), "keep", "in_doubt", is_receipted=True)
