"""Processes that share a journal, and a model of the rows that it may contain."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pegboard.journal.journal import EarlierCall
from pegboard.model.call import ReadyCall, Status
from pegboard.model.call_errors import IdempotencyConflict, InDoubt, TimedOut, Unavailable
from pegboard.storage.database import Database
from tests.crash.journal_contents import Reader
from tests.crash.standalone_journals import Process, answer, chain, ready
from tests.waiting import until

# The possible rows of a call at the end; None: no row.
Fate = Status | None
# The possible outcomes of a repeat with a key.
Ask = Literal["free", "running", "done", "in_doubt"]


@dataclass
class KnownCall:
    """The state of one call, and its process."""

    call: ReadyCall
    fates: set[Fate]
    process: Process | None
    key: str | None = None

    @property
    def has_intent(self) -> bool:
        """Return True if the intent was committed before the call ran."""
        return self.call.has_effects or self.key is not None


@dataclass
class KeyState:
    """The state of one key: the call that uses it, and the results that repeats may get."""

    call: ReadyCall
    may_be: set[Ask]
    success: bool = True


class JournalModel:
    """One process or two on one database, and all calls that they received."""

    def __init__(self, url: str, spools: Path) -> None:
        self._url = url
        self._spools = spools
        self.reader = Reader(Database.create(url), chain())
        self.living: list[Process] = []
        self.calls: dict[str, KnownCall] = {}
        self.open: dict[str, KnownCall] = {}
        self.keys: dict[str, KeyState] = {}

    async def start(self) -> None:
        """Start one more process, which has recovered dead writers."""
        process = Process(self._url, self._spools)
        self.living.append(process)
        await process.look()

    async def begin(self, process: Process, call: ReadyCall) -> KnownCall | None:
        """Begin a call and return it if it may run; otherwise it is refused and recorded, as in the pipeline."""
        known = self._noted(process, call)
        try:
            earlier = await process.begin(call)
        except Unavailable:
            await self._refuse(known)
            return None
        assert earlier is None
        self.open[call.run_id] = known
        return known

    async def end(self, known: KnownCall, status: Status) -> None:
        """Record how a call ended."""
        process, call = known.process, known.call
        assert process is not None
        del self.open[call.run_id]
        known.fates = {status, "in_doubt"} if known.has_intent else {status, None}
        held = self.keys[known.key] if known.key is not None else None
        after: Ask = "free" if status == "refused" else "done"
        if held is not None:
            held.may_be, held.success = {"running", "in_doubt", after}, status == "succeeded"
        try:
            await process.end(call, status, attempts=0 if status == "refused" else 1)
        except Unavailable:
            return
        known.fates = {status}
        if held is not None:
            # The row is in the spool: others see it only when the database is available again.
            held.may_be = {"running", after} if process.journal.trouble else {after}

    async def end_all(self, status: Status = "succeeded") -> None:
        """Record how all calls ended, at once."""
        await asyncio.gather(*(self.end(known, status) for known in list(self.open.values())))

    async def ask(self, process: Process, key: str, digest: str) -> None:
        """Call with a key; the result must agree with the earlier ones."""
        call = ready(key=key, digest=digest, seconds=0.03)
        known = self._noted(process, call, key)
        held = self.keys.get(key)
        try:
            found, earlier = await _asked(process, call)
        except Unavailable:
            # It may have the key until it is known to have been refused.
            if held is None:
                self.keys[key] = KeyState(call, {"free", "running", "in_doubt"})
            elif "free" in held.may_be:
                held.may_be |= {"running", "in_doubt"}
            await self._refuse(known)
            return
        except IdempotencyConflict:
            assert held is not None
            assert held.may_be != {"free"}
            await self._refuse(known)
            return
        assert found in (held.may_be if held is not None else {"free"}), (found, held)
        if found == "free":
            self.keys[key] = KeyState(call, {"running"})
            self.open[call.run_id] = known
            return
        assert held is not None
        if earlier is not None:
            received = answer(held.call, success=held.success)
            assert (earlier.run_id, digest) == (held.call.run_id, held.call.digest)
            assert (earlier.answer.success, earlier.answer.output_json) == (received.success, received.output_json)
        if found != "running":
            held.may_be = {found}  # and stays dead
        await self._refuse(known)

    async def crash(self, process: Process) -> None:
        """Kill a process."""
        self.record_death(process)
        await process.crash()
        await self._continue()

    async def crash_amid(self, process: Process, steps: int) -> None:
        """Kill a process while calls begin and end in it."""
        running = [known for known in self.open.values() if known.process is process]
        work: list[asyncio.Task[object]] = [asyncio.create_task(self.end(known, "succeeded")) for known in running]
        work += [asyncio.create_task(self.begin(process, ready())) for _ in range(2)]
        for _ in range(steps):
            await asyncio.sleep(0)
        await process.crash()
        for task in work:
            task.cancel()
        await asyncio.wait(work)
        self.record_death(process)
        await self._continue()

    async def crash_when_seen(self, process: Process, other: Process) -> None:
        """Kill a process after another has found it alive, and before that one has finished its recovery."""
        self.record_death(process)
        if other.ledger.trouble:
            await process.crash()
            return
        await self.heal(other)
        await process.crash_when_seen_by(other)

    async def close(self, process: Process) -> None:
        """Stop a process normally."""
        self.record_death(process)
        await process.close()
        await self._continue()

    async def heal(self, process: Process) -> None:
        """Make a process's database and spool work again, and wait until the process has noticed."""
        process.ledger.trouble = ""
        process.writer.spool_fails = False

        async def is_up() -> bool:
            return process.journal.trouble is None

        await until(is_up)

    async def check(self) -> None:
        """Check every row: each belongs to a call and has a possible outcome."""
        rows = await self.reader.rows()
        assert len({row.id for row in rows}) == len(rows)
        for row in rows:
            assert row.id in self.calls, f"nobody called that: {row}"
            assert row.id not in self.open, f"it still runs: {row}"
            assert row.status in self.calls[row.id].fates, row

    async def finish_all(self) -> None:
        """Let everything end that can, and check the rows."""
        for process in self.living:
            await self.heal(process)
        await self.end_all()
        for process in self.living:
            await process.look()
        assert not await self.reader.all_of("SELECT 1 FROM intents WHERE state = 'open'")
        for key, held in self.keys.items():
            held.may_be.discard("running")
            await self.ask(self.living[0], key, held.call.digest)
        await self.end_all()
        rows = {row.id: row.status for row in await self.reader.rows()}
        for run_id, known in self.calls.items():
            assert rows.get(run_id) in known.fates, known
        assert not await self.reader.faults()

    async def kill_all_processes(self) -> None:
        """Close what is open."""
        for process in self.living:
            await process.close()
        await self.reader.close()

    def _noted(self, process: Process, call: ReadyCall, key: str | None = None) -> KnownCall:
        # The outcome is unknown: it may have been about to run when its process died.
        known = self.calls[call.run_id] = KnownCall(call, {"in_doubt", "refused", None}, process, key)
        return known

    async def _refuse(self, known: KnownCall) -> None:
        assert known.process is not None
        try:
            await known.process.end(known.call, "refused", attempts=0)
        except Unavailable:
            return
        known.fates = {"refused"}

    async def _continue(self) -> None:
        if not self.living:
            await self.start()

    def record_death(self, process: Process) -> None:
        """Record that a process has died, and what follows for the calls that it ran."""
        self.living.remove(process)
        for known in self.calls.values():
            if known.process is not process:
                continue
            known.process = None
            if self.open.pop(known.call.run_id, None) is None:
                continue
            known.fates = {"in_doubt"} if known.has_intent else {None}
            if known.key is not None:
                self.keys[known.key].may_be = {"running", "in_doubt"}


async def _asked(process: Process, call: ReadyCall) -> tuple[Ask, EarlierCall | None]:
    try:
        earlier = await process.begin(call)
    except TimedOut:
        return "running", None
    except InDoubt:
        return "in_doubt", None
    return "free" if earlier is None else "done", earlier
