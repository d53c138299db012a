"""What the journal's writer needs of a database, whichever it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple, Protocol, TypeVar

from pegboard.journal.chain import Place
from pegboard.journal.entries import Closing, Count, Held, Intent, OpenIntent
from pegboard.store.executions import Row

T = TypeVar("T")

# So many that calls do not wait for long behind their removal.
EXPIRED_AT_ONCE = 2000


class NewWriter(NamedTuple):
    """A process that is about to write its first row."""

    id: str
    host: str
    pid: int
    started_at: str


class Registered(NamedTuple):
    """A writer as the database knows it."""

    number: int
    head: Place
    signature: str
    is_closed: bool


class WriterCount(NamedTuple):
    """How many writers there have been, the signature of that, and the highest number in use."""

    writers: int
    signature: str
    highest: int

    @classmethod
    def of(cls, count: object, signature: object, *numbers: object) -> WriterCount:
        """What the database has; SQLite may hold values of any type, and those that are no numbers count as 0."""
        in_use = [number for number in (0, *numbers) if type(number) is int]
        return cls(count if type(count) is int else 0, str(signature), max(in_use))


class Sibling(NamedTuple):
    """Another writer that has not been closed, living or not."""

    number: int
    id: str
    beat: int


class ReceiptOf(NamedTuple):
    """What a call left behind in the transaction of its effect."""

    row_id: str | None
    output: str | None
    mac: str


class Step(NamedTuple):
    """What a writer adds at once: intents without a key, rows with their places in its chain, and where that ends."""

    writer: int
    head: Place
    signature: str
    intents: Sequence[Intent]
    closings: Sequence[Closing]
    places: Sequence[Place]


class Session(Protocol):
    """Statements within one write transaction; every one of them takes many rows at once."""

    async def registered(self, writer_id: str) -> Registered | None:
        """The writer with this id."""
        ...

    async def writer_count(self) -> WriterCount:
        """How many writers there have been; no other process registers one until this transaction ends."""
        ...

    async def register(self, number: int, writer: NewWriter, signatures: tuple[str, str]) -> None:
        """Add a writer; the signatures are of its number as the count of writers, and of its head."""
        ...

    async def restore_head(self, writer_id: str, number: int, head: Place, signature: str) -> None:
        """Set the head of a writer, if it is still there, whether or not it is closed."""
        ...

    async def known(self, ids: Collection[str]) -> dict[str, str]:
        """Which of these executions are recorded already, and their status."""
        ...

    async def append(self, step: Step) -> bool:
        """A step of a writer's chain; False, and nothing, if the writer is closed."""
        ...

    async def claim(self, intents: Sequence[Intent], now: str) -> dict[str, Held]:
        """Intents with a key, where it is free; who holds each key afterwards."""
        ...

    async def count(self, writer: int, counted_seq: int, counts: Sequence[Count]) -> None:
        """What the statistics gain by the writer's rows up to here, unless they hold them already."""
        ...

    async def uncounted(self, number: int) -> tuple[int, list[Row]]:
        """A writer's last seq, and its rows that the statistics do not hold."""
        ...

    async def siblings(self, writer: int) -> list[Sibling]:
        """The other writers that are not closed."""
        ...

    async def close_writer(self, number: int, now: str) -> bool:
        """Whether it was this that closed it."""
        ...

    async def intents_of(self, number: int) -> list[OpenIntent]:
        """The intents a writer has left open."""
        ...

    async def receipt(self, run_id: str) -> ReceiptOf | None:
        """The receipt of a call; where there is none, there never will be."""
        ...

    async def set_aside(self, table: str, ids: Sequence[str], now: str) -> None:
        """Mark intents or receipts that the board did not write."""
        ...

    async def expire(self, now: str, oldest: str) -> bool:
        """Some kept answers past their time and void receipts of calls before the oldest; whether there may be more."""
        ...


class Ledger(Protocol):
    """The database's side of the journal."""

    async def transaction(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """What `work` gives, committed and on disk; nothing of it where anything raises."""
        ...

    async def hold(self, number: int) -> None:
        """Show siblings that this writer lives, for as long as it does."""
        ...

    def is_the_rows_own(self, error: Exception) -> bool:
        """Whether trying the same rows again cannot help."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...
