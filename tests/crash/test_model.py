"""The journal against a model of it: whatever fails and whoever dies, in any order."""

from __future__ import annotations

import asyncio
import functools
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from pegboard.core.call import ReadyCall, Status
from pegboard.core.errors import IdempotencyConflict, InDoubt, TimedOut, Unavailable
from pegboard.journal import store
from pegboard.store.database import Database
from pegboard.store.migrate import migrate
from tests.crash.journals import Process, Trouble, answer, chain, execution, ready
from tests.crash.reading import Kept, Reader
from tests.waiting import until

T = TypeVar("T")
# What may be found of a call in the end; None: no row.
Fate = Status | None
# What asking with a key may find.
Ask = Literal["free", "running", "done", "in_doubt"]

WHO = st.integers(0, 1)
KEYS = st.sampled_from(("a", "b"))
DIGESTS = st.sampled_from(("same", "same", "other"))
TROUBLES: st.SearchStrategy[Trouble] = st.sampled_from(("away", "undone", "mute"))
ENDS: st.SearchStrategy[Status] = st.sampled_from(("succeeded", "failed", "refused"))


@dataclass
class Known:
    """What is known of one call."""

    call: ReadyCall
    fates: set[Fate]
    process: Process | None = None
    key: str | None = None


@dataclass
class Held:
    """What is known of one key."""

    call: ReadyCall
    may_be: set[Ask]
    success: bool = True


@dataclass
class Model:
    """What must be true."""

    calls: dict[str, Known] = field(default_factory=dict)
    open: dict[str, Known] = field(default_factory=dict)
    keys: dict[str, Held] = field(default_factory=dict)


