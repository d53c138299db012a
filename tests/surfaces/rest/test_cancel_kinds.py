"""`DELETE /v1/calls/{run}` ends calls of every kind."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.storage.database import Database
from pegboard.testing import NoSettings, calls_of
from tests.board_surfaces import KEY
from tests.integration.confined_board import python, shell
from tests.surfaces.rest.clients import client, good, mock, problem
from tests.table_databases import A_MOOD, log_mood, make_mood_entries, rows_of, write_tables
from tests.unit.kinds.mcp.changeable_server import ChangeableServer, tool
from tests.upstreams import Received, Wire, hang, upstream
from tests.waiting import until


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board that may reach loopback, on its own database."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, drain_seconds=2, egress_allow="127.0.0.1")
    async with Pegboard.open(f"sqlite:///{tmp_path}/board.db", settings=settings) as opened:
        yield opened


async def running(board: Pegboard) -> str:
    """Return the id of the only call, as soon as it has begun."""

    async def begun() -> str:
        return next((run.id for run in board.pipeline.running_calls if run.attempts.count), "")

    return await until(begun)


async def ends(board: Pegboard, name: str, arguments: dict[str, Any] | None = None) -> None:
    """Cancel a call of this tool: answered as cancelled, recorded once, nothing left behind."""
    answers: list[httpx.Response] = []
    async with client(board) as admin, anyio.create_task_group() as group:

        async def call() -> None:
            answers.append(await admin.post(f"/v1/tools/{name}/call", json=arguments or {}))

        group.start_soon(call)
        run_id = await running(board)
        with anyio.fail_after(10):
            good(await admin.delete(f"/v1/calls/{run_id}"), 204)
        # It has been recorded before.
        row = good(await admin.get(f"/v1/executions/{run_id}"))
        assert (row["status"], row["code"], row["error"]) == ("failed", "cancelled", f"Cancelled by {board.admin.name}")
        again = problem(await admin.delete(f"/v1/calls/{run_id}"), 409)
        assert "failed (cancelled)" in again["detail"]
    assert '"cancelled"' in answers[0].text
    assert len(await calls_of(board, name)) == 1
    assert not board.pipeline.running_count
    assert not board.journal.open_count  # type: ignore[attr-defined]


async def test_an_async_function(board: Pegboard) -> None:
    was_reported = anyio.Event()

    @board.tool
    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            was_reported.set()

    await ends(board, "wait")
    assert was_reported.is_set()


async def test_a_function_in_a_thread(board: Pegboard) -> None:
    let_go = threading.Event()

    @board.tool
    def wait() -> None:
        let_go.wait(30)

    await ends(board, "wait")
    let_go.set()


async def test_an_http_call(board: Pegboard) -> None:
    async with upstream(hang) as running_server:
        config = {"url": running_server.url, "method": "POST"}
        await board.add({"name": "far", "tool_type": "http", "config": config, "input_schema": {"type": "object"}})
        await ends(board, "far")

        async def hung_up() -> bool:
            return not running_server.open

        await until(hung_up)


class Hanging(ChangeableServer):
    """A server that never answers a call."""

    async def _reply(self, message: Any, method: str, got: Received, wire: Wire) -> None:
        if method == "tools/call":
            await hang(got, wire)
        else:
            await super()._reply(message, method, got, wire)


async def test_a_call_of_an_mcp_server(board: Pegboard) -> None:
    made = Hanging([tool("say")])
    async with upstream(made.behave) as server, client(board) as admin:
        made.server = server
        good(await admin.post("/v1/imports/mcp", json={"server_url": made.url}))
        await ends(board, "say")
        found = [json.loads(got.body) for got in server.received if got.body]
        assert "notifications/cancelled" in [message.get("method") for message in found]


async def test_a_python_tool(board: Pegboard) -> None:
    await board.add(python("def main():\n    while True:\n        pass\n", "spin"))
    await ends(board, "spin")


async def test_a_shell_tool(board: Pegboard) -> None:
    await board.add(shell("sleep 30", name="nap"))
    await ends(board, "nap")


async def test_an_insert_into_a_table_that_others_keep_locked(postgres_url: str, tmp_path: Path) -> None:
    await make_mood_entries(postgres_url)
    file = write_tables(tmp_path / "tables.json", log_mood(), database=postgres_url)
    locked = Database.create(postgres_url)
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, drain_seconds=2, tables=file)
    async with Pegboard.open(f"sqlite:///{tmp_path}/board.db", settings=settings) as board:
        async with locked.engine.begin() as holder:
            await holder.execute(text("LOCK TABLE mood_entries IN ACCESS EXCLUSIVE MODE"))
            await ends(board, "log-mood", A_MOOD)
        assert await rows_of(postgres_url, "SELECT count(*) FROM mood_entries") == [(0,)]
    await locked.close()


async def test_what_is_over_at_once_has_ended_already(board: Pegboard) -> None:
    await board.add(mock("quote"))
    async with client(board) as admin:
        for name in ("echo", "quote"):
            answered = await admin.post(f"/v1/tools/{name}/call", json={})
            run_id = answered.headers["x-execution-id"]
            assert "succeeded" in problem(await admin.delete(f"/v1/calls/{run_id}"), 409)["detail"]
