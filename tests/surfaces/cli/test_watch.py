"""`pegboard watch` and `pegboard cancel`: the calls that run now."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from pegboard import CallContext, Pegboard
from pegboard.testing import calls_of, member
from tests.surfaces.cli.run_program import Program
from tests.surfaces.cli.running_program import program_of_admin, relayed, started
from tests.waiting import until

WATCHING = "Watching; Ctrl-C ends it\n"


def waiting(board: Pegboard) -> anyio.Event:
    """A tool that continues when the event is set."""
    go_on = anyio.Event()

    async def wait(context: CallContext) -> int:
        """Wait."""
        context.progress(1, 3)
        await go_on.wait()
        return 7

    board.tool(wait)
    return go_on


async def test_each_call_is_a_line_when_it_begins_continues_and_ends(board: Pegboard) -> None:
    go_on = waiting(board)
    async with program_of_admin(board) as program, started(program, "watch", real=True) as running:
        await running.wait_for_stderr(WATCHING)
        async with anyio.create_task_group() as group:
            group.start_soon(board.call, "wait")
            await running.writes("1/3")
            go_on.set()
        await board.call("math_eval", {"expression": "1/0"})
        await running.writes("execution_failed")
        running.interrupt()
        ended = (await running.ended()).done()
    lines = [line.split() for line in ended.out.splitlines()]
    assert [(mark, tool, caller) for _, mark, tool, caller, *_ in lines] == [
        ("▸", "wait", "admin"),
        ("…", "wait", "admin"),
        ("✓", "wait", "admin"),
        ("▸", "math_eval", "admin"),
        ("✗", "math_eval", "admin"),
    ]
    rows = await calls_of(board)
    assert [line[-1] for line in lines] == [rows[0].id] * 3 + [rows[1].id] * 2
    assert lines[4][-3:-1] == ["ms", "execution_failed"]


async def test_with_json_each_event_is_one_object(board: Pegboard) -> None:
    async with program_of_admin(board) as program, started(program, "watch", "--json") as running:
        await running.wait_for_stderr(WATCHING)
        await board.call("echo", {"a": 1})
        await running.writes("finished")
        running.interrupt()
        events = [json.loads(line) for line in (await running.ended()).done().out.splitlines()]
    assert [event["event"] for event in events] == ["started", "finished"]
    assert {event["data"]["tool_name"] for event in events} == {"echo"}
    assert events[1]["data"]["status"] == "succeeded"


async def test_calls_of_one_tool_or_of_one_user_are_picked_out(board: Pegboard) -> None:
    other_user = await member(board, "somebody")
    async with (
        program_of_admin(board) as program,
        started(program, "watch", "--tool", "echo") as by_tool,
        started(program, "watch", "--user", "somebody") as by_user,
    ):
        await by_tool.wait_for_stderr(WATCHING)
        await by_user.wait_for_stderr(WATCHING)
        await board.call("current_time")
        await board.call("echo")
        await board.call("current_time", caller=other_user)
        await by_tool.writes("✓")
        await by_user.writes("✓")
        by_tool.interrupt()
        by_user.interrupt()
        assert "current_time" not in (await by_tool.ended()).done().out
        assert "admin" not in (await by_user.ended()).done().out


async def test_it_continues_when_the_connection_broke(board: Pegboard) -> None:
    async with relayed(board) as (program, relay), started(program, "watch") as running:
        await running.wait_for_stderr(WATCHING)
        await board.call("echo")
        await running.writes("✓ echo")
        relay.cut()
        await running.wait_for_stderr("Watching again")
        await board.call("current_time")
        await running.writes("✓ current_time")
        running.interrupt()
        ended = (await running.ended()).done()
    assert "Connection lost, trying again: " in ended.err
    assert ended.out.count("✓ echo") == 1


async def test_without_a_server_it_shows_what_other_processes_have_called(tmp_path: Path) -> None:
    local = Program({"PEGBOARD_HOME": str(tmp_path / "home")})
    await run_sync(lambda: local.run("--local", "whoami").done())
    async with started(local, "watch", "--local") as running:
        await running.wait_for_stderr(WATCHING)
        async with started(local, "call", "echo", "--local") as calling:
            (await calling.ended()).done()
        await running.writes("✓ echo")
        running.interrupt()
        (await running.ended()).done()


def test_a_board_that_is_not_there_or_does_not_know_the_key_is_not_waited_for(admin: Program) -> None:
    assert admin.run("watch", PEGBOARD_URL="http://127.0.0.1:1").code == 3
    assert admin.run("watch", "--key", "pb_wrong").code == 1
    assert admin.run("watch", "--user", "nobody").code == 1


async def test_a_running_call_is_cancelled_by_its_id(board: Pegboard) -> None:
    waiting(board)
    async with program_of_admin(board) as program, started(program, "call", "wait", "--follow") as calling:
        await calling.wait_for_stderr("1/3")
        (run_id,) = [run.id for run in board.pipeline.running_calls]
        async with started(program, "cancel", run_id) as cancelling:
            assert (await cancelling.ended()).done().out == f"cancelled {run_id}\n"
        ended = await calling.ended()
        async with started(program, "cancel", run_id) as again:
            refused = await again.ended()
    assert (ended.code, ended.out) == (1, "")
    assert "Failed: Cancelled by admin" in ended.err
    (row,) = await until(lambda: calls_of(board, "wait"))
    assert row.code == "cancelled"
    assert refused.code == 1
    assert "has ended already" in refused.err
    assert f"See: pegboard audit show {run_id}" in refused.err


@pytest.mark.parametrize("run_id", ["nonesuch", "01a1e2d0-2197-7b27-bdf2-766d6a48b2de"])
def test_what_does_not_run_cannot_be_cancelled(admin: Program, run_id: str) -> None:
    refused = admin.run("cancel", run_id)
    assert (refused.code, refused.out) == (1, "")
    assert f"No running call has the id '{run_id}'" in refused.err
    assert "See: pegboard audit list" in refused.err
