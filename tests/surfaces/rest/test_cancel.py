"""Permissions to cancel a call, and what the callers receive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.ids import new_id
from pegboard.storage import cancellation_rows
from pegboard.testing import NoSettings, calls_of
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import client, good, new_user, problem
from tests.surfaces.rest.streams import reading
from tests.waiting import until

CALLS = "/v1/calls"


def waiting(board: Pegboard) -> None:
    async def wait(n: int = 0) -> None:
        await anyio.sleep_forever()

    board.tool(name="wait", is_public=True)(wait)


async def begun(board: Pegboard) -> str:
    """Return the id of a running call, as soon as there is one."""

    async def look() -> str:
        return next((run.id for run in board.pipeline.running_calls if run.attempts.count), "")

    return await until(look)


async def test_only_its_caller_and_admins_may_end_a_call(board: Pegboard, admin: httpx.AsyncClient) -> None:
    waiting(board)
    _, mias = await new_user(admin, "mia")
    _, toms = await new_user(admin, "tom")
    async with client(board, mias) as mia, client(board, toms) as tom, anyio.create_task_group() as group:
        for who in (mia, admin):
            group.start_soon(lambda: mia.post(CALLS, json={"name": "wait"}))
            run_id = await begun(board)
            assert "No running call has the id" in problem(await tom.delete(f"{CALLS}/{run_id}"), 404)["detail"]
            assert board.pipeline.running(run_id) is not None
            good(await who.delete(f"{CALLS}/{run_id.upper()}"), 204)
            problem(await tom.delete(f"{CALLS}/{run_id}"), 404)
            assert "has ended already" in problem(await who.delete(f"{CALLS}/{run_id}"), 409)["detail"]
    rows = await calls_of(board, "wait")
    assert [row.error for row in rows] == ["Cancelled by mia", f"Cancelled by {board.admin.name}"]
    for unknown in ("nowhere", new_id(), "x" * 300):
        problem(await admin.delete(f"{CALLS}/{unknown}"), 404)


async def test_an_agents_key_ends_the_calls_of_that_agent_alone(board: Pegboard, admin: httpx.AsyncClient) -> None:
    waiting(board)
    agent = good(await admin.post("/v1/agents", json={"name": "robot", "tools": ["wait"]}), 201)
    made = good(await admin.post(f"/v1/users/{board.admin.user_id}/keys", json={"agent_id": agent["id"]}), 201)
    async with client(board, made["key"]) as robot, anyio.create_task_group() as group:
        group.start_soon(lambda: admin.post(CALLS, json={"name": "wait"}))
        run_id = await begun(board)
        problem(await robot.delete(f"{CALLS}/{run_id}"), 404)
        good(await admin.delete(f"{CALLS}/{run_id}"), 204)
        group.start_soon(lambda: robot.post(CALLS, json={"name": "wait"}))
        run_id = await begun(board)
        good(await robot.delete(f"{CALLS}/{run_id}"), 204)
        problem(await robot.delete(f"{CALLS}/{run_id}"), 409)


async def test_a_stream_is_ended_with_all_its_calls_those_that_wait_for_their_turn_too(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    waiting(board)
    async with (
        served(board) as url,
        reading(url, CALLS, method="POST", json=[{"name": "echo"}, *[{"name": "wait"}] * 30]) as reader,
    ):
        first = await reader.until("tool_result")
        assert first.data["name"] == "echo"
        _, key = await new_user(admin, "mia")
        async with client(board, key) as mia:
            problem(await mia.delete(f"{CALLS}/{reader.run_id}"), 404)
        good(await admin.delete(f"{CALLS}/{reader.run_id}"), 204)
        received = await reader.rest()
        assert received[-1].name == "complete"
        results = [one.data for one in received if one.name == "tool_result"]
        assert [result["code"] for result in results] == ["cancelled"] * 30
        assert {result["error"] for result in results} == {f"Cancelled by {board.admin.name}"}
        assert "ended already" in problem(await admin.delete(f"{CALLS}/{reader.run_id}"), 409)["detail"]
    # Only calls that had begun have a row.
    assert len(await calls_of(board, "wait")) == 20


async def test_one_call_of_a_stream_is_ended_and_the_others_continue(board: Pegboard, admin: httpx.AsyncClient) -> None:
    waiting(board)
    async with (
        served(board) as url,
        reading(url, CALLS, method="POST", json=[{"name": "wait"}, {"name": "wait"}]) as reader,
    ):
        uses = [await reader.until("tool_use"), await reader.until("tool_use")]
        for use in uses:
            good(await admin.delete(f"{CALLS}/{use.data['run_id']}"), 204)
            assert (await reader.until("tool_result")).data["run_id"] == use.data["run_id"]
        assert [one.name for one in await reader.rest()] == ["complete"]


async def test_two_concurrent_cancellations_of_a_call_both_succeed(board: Pegboard) -> None:
    waiting(board)
    call = asyncio.create_task(board.call("wait"))
    run_id = await begun(board)
    await asyncio.gather(*(board.cancelling.cancel(run_id, board.admin) for _ in range(2)))
    result = await call
    assert result.problem is not None
    assert result.problem.code == "cancelled"
    assert len(await calls_of(board, "wait")) == 1


@asynccontextmanager
async def boards(url: str, home: Path) -> AsyncIterator[tuple[Pegboard, Pegboard]]:
    """Two boards on one database, like two processes."""
    settings = NoSettings(home=home, admin_key=KEY, drain_seconds=2)
    async with Pegboard.open(url, settings=settings) as one, Pegboard.open(url, settings=settings) as other:
        yield one, other


async def test_a_call_that_runs_in_another_process_is_ended_there(database_url: str, tmp_path: Path) -> None:
    async with boards(database_url, tmp_path / "home") as (one, other), client(other) as far, client(one) as near:
        waiting(one)
        _, key = await new_user(near, "mia")
        call = asyncio.create_task(one.call("wait"))
        run_id = await begun(one)
        await other.snapshot.refresh()
        async with client(other, key) as mia:
            problem(await mia.delete(f"{CALLS}/{run_id}"), 404)
        assert not call.done()
        good(await far.delete(f"{CALLS}/{run_id}"), 204)
        result = await call
        assert result.problem is not None
        assert result.problem.message == f"Cancelled by {other.admin.name}"
        problem(await far.delete(f"{CALLS}/{run_id}"), 409)
        # A whole stream too.
        async with (
            served(one) as url,
            reading(url, CALLS, method="POST", json=[{"name": "wait"}, {"name": "wait"}]) as reader,
        ):
            await reader.until("tool_use")
            good(await far.delete(f"{CALLS}/{reader.run_id}"), 204)
            assert [item.data["code"] for item in await reader.rest() if item.name == "tool_result"] == [
                "cancelled"
            ] * 2
        async with one.database.read() as conn:
            assert not await cancellation_rows.list_recent_cancellations(conn)
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "pegboard-cancelling"]


async def test_what_runs_nowhere_is_not_found_after_a_while_and_leaves_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.runs.cancellation.OTHER_PROCESS_TIMEOUT_SECONDS", 0.2)
    async with boards(database_url, tmp_path / "home") as (one, _other), client(one) as near:
        problem(await near.delete(f"{CALLS}/{new_id()}"), 404)
        async with one.database.read() as conn:
            assert not await cancellation_rows.list_recent_cancellations(conn)
