"""Journals without a board, connected as a board connects them, on a database and a spool that can fail."""

from __future__ import annotations

import base64
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from pegboard.journal.backend import JournalBackend, JournalSession
from pegboard.journal.commit_queue import DatabaseJournal
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.idempotency import IdempotencyClaims
from pegboard.journal.journal import EarlierCall
from pegboard.journal.open_journal import open_chain
from pegboard.journal.postgresql_backend import PostgresqlBackend
from pegboard.journal.sqlite_backend import SqliteBackend
from pegboard.journal.writer import JournalWriter
from pegboard.journal.writer_locks import FileLeases, ObservedLeases, ObservedWriter, WriterLeases
from pegboard.model.call import Caller, Execution, ReadyCall, Status, ToolResult
from pegboard.model.ids import new_id
from pegboard.model.tool import Kind, Tool
from pegboard.storage.database import Database
from pegboard.storage.keyring import EnvironmentKeyring
from pegboard.storage.vault import Vault
from tests.waiting import until

T = TypeVar("T")
Trouble = Literal["", "away", "undone", "mute"]
NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
VAULT = Vault(EnvironmentKeyring(base64.b64encode(bytes(range(32))).decode()), root=bytes(range(32, 64)))
CALLER = Caller("0198a000-0000-7000-8000-000000000001", "ada")
_TOOL = Tool(
    id="0198a000-0000-7000-8000-000000000002",
    owner_id=CALLER.user_id,
    name="note",
    tool_type=Kind.INTERNAL,
    config={"handler": "note"},
    input_schema={"type": "object"},
    created_at=NOW,
    updated_at=NOW,
)
_READING = replace(_TOOL, name="look", read_only=True)


class FlakyLedger:
    """A ledger that fails as configured: `away` before anything, `undone` by a rollback, `mute` after all is done."""

    def __init__(self, ledger: JournalBackend) -> None:
        self._ledger = ledger
        self._times: int | None = None
        self.trouble: Trouble = ""

    def fail(self, trouble: Trouble, *, times: int) -> None:
        """Fail this many times, then succeed again."""
        self.trouble, self._times = trouble, times

    async def transaction(self, work: Callable[[JournalSession], Awaitable[T]]) -> T:
        """Return the result of the real one, or raise OSError."""
        trouble = self.trouble
        if trouble and self._times is not None:
            self._times -= 1
            if not self._times:
                self.trouble, self._times = "", None
        if trouble == "away":
            raise OSError("the database is away")
        result = await self._ledger.transaction(_undone(work) if trouble == "undone" else work)
        if trouble == "mute":
            raise OSError("the connection ended before it said that all was well")
        return result

    async def hold(self, number: int) -> None:
        """Do the same as the real one."""
        await self._ledger.hold(number)

    def is_the_rows_own(self, error: Exception) -> bool:
        """Do the same as the real one."""
        return self._ledger.is_the_rows_own(error)

    async def close(self) -> None:
        """As the true one."""
        await self._ledger.close()


def _undone(work: Callable[[JournalSession], Awaitable[T]]) -> Callable[[JournalSession], Awaitable[T]]:
    async def undone(session: JournalSession) -> T:
        await work(session)
        raise OSError("the transaction was rolled back")

    return undone


class FlakyWriter(JournalWriter):
    """A writer whose spool fails at a given step, and that counts its searches for dead writers."""

    spool_fails = False
    heals_at_the_end = False
    looks = 0

    async def recover(self) -> int:
        """Do the same as the real one."""
        try:
            return await super().recover()
        finally:
            self.looks += 1

    async def spool_away(self, entries: Sequence[bytes]) -> None:
        """Do the same as the real one, or raise OSError."""
        if self.spool_fails:
            raise OSError("no room for the spool")
        await super().spool_away(entries)

    async def close(self) -> None:
        """Close like the real writer; the database may recover just before."""
        if self.heals_at_the_end and isinstance(self._ledger, FlakyLedger):
            self._ledger.trouble = ""
        await super().close()


