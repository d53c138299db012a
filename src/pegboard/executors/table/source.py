"""A database that table tools insert into: what it says of its tables, and rows handed to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from pegboard.executors.table.facts import Facts

Key = tuple[Any, ...]


class Row(NamedTuple):
    """Values for some columns of a table, as its driver takes them; the other columns get their defaults."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]


class Answered(NamedTuple):
    """What a call is answered, made from the keys of its rows: known before the transaction ends, for the receipt."""

    output: Any
    row_id: str | None


class Entry(NamedTuple):
    """The rows of one call, to be inserted all or none."""

    facts: Facts
    rows: tuple[Row, ...]
    run_id: str
    # From the keys of the rows, in their order; each the values of `facts.key`, and empty without one.
    answered: Callable[[Sequence[Key]], Answered]
    # When the call must be over, on the clock of time.monotonic().
    ends: float


class Fault(Exception):
    """Why a database did not take an entry; columns and constraint are its own words for what is in the way.

    `is_unknown` means that nobody can say whether the rows are there; in every other case they are not.
    `is_stale` means that the table may have changed since its facts were read.
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


class Source(Protocol):
    """One database; `is_own` is the board's, where an insert leaves a receipt."""

    kind: Literal["sqlite", "postgresql"]
    shown_url: str
    is_own: bool

    async def facts(self, schema: str | None, table: str) -> Facts | None:
        """What the database says of the table now, None if it has no such; raises Fault where it cannot be asked."""
        ...

    async def tables(self, schema: str | None = None) -> list[str]:
        """The names of the tables there are; raises Fault."""
        ...

    async def insert(self, entry: Entry) -> Answered:
        """The answer, its rows committed; raises Fault, whose `row` says which of several is at fault."""
        ...

    async def close(self) -> None:
        """Let what runs end, then close every connection."""
        ...
