"""The interface of databases that table tools insert into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from pegboard.journal.entries import ClosingEntry
from pegboard.journal.receipts import ExternalReceipt, ReceiptStore
from pegboard.kinds.table.table_schema import TableSchema

RowKey = tuple[Any, ...]


class InsertRow(NamedTuple):
    """Values for some columns of a table, as its driver takes them; the other columns get their defaults."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]


class InsertAnswer(NamedTuple):
    """The answer of a call, made from the keys of its rows; known before the COMMIT, for the journal entry."""

    output: Any
    row_id: str | None
    # The entry for the journal in the same transaction.
    closing: ClosingEntry | None = None
    # The same for a database that is not the board's own.
    receipt: ExternalReceipt | None = None


class InsertEntry(NamedTuple):
    """The rows of one call, inserted all or none."""

    facts: TableSchema
    rows: tuple[InsertRow, ...]
    run_id: str
    # Makes the answer from the keys of the rows in order; each has the values of `facts.key` and is empty without a
    # key.
    build_answer: Callable[[Sequence[RowKey]], InsertAnswer]
    # The deadline of the call, as a value of time.monotonic().
    ends: float


class InsertFault(Exception):
    """A database error for one entry, with the columns and the constraint that the server named.

    `is_unknown` means that the outcome of the COMMIT is unknown; otherwise nothing was inserted. `is_stale` means
    that the table may have changed since its schema was read.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        sqlstate: str | None = None,
        columns: Sequence[str] = (),
        constraint: str | None = None,
        row: int | None = None,
        is_unknown: bool = False,
        is_stale: bool = False,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.sqlstate = sqlstate
        self.columns = tuple(columns)
        self.constraint = constraint
        self.row = row
        self.is_unknown = is_unknown
        self.is_stale = is_stale
        self.retry_after_ms = retry_after_ms


class TableSource(Protocol):
    """One database; `is_own` if it is the board's own, `is_transactional` if inserts commit their journal entries."""

    kind: Literal["sqlite", "postgresql"]
    shown_url: str
    is_own: bool
    is_transactional: bool
    receipts: ReceiptStore

    async def facts(self, schema: str | None, table: str) -> TableSchema | None:
        """Read the current schema of the table, None if it does not exist; raise InsertFault if that fails."""
        ...

    async def tables(self, schema: str | None = None) -> list[str]:
        """Return the names of the tables; raise InsertFault."""
        ...

    async def insert(self, entry: InsertEntry) -> InsertAnswer:
        """Insert and commit the rows and return the answer; raise InsertFault with the number of the failed row."""
        ...

    async def close(self) -> None:
        """Wait for running inserts, then close all connections."""
        ...
