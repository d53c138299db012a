"""`pegboard call --follow`: the progress of a call, and the same result at its end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from uuid import uuid4

import anyio
import pytest
from anyio.to_thread import run_sync

from pegboard import CallContext, Pegboard
from pegboard.surfaces.cli import follow_client
from pegboard.testing import calls_of
from tests.surfaces.cli.run_program import Program
from tests.surfaces.cli.running_program import program_of_admin, relayed, started
from tests.surfaces.rest.streams import replace_following


class Counting:
    """A tool that reports progress, and then waits until the test releases it."""

    def __init__(self, board: Pegboard) -> None:
        self.began = anyio.Event()
        self.go_on = anyio.Event()
        self.runs = 0

        async def count(context: CallContext) -> dict[str, int]:
            """Count."""
            self.runs += 1
            context.progress(1, 4, "first step")
            context.partial("a piece \x1b[31mof it")
            self.began.set()
            await self.go_on.wait()
            return {"counted": 4}

        board.tool(count)


def without_times(text: str) -> str:
    return re.sub(r'(?<=execution_time_ms":)[\d.]+|call_\w+|[\d.]+(?= ms)', "_", text)


async def test_progress_and_output_are_reported_while_the_call_runs_and_the_result_is_printed(board: Pegboard) -> None:
    tool = Counting(board)
    async with program_of_admin(board) as program, started(program, "call", "count", "--follow", real=True) as running:
        await running.wait_for_stderr("  1/4 first step\n")
        await running.wait_for_stderr("a piece \\x1b[31mof it")
        assert running.err.startswith("🔧 Using Count...\n")
        assert running.out == ""
        tool.go_on.set()
        ended = (await running.ended()).done()
    assert ended.json == {"counted": 4}
    assert ended.err.splitlines()[-1].startswith("count: ")


@pytest.mark.parametrize(
    "words",
    [
        ["echo", "a:=1.10", "b=ü"],
        ["echo", "a:=0.12345678901234567890", "--json"],
        ["echo", "--as", "detailed"],
        ["echo", "--as", "openai", "--json"],
        ["math_eval", "expression=1/0"],
        ["math_eval", "expression=1/0", "--json"],
        ["calculate_rsi", "prices:=[1]", "period=14"],
        ["nonesuch"],
    ],
    ids=" ".join,
)
def test_what_is_printed_and_how_it_ends_is_the_same_as_without(admin: Program, words: list[str]) -> None:
    plain, followed = admin.run("call", *words), admin.run("call", *words, "--follow")
    assert (followed.code, without_times(followed.out)) == (plain.code, without_times(plain.out))
    status, message = followed.err.split("\n", 1)
    assert status.startswith("🔧 Using ")
    assert without_times(message) == without_times(plain.err)


def test_json_comes_in_the_style_of_the_tool(admin: Program) -> None:
    name = f"styled_{uuid4().hex[:8]}"
    definition = {"name": name, "tool_type": "mock", "config": {"mock_response": 7}, "input_schema": {}}
    admin.run("tools", "add", "-", stdin=json.dumps({**definition, "result_style": "detailed"})).done()
    assert admin.run("call", name, "--follow", "--json").done().json == {"success": True, "data": 7}
    assert admin.run("call", name, "--follow").done().json == 7


def test_what_the_board_refuses_exits_1(admin: Program) -> None:
    assert "klingon" in admin.run("call", "echo", "--follow", "--as", "klingon").err
    refused = admin.run("call", "echo", "--follow", "--thread", str(uuid4()))
    assert (refused.code, refused.out) == (1, "")
    assert "not found" in refused.err


def test_a_call_with_a_key_runs_once(member: Program) -> None:
    key = uuid4().hex
    first, again = [member.run("call", "current_time", "--follow", "--once", key).done() for _ in range(2)]
    assert again.out == first.out
    rows = member.run("audit", "list", "--json").done().json["items"]
    assert [row["repeat_of"] for row in rows] == [rows[1]["id"], None]


def test_it_works_without_a_server(tmp_path: Path) -> None:
    local = Program({"PEGBOARD_HOME": str(tmp_path / "home")})
    ran = local.start("--local", "call", "math_eval", "expression=6*7", "--follow").done()
    assert ran.json == {"result": 42}
    assert "🔧 Using Calculator...\n" in ran.err


async def test_ctrl_c_cancels_the_call_on_the_board(board: Pegboard) -> None:
    tool = Counting(board)
    async with program_of_admin(board) as program, started(program, "call", "count", "--follow") as running:
        await running.wait_for_stderr("first step")
        running.interrupt()
        ended = await running.ended()
    (row,) = await calls_of(board, "count")
    assert row.code == "cancelled"
    assert row.error == "Cancelled by admin"
    assert (ended.code, ended.out) == (130, "")
    assert ended.err.endswith(f"Cancelled {row.id}\n")
    assert tool.runs == 1


async def test_ctrl_c_without_a_server_cancels_too(tmp_path: Path) -> None:
    local = Program({"PEGBOARD_HOME": str(tmp_path / "home")})
    definition = {
        "name": "dawdle",
        "tool_type": "shell",
        "config": {"command": "echo 1/2 >&3; sleep 50", "shell": True},
        "input_schema": {},
    }
    await run_sync(lambda: local.run("--local", "tools", "add", "-", stdin=json.dumps(definition)).done())
    async with started(local, "--local", "call", "dawdle", "--follow") as running:
        await running.wait_for_stderr("1/2")
        running.interrupt()
        ended = await running.ended()
    assert ended.code == 130
    assert "Cancelled " in ended.err
    (row,) = (await run_sync(lambda: local.run("--local", "audit", "list", "--json"))).done().json["items"]
    assert row["code"] == "cancelled"


async def test_a_connection_that_breaks_is_taken_up_again(board: Pegboard) -> None:
    tool = Counting(board)
    async with relayed(board) as (program, relay), started(program, "call", "count", "--follow") as running:
        await running.wait_for_stderr("a piece")
        relay.cut()
        tool.go_on.set()
        ended = (await running.ended()).done()
    assert ended.json == {"counted": 4}
    assert (tool.runs, ended.err.count("first step"), ended.err.count("a piece")) == (1, 1, 1)
    assert relay.connections == 2


async def test_a_board_that_stays_away_exits_3_and_says_how_to_find_the_call(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_client, "RETRY_PAUSES_SECONDS", (0.0, 0.01))
    tool = Counting(board)
    async with relayed(board) as (program, relay):

        async def close() -> None:
            await tool.began.wait()
            relay.close()

        async with anyio.create_task_group() as group:
            group.start_soon(close)
            ran = await run_sync(lambda: program.run("call", "count", "--follow", "--once", "k"))
        tool.go_on.set()
    (row,) = await calls_of(board, "count")
    assert (ran.code, ran.out) == (3, "")
    assert "The connection was lost, and no new one can be opened" in ran.err
    assert f"pegboard audit show {row.id}" in ran.err
    assert "run the same command again" in ran.err


@pytest.mark.parametrize("follow", [[], ["--follow"]])
async def test_a_thread_that_was_deleted_during_the_call_is_reported_and_the_answer_printed(
    board: Pegboard, follow: list[str]
) -> None:
    tool = Counting(board)
    thread = await board.threads.create(board.admin)
    words = ["call", "count", "--thread", thread.id, *follow]
    async with program_of_admin(board) as program, started(program, *words) as running:
        await tool.began.wait()
        await board.threads.delete(thread.id, board.admin)
        tool.go_on.set()
        ended = (await running.ended()).done()
    assert ended.json == {"counted": 4}
    assert "Not stored in the thread: " in ended.err


async def test_events_that_are_gone_exit_1_and_say_so(board: Pegboard) -> None:
    tool = Counting(board)
    async with relayed(board) as (program, relay), started(program, "call", "count", "--follow") as running:
        await running.wait_for_stderr("first step")
        replace_following(board)  # as after a restart of the server
        relay.cut()
        ended = await running.ended()
        tool.go_on.set()
    assert (ended.code, ended.out) == (1, "")
    assert "The call cannot be followed any more" in ended.err
    assert "pegboard audit show" in ended.err
