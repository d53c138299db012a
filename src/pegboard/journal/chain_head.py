"""Checks the head that a writer continues from: signed by this board and not older than its last known commit."""

from __future__ import annotations

from typing import NamedTuple

from pegboard.journal.backend import JournalSession, NewWriter, RegisteredWriter
from pegboard.journal.chain_signatures import check_signature, is_count_signed
from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


class WriterFenced(Exception):
    """Raised if other processes considered this writer dead and closed it.

    Its open calls are in doubt, and it needs a new number.
    """


class HeadMismatch(WriterFenced):
    """Raised if the head in the database is not the one that this writer committed: rows were tampered with."""

    def __init__(self, number: int, known: ChainPosition, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.known = known


class AbandonedWriter(NamedTuple):
    """A writer that was given up because its head was changed, and its last head that is known to be committed."""

    id: str
    number: int
    known: ChainPosition


def check_head(chain: HashChain, number: int | None, known: ChainPosition, there: RegisteredWriter | None) -> None:
    """Raise HeadMismatch unless the writer may continue from its row in the database."""
    if there is None:
        if number is None:
            return  # it was never committed
        raise HeadMismatch(number, known, "its row is gone")
    head = check_signature(chain, chain.sign_head, there.number, there.head, there.signature)
    if number is not None and there.number != number:
        raise HeadMismatch(number, known, f"it has the number {there.number}")
    if head is None:
        raise HeadMismatch(there.number, known, f"its head, row {there.head.seq}, is not signed by this board")
    if head.seq < known.seq or (head.seq == known.seq and head.mac != known.mac):
        raise HeadMismatch(there.number, known, f"its head, row {head.seq}, is before row {known.seq}")


async def register_writer(
    session: JournalSession, chain: HashChain, writer: NewWriter, given_up: AbandonedWriter | None
) -> int:
    """Register a new writer and return its number.

    The last known head of the `given_up` writer is written back, so that verification reports the missing rows. A
    writer count that this board did not sign stays unsigned for the same reason.
    """
    count = await session.read_writer_count()
    is_genuine = is_count_signed(chain, count.writers, count.signature, has_writers=count.highest > 0)
    if not is_genuine:
        log.error("writer_count_not_signed", count=count.writers, highest=count.highest)
    number = max(count.writers, count.highest, given_up.number if given_up else 0) + 1
    count_signature = chain.sign_writers(number) if is_genuine else ""
    await session.register(number, writer, (count_signature, chain.sign_head(number, ChainPosition())))
    if given_up is not None:
        signature = chain.sign_head(given_up.number, given_up.known)
        await session.restore_head(given_up.id, given_up.number, given_up.known, signature)
    return number
