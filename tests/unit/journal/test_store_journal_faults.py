"""The journal with faults: in one row, in the values of a row, or at the end of the event loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard import Pegboard
from pegboard.model.call import Caller, ToolCall, ToolResult
from pegboard.model.call_errors import Unavailable
from pegboard.storage.database import Database
from pegboard.testing import NoSettings, calls_of, memory_board
from tests.surfaces.rest.clients import mock
from tests.unit.journal.standalone_journals import ACTIVE, a_call, opened, start
from tests.unit.storage.sample_rows import an_execution

SECRET = "hush-4711-hush"

# What runs when the loop ends: a call, and in the second case also the board that serves it.
UNDER_WAY = {
    "the board is held by main": """
    holding = memory_board()
    board = await holding.__aenter__()
    hang(board, started)
    tasks.append(asyncio.create_task(board.call("hangs")))
    await started.wait()
    tasks.append(holding)
""",
    "the board is held by a task": """
    async def hold():
        async with memory_board() as board:
            hang(board, started)
            tasks.append(asyncio.create_task(board.call("hangs")))
            await asyncio.sleep(3600)

    tasks.append(asyncio.create_task(hold()))
    await started.wait()
""",
}
PROGRAM = """
import asyncio
from pegboard.testing import memory_board

tasks = []


def hang(board, started):
    @board.tool
    async def hangs() -> None:
        started.set()
        await asyncio.sleep(3600)


async def main():
    started = asyncio.Event()
    {under_way}


asyncio.run(main())
print("ended")
"""


@pytest.mark.parametrize("under_way", UNDER_WAY.values(), ids=UNDER_WAY)
def test_a_call_under_way_does_not_keep_the_event_loop_from_ending(under_way: str) -> None:
    program = PROGRAM.replace("{under_way}", under_way.strip())
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=20)
    assert (ended.returncode, ended.stdout) == (0, "ended\n"), ended.stderr


async def test_no_caller_waits_for_a_writer_that_is_gone(database: Database, tmp_path: Path) -> None:
    standalone = start(database, tmp_path / "spools")
    with anyio.fail_after(30):
        await standalone.record()
        standalone.ledger.tried.clear()
        standalone.ledger.gate = asyncio.Event()
        first = asyncio.create_task(standalone.record())
        await standalone.ledger.tried.wait()
        second = asyncio.create_task(standalone.record())
        await asyncio.sleep(0)
        writer = next(task for task in asyncio.all_tasks() if task.get_name() == "pegboard-journal")
        writer.cancel()
        for waiting in (first, second):
            with pytest.raises(Unavailable, match="could not be recorded: the journal was closed"):
                await waiting
        with pytest.raises(Unavailable, match="takes no more rows"):
            await standalone.record()
        for key in (None, "k"):
            with pytest.raises(Unavailable):
                await standalone.begin(a_call(ACTIVE, key=key))
        standalone.ledger.gate.set()
        await standalone.journal.close()


class TestOneBadRow:
    """Only its own caller gets an error."""

    @pytest.fixture
    async def stored(self, database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
        async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as board:
            yield board

    async def test_its_neighbours_are_recorded_and_the_journal_stays_up(self, stored: Pegboard) -> None:
        with anyio.fail_after(20):
            results = await asyncio.gather(*(make_call(stored, n, is_bad=n == 7) for n in range(20)))
        culprit = results.pop(7)
        assert culprit.problem is not None
        assert (culprit.problem.code, culprit.attempts) == ("unrecorded", 1)
        assert all(result.success for result in results)
        assert {row.id for row in await calls_of(stored)} == {result.run_id for result in results}
        assert (await stored.call("echo")).success

    async def test_it_is_tried_apart_from_its_neighbours(self, database: Database, tmp_path: Path) -> None:
        bad = an_execution(surface=None)
        good = [an_execution() for _ in range(20)]
        async with opened(database, tmp_path / "spools") as standalone:
            with anyio.fail_after(20):
                ended = await asyncio.gather(*(standalone.record(row) for row in (*good, bad)), return_exceptions=True)
        assert ended[:-1] == good
        assert isinstance(ended[-1], Unavailable)
        assert [row.id for row in (*good, bad)] in standalone.ledger.failures, "the bad row was never among others"
        assert [bad.id] in standalone.ledger.failures
        assert sorted(row for commit in standalone.ledger.commits for row in commit) == sorted(row.id for row in good)

    async def test_alone_it_does_not_take_the_journal_down(self, stored: Pegboard) -> None:
        with anyio.fail_after(20):
            lost = await make_call(stored, 1, is_bad=True)
            after = await stored.call("echo")
        assert lost.problem is not None
        assert lost.problem.code == "unrecorded"
        assert after.success

    @pytest.mark.parametrize("key", [None, "k"])
    async def test_one_that_cannot_even_be_written_down_is_a_result_as_well(
        self, stored: Pegboard, key: str | None
    ) -> None:
        with anyio.fail_after(20):
            lost = await stored.call("echo", caller=Caller(None, "x"), key=key)  # type: ignore[arg-type]
            after = await stored.call("echo")
        assert not lost.success
        assert after.success


async def make_call(board: Pegboard, n: int, *, is_bad: bool) -> ToolResult:
    """Return a call whose row can be stored, or one whose row no database accepts."""
    call = ToolCall("echo", {"n": n})
    return await board.pipeline.run(call._replace(surface=None) if is_bad else call, board.admin)  # type: ignore[arg-type]


class TestNoValues:
    """The error in a row contains no values, unless its tool stores arguments anyway."""

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "integer"},
            {"enum": ["a", "b"]},
            {"const": "a"},
            {"type": "string", "pattern": "^[0-9]+$"},
            {"type": "string", "format": "date"},
            {"type": "string", "minLength": 100},
            {"type": "string", "maxLength": 3},
            {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            {"not": {"type": "string"}},
        ],
        ids=lambda schema: next(reversed(schema)),
    )
    async def test_an_output_that_breaks_its_schema_is_not_shown(self, schema: dict[str, Any]) -> None:
        output = {"type": "object", "properties": {"a": schema}}
        async with memory_board([mock(config={"mock_response": {"a": SECRET}}, output_schema=output)]) as board:
            result = await board.call("quote")
            (row,) = await calls_of(board)
        assert result.problem is not None
        assert (row.code, result.problem.code) == ("contract_violation", "contract_violation")
        assert "Field 'a'" in result.problem.message
        assert SECRET not in repr(result)
        assert SECRET not in repr(row)

    @pytest.mark.parametrize("keeps", [False, True])
    async def test_an_argument_is_shown_to_its_caller_and_kept_only_if_arguments_are(self, keeps: bool) -> None:
        schema = {
            "type": "object",
            "required": ["b"],
            "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}, "c": {"type": "array", "maxItems": 1}},
        }
        async with memory_board([mock(input_schema=schema, keep_arguments=keeps)]) as board:
            result = await board.call("quote", {"a": SECRET, "b": SECRET, "c": [SECRET, SECRET]})
            missing = await board.call("quote", {"a": SECRET})
            rows = await calls_of(board)
        assert result.problem is not None
        assert missing.problem is not None
        assert SECRET in result.problem.message
        assert [SECRET in repr(row) for row in rows] == [keeps, keeps]
        assert all("Field 'a' must be an integer" in row.error for row in rows)
        assert "'b'" in rows[1].error
