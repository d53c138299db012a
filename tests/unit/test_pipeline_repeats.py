"""Repeats of a call: their results, and the intent while the first call runs."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pegboard import Pegboard
from pegboard.journal.journal import EarlierCall, StoredAnswer
from pegboard.model.call import Execution
from pegboard.model.call_errors import Unavailable
from pegboard.testing import NoSettings
from tests.surfaces.rest.clients import mock
from tests.unit.memory_journal import Recording


@pytest.fixture
def journal() -> Recording:
    return Recording()


@pytest.fixture
async def recorded_board(journal: Recording) -> AsyncIterator[Pegboard]:
    """A board with that journal."""
    async with Pegboard.open("memory", settings=NoSettings(drain_seconds=2), journal=journal) as fresh:
        yield fresh


class TestRepeats:
    async def test_a_call_that_was_made_before_does_not_run_and_is_answered_as_it_was_then(
        self, recorded_board: Pegboard, journal: Recording
    ) -> None:
        ran = []

        @recorded_board.tool
        async def note() -> None:
            ran.append(1)

        answer = StoredAnswer(True, b'{"n":1}', None, 12.5, 3, True, "detailed")
        journal.earlier = EarlierCall("the first", answer)
        result = await recorded_board.call("note", key="k")
        assert ran == []
        assert StoredAnswer.of(result) == answer
        assert (result.repeat_of, result.run_id) == ("the first", journal.rows[0].id)
        (row,) = journal.rows
        assert (row.status, row.repeat_of, row.attempts, row.elapsed_ms) == ("succeeded", "the first", 0, 12.5)

    async def test_one_that_failed_then_has_failed_now_and_falls_back_on_nothing(
        self, recorded_board: Pegboard, journal: Recording
    ) -> None:
        @recorded_board.tool(fallback={"value": 1})
        async def note() -> None:
            raise ValueError("never run")

        problem = Unavailable("The disk is full").problem
        journal.earlier = EarlierCall("the first", StoredAnswer(False, problem=problem, attempts=1))
        result = await recorded_board.call("note", key="k")
        assert (result.success, result.problem, result.fallback) == (False, problem, False)
        assert [(row.status, row.code, row.repeat_of) for row in journal.rows] == [
            ("failed", "unavailable", "the first")
        ]


class TestDrafts:
    async def test_a_draft_is_the_row_but_for_how_it_ended(self, recorded_board: Pegboard, journal: Recording) -> None:
        await recorded_board.add(mock(keep_arguments=True, keep_result=True))
        result = await recorded_board.call("quote", {"n": 1})
        (draft,), (row,) = journal.drafts, journal.rows
        assert journal.results == [result]
        assert (draft.status, draft.code, draft.attempts, draft.result) == ("in_doubt", "in_doubt", 1, None)
        assert (row.status, row.code, row.attempts, row.result) == ("succeeded", None, 1, 1)
        ended = {"status", "code", "error", "finished_at", "elapsed_ms", "result"}
        assert {name for name in Execution._fields if getattr(draft, name) != getattr(row, name)} == ended

    async def test_the_journal_receives_the_key_and_no_row_does(
        self, recorded_board: Pegboard, journal: Recording
    ) -> None:
        await recorded_board.call("echo", key="hush-key")
        assert journal.begun[0].key == "hush-key"
        assert "hush-key" not in repr(journal.rows + journal.drafts)
