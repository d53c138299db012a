"""Keys in use: repeats that arrive while the first call runs, is cancelled or dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from pegboard.journal import commit_queue
from pegboard.model.call import ToolResult
from pegboard.model.call_errors import TimedOut, Unavailable
from pegboard.storage.database import Database
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import mock
from tests.unit.journal.standalone_journals import ACTIVE, a_call, kill, opened, row_of
from tests.unit.journal.two_boards import Boards, CountingTool, code, intents, is_repeat, two_boards
from tests.waiting import until


@pytest.fixture(autouse=True)
def siblings_are_looked_after_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find a dead caller at once, instead of every few seconds."""
    monkeypatch.setattr(commit_queue, "MAINTENANCE_SECONDS", 0.1)


@pytest.fixture
async def boards(database_url: str, tmp_path: Path) -> AsyncIterator[Boards]:
    async with two_boards(database_url, tmp_path / "home") as both:
        yield both


class TestAtOnce:
    @pytest.mark.parametrize("places", [[0] * 10, [0, 1] * 5, [0, *[1] * 9]], ids=["one board", "both", "the other"])
    async def test_of_ten_one_runs_and_all_get_its_answer(self, boards: Boards, places: list[int]) -> None:
        note = CountingTool(*boards, waits=True)
        calls = [asyncio.create_task(boards[place].call("note", {"n": 3}, key="k")) for place in places]
        with anyio.fail_after(20):
            await note.started.wait()
            note.go.set()
            results = await asyncio.gather(*calls)
        (first,) = [result for result in results if result.repeat_of is None]
        assert all(is_repeat(result, first) for result in results if result is not first)
        assert note.ran == [3]
        rows = await calls_of(boards[0])
        assert {row.id for row in rows} == {result.run_id for result in results}
        assert sorted(row.repeat_of or "" for row in rows) == ["", *[first.run_id] * 9]

    async def test_many_keys_at_once_through_both_boards_each_run_once(self, boards: Boards) -> None:
        note = CountingTool(*boards)
        with anyio.fail_after(30):
            results = await asyncio.gather(
                *(board.call("note", {"n": n}, key=f"k{n}") for _ in range(3) for n in range(20) for board in boards)
            )
        assert sorted(note.ran) == list(range(20))
        assert all(result.success for result in results), [code(result) for result in results]
        assert len([result for result in results if result.repeat_of is None]) == 20

    async def test_other_arguments_during_the_first_call_are_a_conflict(self, boards: Boards) -> None:
        note = CountingTool(*boards, waits=True)
        first = asyncio.create_task(boards[0].call("note", {"n": 1}, key="k"))
        await note.started.wait()
        others = [asyncio.create_task(board.call("note", {"n": 2}, key="k")) for board in boards]
        await asyncio.wait({others[1]}, timeout=5)
        note.go.set()
        with anyio.fail_after(30):
            assert [code(result) for result in await asyncio.gather(*others)] == ["idempotency_conflict"] * 2
            assert (await first).success
        assert note.ran == [1]

    async def test_if_the_tool_cannot_run_each_waiting_call_gets_the_reason(self, boards: Boards) -> None:
        await boards[0].add(mock(tool_type="internal", config={"handler": "none"}))
        await boards[1].snapshot.refresh()
        with anyio.fail_after(20):
            results = await asyncio.gather(*(board.call("quote", key="k") for _ in range(5) for board in boards))
        assert {code(result) for result in results} == {"handler_not_found"}
        assert all(result.repeat_of is None for result in results)
        assert await intents(boards[0].database) == []


class TestDeadlines:
    async def test_a_repeat_gives_up_at_its_own_deadline_and_the_first_continues(self, boards: Boards) -> None:
        note = CountingTool(boards[0], waits=True, timeout=30)
        note.register(boards[1], timeout=0.3)
        first = asyncio.create_task(boards[0].call("note", key="k"))
        await note.started.wait()
        with anyio.fail_after(30):
            late = await boards[1].call("note", key="k")
        assert late.problem is not None
        assert (late.problem.code, late.problem.retryable) == ("timeout", True)
        assert "still running" in late.problem.message
        note.go.set()
        done = await first
        assert done.success
        assert is_repeat(await boards[1].call("note", key="k"), done)
        assert len(note.ran) == 1
        assert [(row.status, row.attempts) for row in await calls_of(boards[0])] == [
            ("succeeded", 1),
            ("refused", 0),
            ("succeeded", 0),
        ]

    async def test_also_if_the_first_is_its_neighbour(self, database: Database, tmp_path: Path) -> None:
        async with opened(database, tmp_path / "spools") as standalone:
            first = a_call(ACTIVE, key="k")
            assert await standalone.begin(first) is None
            with anyio.fail_after(30), pytest.raises(TimedOut, match="still running"):
                await standalone.begin(a_call(ACTIVE, key="k", seconds=0.2))
            await standalone.journal.record(row_of(first), ToolResult("active", True, b"1", attempts=1))
            earlier = await standalone.begin(a_call(ACTIVE, key="k"))
            assert earlier is not None
            assert (earlier.run_id, earlier.answer.output_json) == (first.run_id, b"1")


async def test_waiting_for_another_process_ends_with_the_journal(database: Database, tmp_path: Path) -> None:
    async with opened(database, tmp_path / "a") as one:
        assert await one.begin(a_call(ACTIVE, key="k")) is None
        async with opened(database, tmp_path / "b") as other:
            waiting = asyncio.create_task(other.begin(a_call(ACTIVE, key="k", seconds=60)))
            await other.ledger.tried.wait()
        with anyio.fail_after(30), pytest.raises(Unavailable):
            await waiting


