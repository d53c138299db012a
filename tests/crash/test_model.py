"""The journal compared with a model: faults and killed processes in any order."""

from __future__ import annotations

import asyncio
import functools
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from pegboard.journal import commit_queue
from pegboard.model.call import Status
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.crash.journal_model import JournalModel, KnownCall
from tests.crash.standalone_journals import Process, Trouble, ready

T = TypeVar("T")
WHO = st.integers(0, 1)
KEYS = st.sampled_from(("a", "b"))
DIGESTS = st.sampled_from(("same", "same", "other"))
TROUBLES: st.SearchStrategy[Trouble] = st.sampled_from(("away", "undone", "mute"))
ENDS: st.SearchStrategy[Status] = st.sampled_from(("succeeded", "failed", "refused"))
PLACES = st.integers(0, 100)


class Journals(RuleBasedStateMachine):
    """The possible events."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(commit_queue, "MAINTENANCE_SECONDS", 1e9)  # only if a rule says so
        self._patch.setattr(commit_queue, "RETRY_AFTER_MS", 5)
        self._folder = Path(tempfile.mkdtemp())
        file = self._folder / "board.db"
        file.write_bytes(_empty_board())
        self._loop = asyncio.Runner()
        self.world = JournalModel(f"sqlite:///{file}", self._folder / "spools")
        self._run(self.world.start())

    def teardown(self) -> None:
        """Let everything end, check the rows, and remove everything."""
        try:
            self._run(self.world.finish_all())
        finally:
            self._run(self.world.kill_all_processes())
            self._loop.close()
            self._patch.undo()
            shutil.rmtree(self._folder)

    # To calls.

    @rule(who=WHO, has_effects=st.booleans(), ends=ENDS)
    def call(self, who: int, has_effects: bool, ends: Status) -> None:
        known = self._run(self.world.begin(self._one(who), ready(has_effects=has_effects)))
        if known is not None:
            self._run(self.world.end(known, ends))

    @rule(who=WHO, many=st.integers(2, 5))
    def begin_at_once(self, who: int, many: int) -> None:
        async def all_of_them() -> None:
            await asyncio.gather(*(self.world.begin(self._one(who), ready()) for _ in range(many)))

        self._run(all_of_them())

    @rule(who=WHO, key=KEYS, digest=DIGESTS)
    def call_with_a_key(self, who: int, key: str, digest: str) -> None:
        self._run(self.world.ask(self._one(who), key, digest))

    @precondition(lambda self: self.world.open)
    @rule(place=PLACES, ends=ENDS)
    def end(self, place: int, ends: Status) -> None:
        self._run(self.world.end(self._running(place), ends))

    @precondition(lambda self: self.world.open)
    @rule(place=PLACES, ends=ENDS, trouble=TROUBLES)
    def end_without_the_database(self, place: int, ends: Status, trouble: Trouble) -> None:
        known = self._running(place)
        assert known.process is not None
        known.process.ledger.trouble = trouble
        self._run(self.world.end(known, ends))

    @precondition(lambda self: len(self.world.open) > 1)
    @rule(ends=ENDS)
    def end_all_at_once(self, ends: Status) -> None:
        self._run(self.world.end_all(ends))

    # To processes.

    @precondition(lambda self: len(self.world.living) < 2)
    @rule()
    def start(self) -> None:
        self._run(self.world.start())

    @rule(who=WHO)
    def crash(self, who: int) -> None:
        self._run(self.world.crash(self._one(who)))

    @rule(who=WHO, steps=st.integers(0, 30))
    def crash_in_the_middle(self, who: int, steps: int) -> None:
        self._run(self.world.crash_amid(self._one(who), steps))

    @precondition(lambda self: len(self.world.living) > 1)
    @rule(who=WHO)
    def crash_while_the_other_looks(self, who: int) -> None:
        self._run(self.world.crash_when_seen(self._one(who), self._one(who + 1)))

    @rule(who=WHO, is_restored=st.booleans())
    def close(self, who: int, is_restored: bool) -> None:
        process = self._one(who)
        process.writer.heals_at_the_end = is_restored
        self._run(self.world.close(process))

    @rule(who=WHO, trouble=TROUBLES, spool_fails=st.booleans())
    def lose_the_database(self, who: int, trouble: Trouble, spool_fails: bool) -> None:
        process = self._one(who)
        process.ledger.trouble = trouble
        process.writer.spool_fails = spool_fails

    @rule(who=WHO)
    def find_the_database(self, who: int) -> None:
        self._run(self.world.heal(self._one(who)))

    @rule(who=WHO)
    def look_after_the_dead(self, who: int) -> None:
        process = self._one(who)
        if not process.ledger.trouble:
            self._run(self.world.heal(process))
            self._run(process.look())

    @invariant()
    def no_row_says_what_cannot_be(self) -> None:
        self._run(self.world.check())

    def _one(self, who: int) -> Process:
        return self.world.living[who % len(self.world.living)]

    def _running(self, place: int) -> KnownCall:
        running = list(self.world.open.values())
        return running[place % len(running)]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(asyncio.wait_for(work, 30))


@functools.cache
def _empty_board() -> bytes:
    """A database with all tables."""

    async def make(url: str) -> None:
        database = Database.create(url)
        await migrate(database)
        await database.close()

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "board.db"
        asyncio.run(make(f"sqlite:///{file}"))
        return file.read_bytes()


@pytest.mark.timeout(600)  # only if the test fails: hypothesis searches for the shortest example
def test_the_journal_keeps_its_promises_whatever_fails_in_whatever_order() -> None:
    run_state_machine_as_test(
        Journals,
        settings=settings(
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
