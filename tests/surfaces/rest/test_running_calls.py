"""The calls that run now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import anyio
import httpx

from pegboard import CallContext, Pegboard
from pegboard.model.call import Progress
from tests.surfaces.rest.clients import client, good, new_user
from tests.waiting import until

CALLS = "/v1/calls"


def waiting(board: Pegboard) -> None:
    async def wait(context: CallContext, n: int = 0) -> None:
        context.progress(n, 3, "a message for its caller")
        await anyio.sleep_forever()

    board.tool(name="wait", is_public=True)(wait)


async def listed(speaker: httpx.AsyncClient, count: int) -> list[dict[str, object]]:
    """Return the running calls as soon as there are this many."""

    found: dict[str, Any] = {}

    async def look() -> bool:
        found.update(good(await speaker.get(CALLS)))
        assert found["total"] == len(found["items"])
        return bool(found["total"] == count)

    await until(look)
    items: list[dict[str, object]] = found["items"]
    return items


async def test_a_user_sees_their_own_calls_and_an_admin_those_of_all(board: Pegboard, admin: httpx.AsyncClient) -> None:
    waiting(board)
    assert good(await admin.get(CALLS)) == {"items": [], "total": 0}
    mia_id, mias = await new_user(admin, "mia")
    async with client(board, mias) as mia, anyio.create_task_group() as group:
        group.start_soon(lambda: mia.post(CALLS, json={"name": "wait"}))
        (own,) = await listed(mia, 1)
        group.start_soon(lambda: admin.post(CALLS, json={"name": "wait"}))
        both = await listed(admin, 2)
        assert both[0] == own
        assert await listed(mia, 1) == [own]
        assert datetime.fromisoformat(str(own.pop("started_at"))).tzinfo is not None
        run_id = own.pop("run_id")
        assert own == {
            "tool_name": "wait",
            "caller_id": mia_id,
            "caller": "mia",
            "agent_id": None,
            "surface": "rest",
            "chain_id": None,
            "thread_id": None,
            "progress": None,
            "total": None,
        }
        limited = good(await admin.get(CALLS, params={"limit": 1}))
        assert (limited["items"][0]["run_id"], len(limited["items"]), limited["total"]) == (run_id, 1, 2)
        good(await mia.delete(f"{CALLS}/{run_id}"), 204)
        (others,) = await listed(admin, 1)
        assert others["caller"] == board.admin.name
        group.cancel_scope.cancel()
    await listed(admin, 0)


async def test_a_key_of_an_agent_sees_the_calls_of_that_agent(board: Pegboard, admin: httpx.AsyncClient) -> None:
    waiting(board)
    agent = good(await admin.post("/v1/agents", json={"name": "robot", "tools": ["wait"]}), 201)
    made = good(await admin.post(f"/v1/users/{board.admin.user_id}/keys", json={"agent_id": agent["id"]}), 201)
    async with client(board, made["key"]) as robot, anyio.create_task_group() as group:
        group.start_soon(lambda: admin.post(CALLS, json={"name": "wait"}))
        await listed(admin, 1)
        await listed(robot, 0)
        group.start_soon(lambda: robot.post(CALLS, json={"name": "wait"}))
        (own,) = await listed(robot, 1)
        assert own["agent_id"] == agent["id"]
        group.cancel_scope.cancel()


async def test_the_last_progress_of_a_call_that_a_client_follows_is_shown(board: Pegboard) -> None:
    waiting(board)
    received: list[Progress] = []
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: board.call("wait", {"n": 2}, on_progress=received.append))
        async with client(board) as admin:
            (found,) = await listed(admin, 1)
            while found["progress"] is None:  # it is listed before it reports
                (found,) = await listed(admin, 1)
        assert (found["progress"], found["total"]) == (2, 3)
        assert [report.message for report in received] == ["a message for its caller"]
        assert "a message" not in str(found)
        group.cancel_scope.cancel()
