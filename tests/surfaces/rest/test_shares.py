"""One user's calls, followed calls and readers of events leave room for those of others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import client, good, new_user, problem
from tests.surfaces.rest.streams import EVENTS, reading
from tests.waiting import until

CALLS = "/v1/calls"


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board with few places."""
    async with memory_board(
        admin_key=KEY, drain_seconds=2, max_running_calls=4, max_followed_calls=4, max_event_readers=6
    ) as fresh:
        yield fresh


@pytest.fixture
def may_end(board: Pegboard) -> anyio.Event:
    """An event that the calls of the tool `wait` wait for."""
    event = anyio.Event()

    @board.tool(is_public=True)
    async def wait() -> str:
        await event.wait()
        return "done"

    return event


@pytest.fixture
async def ada(board: Pegboard, admin: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """Another user."""
    _, key = await new_user(admin, "ada")
    async with client(board, key) as speaker:
        yield speaker


async def all_running(board: Pegboard, count: int) -> None:
    async def are_running() -> bool:
        return board.pipeline.running_count == count

    await until(are_running)


async def test_calls_under_way_are_shared(
    board: Pegboard, admin: httpx.AsyncClient, ada: httpx.AsyncClient, may_end: anyio.Event
) -> None:
    running = [asyncio.create_task(admin.post("/v1/tools/wait/call", json={})) for _ in range(2)]
    await all_running(board, 2)
    refused = await admin.post("/v1/tools/echo/call", json={})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    body = refused.json()
    assert body["error"].startswith("You have 2 of at most 4 calls under way (PEGBOARD_MAX_RUNNING_CALLS), and the 2 ")
    assert (body["error_details"]["code"], body["error_details"]["retry_after_ms"]) == ("unavailable", 1000)
    payload = await admin.post(CALLS, json=[{"name": "echo"}, {"name": "echo"}])
    assert (payload.status_code, payload.headers["retry-after"]) == (503, "1")
    assert good(await ada.post("/v1/tools/echo/call", json={}))["success"]
    may_end.set()
    assert [good(each)["result"] for each in await asyncio.gather(*running)] == ["done", "done"]
    assert good(await admin.post("/v1/tools/echo/call", json={}))["success"]
    assert [row.caller for row in await calls_of(board, "echo")] == ["ada", "admin"]
    # All slots were released, so two calls of one user can run again.
    again = await asyncio.gather(*(admin.post("/v1/tools/wait/call", json={}) for _ in range(2)))
    assert [good(each)["result"] for each in again] == ["done", "done"]


async def test_detached_calls_that_wait_for_another_attempt_count(
    board: Pegboard, admin: httpx.AsyncClient, ada: httpx.AsyncClient
) -> None:
    failed = asyncio.Queue[None]()

    @board.tool(
        on_disconnect="detach",
        output_schema={"type": "string"},
        timeout=600,
        retry={"max_attempts": 2, "on": ["contract_violation"], "backoff_ms": 60_000},
    )
    async def broken() -> int:
        failed.put_nowait(None)
        return 1

    async with served(board) as url:
        for _ in range(2):
            async with httpx.AsyncClient(base_url=url, headers=admin.headers) as speaker:
                leaving = asyncio.create_task(speaker.post("/v1/tools/broken/call", json={}))
                with anyio.fail_after(10):
                    await failed.get()
                leaving.cancel()
                await asyncio.wait({leaving})
        await all_running(board, 2)
        assert (await admin.post("/v1/tools/echo/call", json={})).status_code == 503
        assert good(await ada.post("/v1/tools/echo/call", json={}))["success"]
        for run in board.pipeline.running_calls:
            await board.cancel(run.id)
    assert good(await admin.post("/v1/tools/echo/call", json={}))["success"]


async def test_followed_calls_are_shared(
    board: Pegboard, admin: httpx.AsyncClient, ada: httpx.AsyncClient, may_end: anyio.Event
) -> None:
    async with served(board) as url, AsyncExitStack() as readers:
        for _ in range(2):
            follows = reading(url, CALLS, method="POST", json={"name": "wait"})
            await (await readers.enter_async_context(follows)).until("tool_use")
        refused = await admin.post(CALLS, json={"name": "echo"}, headers=EVENTS)
        assert "You have 2 of at most 4 payloads that are followed" in problem(refused, 503)["detail"]
        assert refused.headers["retry-after"] == "1"
        assert (await ada.post(CALLS, json={"name": "echo"}, headers=EVENTS)).text.count("event: complete") == 1
        may_end.set()
    assert [row.caller for row in await calls_of(board, "echo")] == ["ada"]


async def test_readers_of_events_are_shared(
    board: Pegboard, admin: httpx.AsyncClient, ada: httpx.AsyncClient, may_end: anyio.Event
) -> None:
    async with served(board) as url, AsyncExitStack() as readers:
        for _ in range(3):
            watching = await readers.enter_async_context(reading(url, "/v1/executions/stream"))
        async with httpx.AsyncClient(base_url=url, headers={**admin.headers, **EVENTS}) as speaker:
            for refused in (
                await speaker.post(CALLS, json={"name": "echo"}),
                await speaker.get("/v1/executions/stream"),
            ):
                assert "You have 3 of at most 6 readers of events" in problem(refused, 503)["detail"]
                assert refused.headers["retry-after"] == "1"
        assert not await calls_of(board, "echo")
        key = ada.headers["authorization"].removeprefix("Bearer ")
        async with reading(url, CALLS, method="POST", key=key, json={"name": "wait"}) as hers:
            use = await hers.until("tool_use")
            again = reading(url, f"/v1/calls/{use.data['run_id']}/events", key=key)
            assert (await (await readers.enter_async_context(again)).until("tool_use")).data == use.data
            may_end.set()
            assert (await hers.rest())[-1].name == "complete"
        assert (await watching.until("finished")).data["caller"] == "ada"
