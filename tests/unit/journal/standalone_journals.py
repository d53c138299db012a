"""Journals without a board, on a backend that fails or waits as configured; and processes that are killed."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import delete

from pegboard import Pegboard
from pegboard.journal.backend import ChainAppend, JournalBackend, JournalSession
from pegboard.journal.commit_queue import DatabaseJournal
from pegboard.journal.idempotency import ANSWER_LIFETIME, MAX_ANSWER_BYTES, IdempotencyClaims
from pegboard.journal.journal import EarlierCall
from pegboard.journal.open_journal import open_chain
from pegboard.journal.sqlite_backend import SqliteBackend
from pegboard.journal.writer import JournalWriter
from pegboard.journal.writer_locks import FileLeases, ObservedLeases, ObservedWriter, WriterLeases
from pegboard.model.call import Caller, Execution, ReadyCall, ToolResult
from pegboard.model.ids import new_id
from pegboard.model.tool import Kind
from pegboard.storage.board_tables import get_table
from pegboard.storage.database import Database
from pegboard.storage.journal_tables import Intent
from pegboard.storage.keyring import EnvironmentKeyring
from pegboard.storage.vault import Vault
from tests.unit.storage.sample_rows import a_tool, a_user, an_execution
from tests.waiting import until

T = TypeVar("T")
VAULT = Vault(EnvironmentKeyring(base64.b64encode(bytes(range(32))).decode()), root=bytes(range(32, 64)))
ADA = Caller(new_id(), "ada")
_OWNER = a_user()
QUIET = a_tool(_OWNER, "quiet", tool_type=Kind.INTERNAL, read_only=True)
ACTIVE = a_tool(_OWNER, "active", tool_type=Kind.INTERNAL)


@dataclass
class _Written:
    rows: list[str] = field(default_factory=list)
    intents: int = 0
    vanished: list[str] = field(default_factory=list)


class WatchedLedger:
    """A ledger that records what each transaction wrote, and fails before or after its commit on request."""

    def __init__(self, ledger: JournalBackend, database: Database) -> None:
        self._ledger = ledger
        self._database = database
        self.fails: Literal["", "before", "after"] = ""
        self.error: Exception = ConnectionError("gone")
        self.gate: asyncio.Event | None = None
        # Intents that another process releases just when their key is requested.
        self.vanishing: list[str] = []
        # Set by the next transaction that writes a row or an intent, whatever its outcome is.
        self.tried = asyncio.Event()
        # The ids of the rows of each commit, and of those that failed.
        self.commits: list[list[str]] = []
        self.failures: list[list[str]] = []

    async def transaction(self, work: Callable[[JournalSession], Awaitable[T]]) -> T:
        """Return the result of the real one, or raise the error."""
        if self.gate is not None:
            self.tried.set()
            await self.gate.wait()
        fails, written = self.fails, _Written()
        try:
            result = await self._ledger.transaction(lambda session: self._watched(work, session, written, fails))
        except BaseException:
            self._note(self.failures, written)
            raise
        self._note(self.failures if fails else self.commits, written)
        if written.vanished:
            await forget(self._database, written.vanished)
        if fails:
            raise self.error
        return result

    def _note(self, where: list[list[str]], written: _Written) -> None:
        if written.rows:
            where.append(written.rows)
        if written.rows or written.intents:
            self.tried.set()

    async def _watched(
        self, work: Callable[[JournalSession], Awaitable[T]], session: JournalSession, written: _Written, fails: str
    ) -> T:
        append, claim = session.append, session.claim

        async def noting_rows(step: ChainAppend) -> bool:
            written.rows = [closing.id for closing in step.closings]
            written.intents += len(step.intents)
            if fails == "before":
                raise self.error
            return await append(step)

        async def noting_claims(intents: Any, now: str) -> Any:
            written.intents += len(intents)
            held = await claim(intents, now)
            if self.vanishing:
                held = {name: one for name, one in held.items() if one.id not in self.vanishing}
                written.vanished, self.vanishing = self.vanishing, []
            return held

        for name, noting in (("append", noting_rows), ("claim", noting_claims)):
            setattr(session, name, noting)
        result = await work(session)
        if fails == "before":
            raise self.error
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


async def forget(database: Database, ids: list[str]) -> None:
    """Release intents."""
    intents = get_table(Intent)
    async with database.write() as conn:
        await conn.execute(delete(intents).where(intents.c.id.in_(ids)))


class WatchedWriter(JournalWriter):
    """A writer that counts its periodic maintenance."""

    rounds = 0
    # Called before the writer closes.
    on_close: Callable[[], None] | None = None

    async def close(self) -> None:
        """As the true one."""
        if self.on_close is not None:
            self.on_close()
        await super().close()

    async def tend(self) -> None:
        """Do the same as the real one."""
        await super().tend()
        self.rounds += 1


@dataclass(frozen=True)
class StandaloneJournal:
    """A journal with its backend and spool."""

    database: Database
    ledger: WatchedLedger
    writer: WatchedWriter
    claims: IdempotencyClaims
    journal: DatabaseJournal

    async def record(self, execution: Execution | None = None, *, success: bool = True) -> Execution:
        """Record a call that ran; return its row."""
        execution = execution or an_execution(attempts=1)
        await self.journal.record(execution, ToolResult(execution.tool_name, success, run_id=execution.id))
        return execution

    async def begin(self, ready: ReadyCall | None = None) -> EarlierCall | None:
        """Begin a call as the pipeline does; by default one without effects."""
        call = ready or a_call(QUIET)
        return await self.journal.begin(call, lambda: row_of(call)._replace(status="in_doubt", code="in_doubt"))

    async def tended(self) -> None:
        """Return when siblings were looked after and what was due was done, which else is every few seconds."""
        for _ in range(2):  # one round may have been running
            before = self.writer.rounds
            self.journal.request_maintenance()
            await until(partial(self._is_past, before))

    async def _is_past(self, rounds: int) -> bool:
        return self.writer.rounds > rounds

    async def die(self) -> None:
        """End like a killed process: its locks are released, and nothing is written."""
        await _die(self.journal)


def a_call(tool: Any = ACTIVE, *, key: str | None = None, digest: str = "d", seconds: float = 20.0) -> ReadyCall:
    """A call that may run."""
    return ReadyCall(
        new_id(), tool, ADA, {}, digest, time.monotonic() + seconds, key=key, has_effects=not tool.read_only
    )


def row_of(call: ReadyCall, **fields: Any) -> Execution:
    """The row of a call that ran."""
    known = {"id": call.run_id, "tool_name": call.tool.name, "tool_id": call.tool.id, "caller_id": call.caller.user_id}
    return an_execution(**{**known, "attempts": 1, "arguments_digest": call.digest, **fields})


def start(
    database: Database,
    spools: Path | None,
    *,
    vault: Vault = VAULT,
    kept_for: timedelta = ANSWER_LIFETIME,
    max_answer: int = MAX_ANSWER_BYTES,
    **options: Any,
) -> StandaloneJournal:
    """Start a journal, connected as a board connects it; the options are its own."""
    ledger, writer, claims = lone_writer(database, spools, vault=vault, kept_for=kept_for, max_answer=max_answer)
    return StandaloneJournal(database, ledger, writer, claims, DatabaseJournal(ledger, writer, claims, **options))


def lone_writer(
    database: Database,
    spools: Path | None,
    *,
    vault: Vault = VAULT,
    kept_for: timedelta = ANSWER_LIFETIME,
    max_answer: int = MAX_ANSWER_BYTES,
    leases: WriterLeases | None = None,
) -> tuple[WatchedLedger, WatchedWriter, IdempotencyClaims]:
    """A writer without periodic work, with its backend and its idempotency keys."""
    usual: WriterLeases
    if database.kind == "postgresql":
        from pegboard.journal.postgresql_backend import PostgresqlBackend

        ledger, usual = WatchedLedger(PostgresqlBackend(database), database), ObservedLeases(database.read)
    else:
        assert spools is not None
        ledger, usual = WatchedLedger(SqliteBackend(database), database), FileLeases(spools)
    claims = IdempotencyClaims(vault, kept_for=kept_for, max_bytes=max_answer)
    is_shared = database.kind == "postgresql"
    writer = WatchedWriter(ledger, open_chain(vault), leases or usual, claims.seal, spools=spools, is_shared=is_shared)
    return ledger, writer, claims


class DeadWriters:
    """Leases that report every other writer as dead."""

    async def find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        """Return all writers."""
        return {number for number, *_ in writers}


@asynccontextmanager
async def opened(database: Database, spools: Path | None, **options: Any) -> AsyncIterator[StandaloneJournal]:
    """The same, closed afterwards."""
    standalone = start(database, spools, **options)
    try:
        yield standalone
    finally:
        standalone.ledger.fails = ""
        await standalone.journal.close()


async def kill(board: Pegboard) -> None:
    """End a board's journal like a killed process; its calls continue, unlike those of a killed process."""
    assert isinstance(board.journal, DatabaseJournal)
    await _die(board.journal)


async def _die(journal: DatabaseJournal) -> None:
    await journal.abandon()

    async def nothing() -> None:
        """Do nothing: a dead process closes nothing."""

    journal.close = nothing  # type: ignore[method-assign]


def lie_in(spools: Path) -> list[str]:
    """Return the files in a folder of spools."""
    return sorted(path.name for path in spools.iterdir()) if spools.exists() else []
