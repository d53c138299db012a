"""What a writer may continue: a head that this board signed, and not one before the last commit it knows of."""

from __future__ import annotations

from typing import NamedTuple

from pegboard.journal.chain import Chain, Place
from pegboard.journal.ledger import NewWriter, Registered, Session
from pegboard.journal.signatures import is_count_signed, signed
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


class Condemned(Exception):
    """Other processes took this writer for dead and closed it: its open calls are in doubt; it needs a new number."""


class HeadRefused(Condemned):
    """The database has another head than the one that this writer committed: the rows behind it were tampered with."""

    def __init__(self, number: int, known: Place, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.known = known


class Refused(NamedTuple):
    """A writer that is given up because its head was changed, and the last head that is known to be committed."""

    id: str
    number: int
    known: Place


def check_head(chain: Chain, number: int | None, known: Place, there: Registered | None) -> None:
    """Raise HeadRefused unless a writer may continue from what the database has of it."""
    if there is None:
        if number is None:
            return  # it was never committed
        raise HeadRefused(number, known, "its row is gone")
    head = signed(chain, chain.sign_head, there.number, there.head, there.signature)
    if number is not None and there.number != number:
        raise HeadRefused(number, known, f"it has the number {there.number}")
    if head is None:
        raise HeadRefused(there.number, known, f"its head, row {there.head.seq}, is not signed by this board")
    if head.seq < known.seq or (head.seq == known.seq and head.mac != known.mac):
        raise HeadRefused(there.number, known, f"its head, row {head.seq}, is before row {known.seq}")


async def register(session: Session, chain: Chain, writer: NewWriter, given_up: Refused | None) -> int:
    """The number of a new writer.

    The last known head of a writer that was `given_up` is written back, so that the verification reports what is
    missing. A count of writers that this board did not sign stays unsigned for the same reason.
    """
    count = await session.writer_count()
    is_genuine = is_count_signed(chain, count.writers, count.signature, has_writers=count.highest > 0)
    if not is_genuine:
        log.error("writer_count_not_signed", count=count.writers, highest=count.highest)
    number = max(count.writers, count.highest, given_up.number if given_up else 0) + 1
    count_signature = chain.sign_writers(number) if is_genuine else ""
    await session.register(number, writer, (count_signature, chain.sign_head(number, Place())))
    if given_up is not None:
        signature = chain.sign_head(given_up.number, given_up.known)
        await session.restore_head(given_up.id, given_up.number, given_up.known, signature)
    return number