class TestCancelled:
    async def test_while_it_runs_it_has_run_and_its_repeats_are_informed(self, boards: Boards) -> None:
        note = CountingTool(*boards, waits=True)
        first = asyncio.create_task(boards[0].call("note", key="k"))
        await note.started.wait()
        waiting = [asyncio.create_task(board.call("note", key="k")) for board in boards]
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with anyio.fail_after(30):
            results = await asyncio.gather(*waiting)
        results += [await board.call("note", key="k") for board in boards]
        assert [code(result) for result in results] == ["cancelled"] * 4
        assert len(note.ran) == 1

    async def test_before_it_runs_the_key_is_free(self, database: Database, tmp_path: Path) -> None:
        async with opened(database, tmp_path / "spools") as standalone:
            await standalone.record()
            standalone.ledger.gate = asyncio.Event()
            standalone.ledger.tried.clear()
            call = a_call(ACTIVE, key="k")
            first = asyncio.create_task(standalone.begin(call))
            await standalone.ledger.tried.wait()
            waiting = asyncio.create_task(standalone.begin(a_call(ACTIVE, key="k")))
            await asyncio.sleep(0)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            standalone.ledger.gate.set()
            gone = row_of(call, status="refused", code="cancelled", attempts=0)
            with anyio.fail_after(30):
                await standalone.record(gone, success=False)
                assert await waiting is None, "the one that waited is the one to run"
            assert await intents(database) == [("open", True)]

    async def test_while_it_is_recorded_its_answer_is_kept(self, database: Database, tmp_path: Path) -> None:
        async with opened(database, tmp_path / "spools") as standalone:
            call = a_call(ACTIVE, key="k")
            assert await standalone.begin(call) is None
            standalone.ledger.gate = asyncio.Event()
            standalone.ledger.tried.clear()
            result = ToolResult("active", True, b'"done"', attempts=1)
            recording = asyncio.create_task(standalone.journal.record(row_of(call), result))
            await standalone.ledger.tried.wait()
            recording.cancel()
            with pytest.raises(asyncio.CancelledError):
                await recording
            repeat = asyncio.create_task(standalone.begin(a_call(ACTIVE, key="k")))
            standalone.ledger.gate.set()
            with anyio.fail_after(30):
                earlier = await repeat
            assert earlier is not None
            assert earlier.answer.output_json == b'"done"'

    async def test_a_repeat_that_is_cancelled_while_it_waits_hurts_no_other_call(self, boards: Boards) -> None:
        note = CountingTool(*boards, waits=True)
        first = asyncio.create_task(boards[0].call("note", key="k"))
        await note.started.wait()
        waiting = [asyncio.create_task(board.call("note", key="k")) for board in boards for _ in range(2)]
        await asyncio.sleep(0)
        for repeat in waiting[::2]:
            repeat.cancel()
        await asyncio.wait(waiting[::2], timeout=5)
        note.go.set()
        with anyio.fail_after(30):
            done = await first
            assert all([is_repeat(await repeat, done) for repeat in waiting[1::2]])
        assert len(note.ran) == 1
        assert len(await calls_of(boards[0])) == 5
        assert await intents(boards[0].database) == [("done", True)]


async def test_a_key_that_is_let_go_at_the_very_moment_it_is_asked_for_is_asked_for_again(
    database: Database, tmp_path: Path
) -> None:
    async with opened(database, tmp_path / "a") as one, opened(database, tmp_path / "b") as other:
        held = a_call(ACTIVE, key="k")
        assert await one.begin(held) is None
        other.ledger.vanishing = [held.run_id]
        with anyio.fail_after(30):
            assert await other.begin(a_call(ACTIVE, key="k")) is None


class TestDead:
    """A process that dies while it runs a call with a key leaves the call in doubt permanently."""

    async def test_a_waiting_call_in_another_process_gets_the_result(self, boards: Boards) -> None:
        note = CountingTool(*boards, waits=True)
        first = asyncio.create_task(boards[0].call("note", key="k"))
        await note.started.wait()
        waiting = asyncio.create_task(boards[1].call("note", key="k"))
        await kill(boards[0])
        with anyio.fail_after(20):
            result = await waiting
        assert result.problem is not None
        assert (result.problem.code, result.problem.retryable) == ("in_doubt", False)
        (row,) = [row for row in await calls_of(boards[1]) if row.status == "in_doubt"]
        assert row.id in result.problem.message, "it names the execution to look at"
        assert (row.tool_name, row.code, row.attempts, row.repeat_of) == ("note", "in_doubt", 1, None)
        for arguments, expected in (({}, "in_doubt"), ({"n": 5}, "idempotency_conflict"), ({}, "in_doubt")):
            assert code(await boards[1].call("note", arguments, key="k")) == expected
        assert len(note.ran) == 1
        assert (await boards[1].call("echo")).success
        note.go.set()
        lost = await first
        assert code(lost) == "unrecorded", "the dead tell no tales"
        assert code(await boards[1].call("note", key="k")) == "in_doubt"

    async def test_a_key_whose_call_had_ended_keeps_its_answer(self, boards: Boards) -> None:
        note = CountingTool(*boards)
        first = await boards[0].call("note", key="k")
        await kill(boards[0])

        async def recovered() -> bool:
            async with boards[1].database.read() as conn:
                left = await conn.exec_driver_sql("SELECT count(*) FROM writers WHERE closed_at IS NULL")
                return int(left.scalar_one()) <= 1

        assert is_repeat(await boards[1].call("note", key="k"), first)
        await until(recovered)
        assert is_repeat(await boards[1].call("note", key="k"), first)
        assert len(note.ran) == 1
