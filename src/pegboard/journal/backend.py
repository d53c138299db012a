"""The protocols that the journal writer uses to access a database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple, Protocol, TypeVar

from pegboard.journal.entries import ClaimHolder, ClosingEntry, CountRow, IntentRow, OpenIntent
from pegboard.journal.hash_chain import ChainPosition
from pegboard.model.journal_row import StoredRow

T = TypeVar("T")

# Few enough that calls do not wait long for their removal.
MAX_EXPIRED_PER_RUN = 2000


class NewWriter(NamedTuple):
    """A process that is about to write its first row."""

    id: str
    host: str
    pid: int
    started_at: str


class RegisteredWriter(NamedTuple):
    """A writer as stored in the database."""

    number: int
    head: ChainPosition
    signature: str
    is_closed: bool


class WriterCount(NamedTuple):
    """The number of writers so far, its signature, and the highest writer number in use."""

    writers: int
    signature: str
    highest: int

    @classmethod
    def of(cls, count: object, signature: object, *numbers: object) -> WriterCount:
        """Return the stored count; SQLite columns may hold any type, and values that are not integers count as 0."""
        in_use = [number for number in (0, *numbers) if type(number) is int]
        return cls(count if type(count) is int else 0, str(signature), max(in_use))


class SiblingWriter(NamedTuple):
    """Another writer that is not closed, alive or dead."""

    number: int
    id: str
    beat: int


class CallReceipt(NamedTuple):
    """The receipt that a call wrote in the transaction of its effect."""

    row_id: str | None
    output: str | None
    mac: str


class ChainAppend(NamedTuple):
    """One append of a writer: intents without a key, rows with their chain positions, and the new head."""

    writer: int
    head: ChainPosition
    signature: str
    intents: Sequence[IntentRow]
    closings: Sequence[ClosingEntry]
    places: Sequence[ChainPosition]


class JournalSession(Protocol):
    """Statements within one write transaction; each takes many rows at once."""

    async def find_writer(self, writer_id: str) -> RegisteredWriter | None:
        """Return the writer with this id, or None."""
        ...

    async def read_writer_count(self) -> WriterCount:
        """Return the number of writers; no other process can register one until this transaction ends."""
        ...

    async def register(self, number: int, writer: NewWriter, signatures: tuple[str, str]) -> None:
        """Add a writer; the signatures cover its number as the count of writers, and its head."""
        ...

    async def restore_head(self, writer_id: str, number: int, head: ChainPosition, signature: str) -> None:
        """Set the head of a writer if its row exists, whether or not it is closed."""
        ...

    async def find_recorded(self, ids: Collection[str]) -> dict[str, str]:
        """Return those of these executions that are recorded already, with their status."""
        ...

    async def append(self, step: ChainAppend) -> bool:
        """Append to a writer's chain; write nothing and return False if the writer is closed."""
        ...

    async def claim(self, intents: Sequence[IntentRow], now: str) -> dict[str, ClaimHolder]:
        """Insert the intents whose key is free and return the holder of each key."""
        ...

    async def count(self, writer: int, counted_seq: int, counts: Sequence[CountRow]) -> None:
        """Add the counts of the writer's rows up to `counted_seq` to the statistics, unless already included."""
        ...

    async def read_uncounted(self, number: int) -> tuple[int, list[StoredRow]]:
        """Return a writer's last seq and its rows that are not in the statistics yet."""
        ...

    async def list_siblings(self, writer: int) -> list[SiblingWriter]:
        """Return the other writers that are not closed."""
        ...

    async def close_writer(self, number: int, now: str) -> bool:
        """Close a writer; return True if this call closed it."""
        ...

    async def list_open_intents(self, number: int) -> list[OpenIntent]:
        """Return the intents that a writer has left open."""
        ...

    async def find_receipt(self, run_id: str) -> CallReceipt | None:
        """Return the receipt of a call; if there is none, insert a void one so that none can be written later."""
        ...

    async def set_aside(self, table: str, ids: Sequence[str], now: str) -> None:
        """Mark intents or receipts that the board did not write."""
        ...

    async def expire(self, now: str, oldest: str) -> bool:
        """Delete some expired answers and void receipts of calls before `oldest`; return whether there may be more."""
        ...


class JournalBackend(Protocol):
    """The database side of the journal."""

    async def transaction(self, work: Callable[[JournalSession], Awaitable[T]]) -> T:
        """Run `work` in a transaction and return its result once it is on disk; roll back if anything raises."""
        ...

    async def hold(self, number: int) -> None:
        """Show other writers that this one is alive, as long as the process lives."""
        ...

    def is_the_rows_own(self, error: Exception) -> bool:
        """True if the error is caused by the rows themselves, so that a retry cannot help."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...
