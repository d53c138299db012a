"""Recovery of calls whose process died: succeeded or interrupted if the tool writes receipts, in doubt otherwise."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pegboard.journal.backend import JournalSession
from pegboard.journal.entries import ClosingEntry, OpenIntent
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.journal import StoredAnswer
from pegboard.journal.latency_counts import CallCounts
from pegboard.journal.signed_intents import is_intent_genuine, is_receipt_genuine, quarantine_entries
from pegboard.journal.spool import Spool
from pegboard.model.journal_row import format_now, restore_execution, serialize_execution

SealAnswer = Callable[[bytes, str], str | None]

IN_DOUBT_MESSAGE = "The server ended while this call was running; whether it took effect is not known"
FORGED_RECEIPT_MESSAGE = (
    "The server ended while this call was running, and its receipt in the database is not the board's own"
)
INTERRUPTED_MESSAGE = "The server ended before this call took effect; it is safe to call again"


class RecoveredWork(NamedTuple):
    """The rows to record for a dead writer, and how many of its calls were still open."""

    closings: list[ClosingEntry]
    intents: int


async def collect_recovered_work(
    session: JournalSession, dead: int | None, spooled: Sequence[ClosingEntry], seal: SealAnswer, chain: HashChain
) -> RecoveredWork:
    """Return a dead writer's spooled entries that are not recorded yet, and the rows of the calls that it left open.

    An intent that this board did not write, or whose call is recorded already, is quarantined.
    """
    closings = await filter_unrecorded(session, spooled) if spooled else []
    if dead is None:
        return RecoveredWork(closings, 0)
    await count_uncounted_rows(session, dead)
    ended = {closing.run_id for closing in spooled}
    found = [intent for intent in await session.list_open_intents(dead) if intent.id not in ended]
    recorded = await session.find_recorded([intent.id for intent in found]) if found else {}
    left = [one for one in found if one.id not in recorded and is_intent_genuine(chain, dead, one)]
    if len(left) < len(found):
        good = {intent.id for intent in left}
        await quarantine_entries(
            session,
            "intents",
            [intent.id for intent in found if intent.id not in good],
            format_now(),
        )
    # Calls with a receipt in another database stay open until `journal/receipts.py` has read it.
    lost = [intent for intent in left if intent.receipts_in is None]
    return RecoveredWork(
        [*closings, *[await close_open_intent(session, intent, seal, chain) for intent in lost]], len(lost)
    )


async def read_spooled(spool: Spool | None) -> tuple[bool, list[ClosingEntry]]:
    """Return whether a spool is damaged, and its entries."""
    if spool is None:
        return False, []
    content = await asyncio.to_thread(spool.read)
    closings: list[ClosingEntry] = []
    for entry in content.entries:
        with contextlib.suppress(ValueError):
            closings.append(ClosingEntry.from_spool_bytes(entry))
    return content.damaged or len(closings) < len(content.entries), closings


async def filter_unrecorded(session: JournalSession, closings: Sequence[ClosingEntry]) -> list[ClosingEntry]:
    """Return the entries that are not recorded yet, and late entries for those that were recorded as in doubt."""
    known = await session.find_recorded([closing.id for closing in closings])
    late = [closing.late() for closing in closings if closing.corrects(known.get(closing.id))]
    known_ids = await session.find_recorded([closing.id for closing in late]) if late else {}
    return [
        *(closing.settle() for closing in closings if closing.id not in known),
        *(closing for closing in late if closing.id not in known_ids),
    ]


async def count_uncounted_rows(session: JournalSession, writer: int) -> None:
    """Add a writer's last rows to the statistics, so that readers do not have to count them."""
    seq, rows = await session.read_uncounted(writer)
    counts = CallCounts()
    for row in rows:
        counts.add(row)
    await session.count(writer, seq, counts.take())


async def close_open_intent(
    session: JournalSession, intent: OpenIntent, seal: SealAnswer, chain: HashChain
) -> ClosingEntry:
    """Return the row of a call whose process is gone."""
    draft = restore_execution(intent.row)._replace(finished_at=datetime.now(UTC))
    receipt = await session.find_receipt(intent.id) if intent.receipts else None
    is_forged = receipt is not None and not is_receipt_genuine(chain, intent.id, receipt)
    if is_forged:
        await quarantine_entries(session, "receipts", [intent.id], format_now())
    if is_forged or not intent.receipts:
        error = FORGED_RECEIPT_MESSAGE if is_forged else IN_DOUBT_MESSAGE
        row = serialize_execution(draft._replace(status="in_doubt", code="in_doubt", error=error))
        return ClosingEntry(row, "keep" if intent.claim else "forget", "in_doubt")
    if receipt is None:
        row = serialize_execution(draft._replace(status="failed", code="interrupted", error=INTERRUPTED_MESSAGE))
        return ClosingEntry(row, "forget")  # its void receipt stays: it prevents that a late effect is committed
    row = serialize_execution(draft._replace(status="succeeded", code=None, error=None, row_id=receipt.row_id))
    if intent.claim is None:
        return ClosingEntry(row, "forget", receipts=True)
    output = (receipt.output or "null").encode()
    # The result style belongs to the tool, which only the repeated call has.
    answer = StoredAnswer(True, output, attempts=draft.attempts, elapsed_ms=draft.elapsed_ms, result_style="")
    return ClosingEntry(row, "keep", "done", seal(answer.encode(), intent.id), receipts=True)
