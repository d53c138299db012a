"""What becomes of a call whose process died: known where it left a receipt, in doubt where it did not."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pegboard.journal.answers import Answer
from pegboard.journal.chain import Chain
from pegboard.journal.counts import Counts
from pegboard.journal.entries import Closing, OpenIntent
from pegboard.journal.intents import is_intent_genuine, is_receipt_genuine, set_aside
from pegboard.journal.ledger import Session
from pegboard.journal.spool import Spool
from pegboard.store.executions import restored, stored

Sealer = Callable[[bytes, str], str | None]

IN_DOUBT = "The server ended while this call was running; whether it took effect is not known"
FORGED = "The server ended while this call was running, and its receipt in the database is not the board's own"
INTERRUPTED = "The server ended before this call took effect; it is safe to call again"


class Estate(NamedTuple):
    """What a dead writer leaves behind for another to record, and how many of its calls were still open."""

    closings: list[Closing]
    intents: int


async def estate_of(
    session: Session, dead: int | None, spooled: Sequence[Closing], seal: Sealer, chain: Chain
) -> Estate:
    """What a writer had in its spool and is not recorded yet, and how the calls it left open ended.

    An intent that this board did not write, or whose call is recorded already, is set aside.
    """
    closings = await unrecorded(session, spooled) if spooled else []
    if dead is None:
        return Estate(closings, 0)
    await count_all(session, dead)
    ended = {closing.run_id for closing in spooled}
    found = [intent for intent in await session.intents_of(dead) if intent.id not in ended]
    recorded = await session.known([intent.id for intent in found]) if found else {}
    left = [one for one in found if one.id not in recorded and is_intent_genuine(chain, dead, one)]
    if len(left) < len(found):
        good = {intent.id for intent in left}
        await set_aside(session, "intents", [intent.id for intent in found if intent.id not in good], _now())
    return Estate([*closings, *[await left_open(session, intent, seal, chain) for intent in left]], len(left))


async def spooled_in(spool: Spool | None) -> tuple[bool, list[Closing]]:
    """Whether a spool is damaged, and what it holds."""
    if spool is None:
        return False, []
    content = await asyncio.to_thread(spool.read)
    closings: list[Closing] = []
    for entry in content.entries:
        with contextlib.suppress(ValueError):
            closings.append(Closing.unspooled(entry))
    return content.damaged or len(closings) < len(content.entries), closings


async def unrecorded(session: Session, closings: Sequence[Closing]) -> list[Closing]:
    """Those that nobody has recorded; and late, those that others had to record as in doubt."""
    known = await session.known([closing.id for closing in closings])
    late = [closing.late() for closing in closings if known.get(closing.id) == "in_doubt"]
    told = await session.known([closing.id for closing in late]) if late else {}
    return [
        *(closing for closing in closings if closing.id not in known),
        *(closing for closing in late if closing.id not in told),
    ]


async def count_all(session: Session, writer: int) -> None:
    """Add a writer's last rows to the statistics, or every reading had to add them up."""
    seq, rows = await session.uncounted(writer)
    counts = Counts()
    for row in rows:
        counts.add(row)
    await session.count(writer, seq, counts.take())


async def left_open(session: Session, intent: OpenIntent, seal: Sealer, chain: Chain) -> Closing:
    """How a call ended whose process is gone."""
    draft = restored(intent.row)._replace(finished_at=datetime.now(UTC))
    receipt = await session.receipt(intent.id) if intent.receipts else None
    is_forged = receipt is not None and not is_receipt_genuine(chain, intent.id, receipt)
    if is_forged:
        await set_aside(session, "receipts", [intent.id], _now())
    if is_forged or not intent.receipts:
        error = FORGED if is_forged else IN_DOUBT
        row = stored(draft._replace(status="in_doubt", code="in_doubt", error=error))
        return Closing(row, "keep" if intent.claim else "forget", "in_doubt")
    if receipt is None:
        row = stored(draft._replace(status="failed", code="interrupted", error=INTERRUPTED))
        return Closing(row, "forget")  # its void receipt stays: it keeps a late effect from being committed
    row = stored(draft._replace(status="succeeded", code=None, error=None, row_id=receipt.row_id))
    if intent.claim is None:
        return Closing(row, "forget", receipts=True)
    output = (receipt.output or "null").encode()
    # Its style is its tool's, which only the repeat knows.
    answer = Answer(True, output, attempts=draft.attempts, elapsed_ms=draft.elapsed_ms, result_style="")
    return Closing(row, "keep", "done", seal(answer.packed(), intent.id), receipts=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(" ", "microseconds")[:26]
