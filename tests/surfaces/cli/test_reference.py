"""`pegboard codes`, `pegboard tools kinds` and `pegboard running`."""

from __future__ import annotations

import json

import anyio

from pegboard import CallContext, Pegboard
from tests.surfaces.cli.run_program import Program
from tests.surfaces.cli.running_program import program_of_admin


def test_codes_are_listed_and_one_is_explained(admin: Program) -> None:
    listed = admin.run("codes").done().out
    assert "rate_limited" in listed
    assert "P2002" in listed
    one = admin.run("codes", "rate_limited").done().out
    assert one.splitlines()[1] == "What to do: Wait retry_after_ms, then try again."
    assert json.loads(admin.run("codes", "timeout", "--json").done().out)["type"] == "UNKNOWN_ERROR"
    refused = admin.run("codes", "nonesuch")
    assert (refused.code, refused.out) == (1, "")
    assert "'nonesuch' is not known" in refused.err


def test_kinds_are_listed_and_one_is_shown_with_an_example(admin: Program) -> None:
    rows = [line.split()[:2] for line in admin.run("tools", "kinds").done().out.splitlines()]
    assert ["http", "users"] in rows
    assert ["table", "admins"] in rows
    heading, _, example = admin.run("tools", "kinds", "mcp").done().out.partition("{")
    assert "Only admins may register tools with a command" in heading
    assert json.loads("{" + example)["tool_type"] == "mcp"
    assert "config_schema" in json.loads(admin.run("tools", "kinds", "mcp", "--json").done().out)


async def test_running_calls_are_listed_with_their_progress(board: Pegboard) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    @board.tool
    async def wait(context: CallContext) -> None:
        """Wait."""
        context.progress(1, 3)
        begun.set()
        await go_on.wait()

    async with program_of_admin(board) as program, anyio.create_task_group() as group:
        group.start_soon(lambda: board.call("wait", on_progress=lambda _: None))
        await begun.wait()
        ended = await anyio.to_thread.run_sync(lambda: program.run("running").done())
        go_on.set()
    (line,) = ended.out.splitlines()[-1:]
    assert "wait" in line
    assert "admin" in line
    assert "1/3" in line