class Journals(RuleBasedStateMachine):
    """One or two processes that share a database, and the people they answer."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(store, "TEND_SECONDS", 1e9)  # only when a rule says so
        self._patch.setattr(store, "RETRY_AFTER_MS", 5)
        self._folder = Path(tempfile.mkdtemp())
        file = self._folder / "board.db"
        file.write_bytes(_empty_board())
        self._url = f"sqlite:///{file}"
        self._spools = self._folder / "spools"
        self._loop = asyncio.Runner()
        self._reader = Reader(Database.create(self._url), chain())
        self._living: list[Process] = []
        self._model = Model()
        self._run(self._start())

    def teardown(self) -> None:
        try:
            self._run(self._come_to_rest())
        finally:
            self._run(self._end())
            self._loop.close()
            self._patch.undo()
            shutil.rmtree(self._folder)

    # What happens to calls.

    @rule(who=WHO, has_effects=st.booleans(), ends=ENDS)
    def call(self, who: int, has_effects: bool, ends: Status) -> None:
        known = self._run(self._begun(self._one(who), ready(has_effects=has_effects)))
        if known is not None:
            self._run(self._ended(known, ends))

    @rule(who=WHO, many=st.integers(2, 5))
    def calls_at_once(self, who: int, many: int) -> None:
        async def all_of_them() -> None:
            await asyncio.gather(*(self._begun(self._one(who), ready()) for _ in range(many)))

        self._run(all_of_them())

    @rule(who=WHO, key=KEYS, digest=DIGESTS)
    def call_with_a_key(self, who: int, key: str, digest: str) -> None:
        self._run(self._asked(self._one(who), key, digest))

    @precondition(lambda self: self._model.open)
    @rule(place=st.integers(0, 100), ends=ENDS)
    def end(self, place: int, ends: Status) -> None:
        running = list(self._model.open.values())
        self._run(self._ended(running[place % len(running)], ends))

    @precondition(lambda self: len(self._model.open) > 1)
    @rule(ends=ENDS)
    def end_all_at_once(self, ends: Status) -> None:
        self._run(self._all_ended(ends))

    @precondition(lambda self: self._model.open)
    @rule(place=st.integers(0, 100), ends=ENDS, trouble=TROUBLES)
    def end_without_the_database(self, place: int, ends: Status, trouble: Trouble) -> None:
        running = list(self._model.open.values())
        known = running[place % len(running)]
        assert known.process is not None
        known.process.ledger.trouble = trouble
        self._run(self._ended(known, ends))

    # What happens to processes.

    @precondition(lambda self: len(self._living) < 2)
    @rule()
    def start(self) -> None:
        self._run(self._start())

    @rule(who=WHO)
    def crash(self, who: int) -> None:
        self._run(self._crash(self._one(who)))

    @rule(who=WHO, steps=st.integers(0, 30))
    def crash_in_the_middle(self, who: int, steps: int) -> None:
        self._run(self._crash_amid(self._one(who), steps))

    @precondition(lambda self: len(self._living) > 1)
    @rule(who=WHO)
    def crash_while_the_other_looks(self, who: int) -> None:
        self._run(self._crash_looked_at(self._one(who), self._one(who + 1)))

    @rule(who=WHO, comes_back=st.booleans())
    def close(self, who: int, comes_back: bool) -> None:
        process = self._one(who)
        process.writer.heals_at_the_end = comes_back
        self._run(self._close(process))

    @rule(who=WHO, trouble=TROUBLES, spool_fails=st.booleans())
    def lose_the_database(self, who: int, trouble: Trouble, spool_fails: bool) -> None:
        process = self._one(who)
        process.ledger.trouble = trouble
        process.writer.spool_fails = spool_fails

    @rule(who=WHO)
    def find_the_database(self, who: int) -> None:
        self._run(self._heal(self._one(who)))

    @rule(who=WHO)
    def look_after_the_dead(self, who: int) -> None:
        process = self._one(who)
        if not process.ledger.trouble:
            self._run(self._heal(process))
            self._run(process.look())

    # What holds at any time.

    @invariant()
    def no_row_says_what_cannot_be(self) -> None:
        for run_id, row in self._rows().items():
            assert run_id not in self._model.open, f"it still runs: {row}"
            assert row.status in self._model.calls[run_id].fates, row

    def _rows(self) -> dict[str, Kept]:
        rows = self._run(self._reader.rows())
        by_id = {row.id: row for row in rows}
        assert len(by_id) == len(rows)
        return by_id

    def _one(self, who: int) -> Process:
        return self._living[who % len(self._living)]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(asyncio.wait_for(work, 10))

    async def _start(self) -> Process:
        process = Process(self._url, self._spools)
        self._living.append(process)
        await process.look()
        return process

    async def _begun(self, process: Process, call: ReadyCall, key: str | None = None) -> Known | None:
        """The call, if it may run; else it is refused and recorded, as the pipeline does."""
        known = Known(call, {"in_doubt", "refused", None}, process, key)
        self._model.calls[call.run_id] = known
        try:
            earlier = await process.begin(call)
        except Unavailable:
            await self._refused(known)
            return None
        assert earlier is None
        self._model.open[call.run_id] = known
        return known

    async def _refused(self, known: Known) -> None:
        process = known.process
        assert process is not None
        known.fates = {"refused", "in_doubt", None}
        try:
            await process.end(known.call, "refused", attempts=0)
        except Unavailable:
            return
        known.fates = {"refused"}

    async def _ended(self, known: Known, status: Status) -> None:
        process, call = known.process, known.call
        assert process is not None
        del self._model.open[call.run_id]
        has_intent = call.tool.has_effects or call.key is not None
        known.fates = {status, "in_doubt"} if has_intent else {status, None}
        held = self._model.keys.get(known.key) if known.key is not None else None
        after: Ask = "free" if status == "refused" else "done"
        if held is not None:
            held.may_be, held.success = {"running", "in_doubt", after}, status == "succeeded"
        try:
            await process.end(call, status, attempts=0 if status == "refused" else 1)
        except Unavailable:
            return
        known.fates = {status}
        if held is not None:
            # Where it is in the spool, others see that only when the database is back.
            held.may_be = {"running", after} if process.journal._down else {after}

    async def _all_ended(self, status: Status) -> None:
        await asyncio.gather(*(self._ended(known, status) for known in list(self._model.open.values())))

    async def _asked(self, process: Process, key: str, digest: str) -> None:
        call = ready(key=key, digest=digest, seconds=0.03)
        held = self._model.keys.get(key)
        known = Known(call, {"in_doubt", "refused", None}, process, key)
        self._model.calls[call.run_id] = known
        found: Ask
        try:
            earlier = await process.begin(call)
        except Unavailable:
            # It may hold the key until it is known to have been refused.
            if held is None:
                self._model.keys[key] = Held(call, {"free", "running", "in_doubt"})
            elif "free" in held.may_be:
                self._model.keys[key] = Held(held.call, held.may_be | {"running", "in_doubt"}, held.success)
            await self._refused(known)
            return
        except IdempotencyConflict:
            assert held is not None
            assert held.may_be != {"free"}
            await self._refused(known)
            return
        except TimedOut:
            found = "running"
        except InDoubt:
            found = "in_doubt"
        else:
            found = "free" if earlier is None else "done"
        if held is not None:
            assert found in held.may_be, (found, held)
        else:
            assert found == "free"
        if found == "free":
            self._model.keys[key] = Held(call, {"running"})
            self._model.open[call.run_id] = known
            return
        assert held is not None
        if earlier_id := (earlier.run_id if found == "done" and earlier is not None else None):
            assert earlier is not None
            assert (earlier_id, digest) == (held.call.run_id, held.call.digest)
            told = answer(held.call, success=held.success)
            assert (earlier.answer.success, earlier.answer.output_json) == (told.success, told.output_json)
        if found != "running":
            held.may_be = {found}  # and it stays so
        await self._refused(known)

    async def _crash(self, process: Process) -> None:
        self._bury(process)
        await process.crash()
        if not self._living:
            await self._start()

    async def _crash_amid(self, process: Process, steps: int) -> None:
        """Die while calls begin and end."""
        running = [known for known in self._model.open.values() if known.process is process]
        work = [asyncio.create_task(self._ended(known, "succeeded")) for known in running]
        work += [asyncio.create_task(self._begun(process, ready())) for _ in range(2)]
        for _ in range(steps):
            await asyncio.sleep(0)
        await process.crash()
        for task in work:
            task.cancel()
        await asyncio.wait(work)
        self._bury(process)
        if not self._living:
            await self._start()

    async def _crash_looked_at(self, process: Process, other: Process) -> None:
        """Die after the other has found this one alive, and before it is done with the dead."""
        self._bury(process)
        if other.ledger.trouble:
            await process.crash()
            return
        await self._heal(other)
        other.leases.first = process.crash
        await other.look()
        assert process.is_over

    def _bury(self, process: Process) -> None:
        self._living.remove(process)
        for known in self._model.calls.values():
            if known.process is not process:
                continue
            known.process = None
            if self._model.open.pop(known.call.run_id, None) is None:
                continue
            has_intent = known.call.tool.has_effects or known.key is not None
            known.fates = {"in_doubt"} if has_intent else {None}
            if known.key is not None:
                self._model.keys[known.key].may_be = {"running", "in_doubt"}

    async def _close(self, process: Process) -> None:
        """End in good order, whatever has not ended by then."""
        self._bury(process)
        await process.close()
        if not self._living:
            await self._start()

    async def _heal(self, process: Process) -> None:
        process.ledger.trouble = ""
        process.writer.spool_fails = False

        async def is_up() -> bool:
            return process.journal._down is None

        await until(is_up)

    async def _come_to_rest(self) -> None:
        for process in self._living:
            await self._heal(process)
        await self._all_ended("succeeded")
        for process in list(self._living):
            await process.look()
        assert not await self._reader.all_of("SELECT 1 FROM intents WHERE state = 'open'")
        for key, held in self._model.keys.items():
            held.may_be.discard("running")
            await self._asked(self._living[0], key, held.call.digest)
        await self._all_ended("succeeded")
        rows = {row.id: row.status for row in await self._reader.rows()}
        for run_id, known in self._model.calls.items():
            assert rows.get(run_id) in known.fates, known
        assert not await self._reader.faults()

    async def _end(self) -> None:
        for process in self._living:
            await process.close()
        await self._reader.close()


@functools.cache
def _empty_board() -> bytes:
    """A database with all tables."""

    async def made(file: Path) -> bytes:
        database = Database.create(f"sqlite:///{file}")
        await migrate(database)
        await database.close()
        return file.read_bytes()

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(made(Path(folder) / "board.db"))


def test_the_journal_keeps_its_promises_whatever_fails_in_whatever_order() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Journals,
        settings=settings(
            max_examples=60,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