class HookedLeases:
    """Locks as they are, looked at after something else has happened."""

    def __init__(self, leases: WriterLeases) -> None:
        self._leases = leases
        self.first: Callable[[], Awaitable[None]] | None = None

    async def find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        """Return the writers that are dead at this time."""
        first, self.first = self.first, None
        if first is not None:
            await first()
        return await self._leases.find_dead_writers(writers)


class Process:
    """One process's part of the journal; `crash` ends it as a kill would."""

    def __init__(self, url: str, spools: Path, *, patience: float = 0.0) -> None:
        self.database = Database.create(url)
        is_shared = self.database.kind == "postgresql"
        if is_shared:
            self.ledger = FlakyLedger(PostgresqlBackend(self.database))
            self.leases = HookedLeases(ObservedLeases(self.database.read))
        else:
            self.ledger = FlakyLedger(SqliteBackend(self.database))
            self.leases = HookedLeases(FileLeases(spools))
        self.claims = IdempotencyClaims(VAULT)
        self.writer = FlakyWriter(
            self.ledger, open_chain(VAULT), self.leases, self.claims.seal, spools=spools, is_shared=is_shared
        )
        self.is_over = False
        self.journal = DatabaseJournal(self.ledger, self.writer, self.claims, patience=patience)

    async def crash_when_seen_by(self, other: Process) -> None:
        """End after another process has found this one alive, and before that one has finished its recovery."""
        other.leases.first = self.crash
        await other.look()
        other.leases.first = None
        if not self.is_over:  # its locks were not checked a second time
            await self.crash()

    async def crash(self) -> None:
        """End at once and release the locks, as the kernel would."""
        self.is_over = True
        await self.journal.abandon()
        await self.database.close()

    async def close(self) -> None:
        """End in good order."""
        self.is_over = True
        await self.journal.close()
        await self.database.close()

    async def look(self) -> None:
        """Run the recovery of dead writers now."""
        seen = self.writer.looks
        self.journal.request_maintenance()

        async def looked() -> bool:
            return self.writer.looks > seen

        await until(looked)

    async def begin(self, call: ReadyCall) -> EarlierCall | None:
        """Begin a call as the pipeline does."""
        return await self.journal.begin(call, lambda: execution(call, "in_doubt", code="in_doubt"))

    async def end(self, call: ReadyCall, status: Status = "succeeded", **fields: Any) -> Execution:
        """Record a call that ran as the pipeline does; the row."""
        row = execution(call, status, **fields)
        await self.journal.record(row, answer(call, success=status == "succeeded"))
        return row


def chain() -> HashChain:
    """The chain that these journals write."""
    return open_chain(VAULT)


def ready(*, key: str | None = None, digest: str = "d", has_effects: bool = True, seconds: float = 10.0) -> ReadyCall:
    """A call that may run."""
    tool = _TOOL if has_effects else _READING
    return ReadyCall(new_id(), tool, CALLER, {}, digest, time.monotonic() + seconds, key=key, has_effects=has_effects)


def execution(call: ReadyCall, status: Status = "succeeded", **fields: Any) -> Execution:
    """The row of a call that ran."""
    now = datetime.now(UTC)
    basics: dict[str, Any] = {
        "elapsed_ms": 1.5,
        "caller_id": CALLER.user_id,
        "caller": CALLER.name,
        "surface": "library",
        "dialect": "plain",
        "attempts": 1,
        "tool_id": call.tool.id,
        "arguments_digest": call.digest,
    }
    return Execution(call.run_id, call.tool.name, status, now, now, **{**basics, **fields})


def answer(call: ReadyCall, *, success: bool = True) -> ToolResult:
    """Return the caller's result of a call, which identifies the call."""
    return ToolResult(call.tool.name, success, b'"%s"' % call.run_id.encode(), run_id=call.run_id, attempts=1)
