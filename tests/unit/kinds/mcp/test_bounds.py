"""Limits that protect other users from one user's mcp tools and their resources."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator

import pytest

from pegboard.kinds.mcp import session_pool
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import CircuitOpen, Misconfigured, Unavailable, UpstreamUnreachable
from tests.mcp_servers.faulty_http_server import McpRequest, answering
from tests.mcp_servers.run_servers import odd
from tests.unit.kinds.mcp.test_executor import Runner, tool_of
from tests.waiting import until


@pytest.fixture
async def runner(upstreams: McpSessionPool) -> AsyncIterator[Runner]:
    """An executor that runs at most two calls of one user at once."""
    made = Runner(upstreams, most_at_once=2)
    yield made
    await made.executor.close()


async def test_one_users_calls_leave_room_for_others(runner: Runner) -> None:
    async def answer(asked: McpRequest) -> bool | None:
        if asked.says != "tools/call":
            return False
        waiting.append(asked)
        return None

    waiting: list[McpRequest] = []
    async with answering(answer) as server:
        hanging = runner.ready(tool_of(server.upstream))
        calls = [asyncio.create_task(hanging()) for _ in range(2)]

        async def arrived() -> bool:
            return len(waiting) == 2

        await until(arrived)
        with pytest.raises(Unavailable, match="You have 2 calls") as refused:
            await hanging()
        assert (refused.value.did_run, refused.value.retry_after_ms) == (False, 1000)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
    assert await runner.ready(tool_of(odd("plain")))("room again") == "room again"


async def test_connections_to_a_server_are_shared(upstreams: McpSessionPool) -> None:
    async def answer(asked: McpRequest) -> bool | None:
        if asked.says != "tools/call" or asked.text != "hang":
            return False
        waiting.append(asked)
        return None

    waiting: list[McpRequest] = []
    runner = Runner(upstreams, most_a_host=2)
    async with answering(answer) as server:
        # An attempt ends long before the call does, so that the reason is the attempt's.
        call = runner.ready(tool_of(server.upstream, config={"timeout": 0.2}))
        hanging = asyncio.create_task(call("hang"))

        async def arrived() -> bool:
            return len(waiting) == 1

        await until(arrived)
        with pytest.raises(Unavailable, match=r"did not get a connection to .*, kept for users who have") as refused:
            await call()
        assert not refused.value.did_run
        await call(user="piet")
        hanging.cancel()
        await asyncio.wait({hanging})
        await call()
    await runner.executor.close()


async def test_one_owner_s_sessions_leave_room_for_those_of_others(
    upstreams: McpSessionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_pool, "MAX_MCP_CONNECTIONS", 2)

    waiting: list[McpRequest] = []
    may_answer = asyncio.Event()

    async def answer(asked: McpRequest) -> bool:
        if asked.says == "tools/call":
            waiting.append(asked)
            await may_answer.wait()
        return False

    async with answering(answer) as server:

        def of(owner: str, number: int) -> Upstream:
            return Upstream(f"{server.upstream.server_url}?n={number}", None, owner_id=owner)

        async def all_wait() -> bool:
            return len(waiting) == len(calls)

        calls = [asyncio.create_task(upstreams.call(of("ann", 1), "echo", {}))]
        await until(all_wait)
        with pytest.raises(Unavailable, match="Tools of this owner are connected to 1 MCP servers"):
            await upstreams.tools(of("ann", 2))
        calls.append(asyncio.create_task(upstreams.call(of("bob", 1), "echo", {})))
        await until(all_wait)
        assert {each.owner_id for each in upstreams.connections} == {"ann", "bob"}
        may_answer.set()
        await asyncio.gather(*calls)


async def test_what_one_caller_provokes_shuts_no_other_user_out(runner: Runner) -> None:
    call = runner.ready(tool_of(odd("exit-at-once")))
    for _ in range(5):
        with pytest.raises(UpstreamUnreachable):
            await call(user="guest")
    with pytest.raises(CircuitOpen):
        await call(user="guest")
    with pytest.raises(UpstreamUnreachable):
        await call(user="u1")


async def test_a_config_that_a_secret_spoils_is_reported_without_it(runner: Runner) -> None:
    tool = tool_of(Upstream("http://mcp.example/mcp", None), config={"headers": {"X-Key": "s3cr3t\nkey"}})
    with pytest.raises(Misconfigured, match="'X-Key' holds a line break") as refused:
        runner.ready(tool)
    assert "s3cr3t" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(("size", "is_aside"), [(1000, False), (300_000, True)])
async def test_a_large_answer_is_searched_aside(size: int, is_aside: bool, runner: Runner) -> None:
    async def answer(asked: McpRequest) -> bool | None:
        if asked.says != "tools/call":
            return False
        asked.say(json.dumps(["s3cr3t-key", "x" * size]))
        return None

    before = set(threading.enumerate())
    async with answering(answer) as server:
        call = runner.ready(tool_of(server.upstream), {"type": "bearer", "token": "s3cr3t-key"})
        assert json.loads(await call()) == ["********", "x" * size]
    new = set(threading.enumerate()) - before
    assert any(thread.name.startswith("pegboard-mcp") for thread in new) == is_aside


async def test_a_call_that_was_never_sent_says_that_it_did_not_run(runner: Runner) -> None:
    async with answering() as server:
        call = runner.ready(tool_of(server.upstream))
        assert await call() == "hi"
    for _ in range(2):
        with pytest.raises(UpstreamUnreachable) as failed:
            await call()
        assert not failed.value.did_run


async def test_a_call_that_got_no_answer_may_have_run(runner: Runner) -> None:
    async def drop(asked: McpRequest) -> bool:
        return asked.says == "tools/call"

    async with answering(drop) as server:
        with pytest.raises(UpstreamUnreachable) as failed:
            await runner.ready(tool_of(server.upstream))()
    assert failed.value.did_run
