"""Calls of mcp tools in the pipeline: results, refusals, and what they never reveal."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.host_limits import HostLimiter
from pegboard.kinds.base import OpenTool
from pegboard.kinds.mcp import client_session
from pegboard.kinds.mcp.executor import McpExecutor
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream, UpstreamTool
from pegboard.model.call import Caller, Progress, ReadyCall
from pegboard.model.call_errors import (
    CircuitOpen,
    Drifted,
    EgressRefused,
    ExecutionFailed,
    Misconfigured,
    ToolError,
    UpstreamFailed,
    UpstreamUnreachable,
)
from pegboard.model.tool import Kind, Tool
from tests.mcp_servers.faulty_http_server import McpRequest, answering
from tests.mcp_servers.run_servers import odd
from tests.waiting import until

NOW = datetime.now(UTC)


def tool_of(upstream: Upstream, **changes: Any) -> Tool:
    """Return a tool that calls `echo` on this upstream."""
    config: dict[str, Any] = {"tool": "echo"}
    if upstream.command is not None:
        config |= {"command": list(upstream.command), "env": dict(upstream.env)}
    else:
        config |= {"server_url": upstream.server_url}
    config |= changes.pop("config", {})
    return Tool("t1", "u1", changes.pop("name", "mine"), Kind.MCP, config, {}, NOW, NOW, **changes)


class Runner:
    """Runs tools as a board would, and records which are reported as drifted."""

    def __init__(
        self,
        upstreams: McpSessionPool,
        clock: Callable[[], float] = time.monotonic,
        most_at_once: int = 256,
        most_a_host: int = 256,
    ) -> None:
        self.drifted: list[tuple[Tool, UpstreamTool | None]] = []
        self.executor = McpExecutor(
            upstreams,
            CircuitBreakers(clock),
            HostLimiter(most_a_host),
            lambda tool, found: self.drifted.append((tool, found)),
            most_at_once=most_at_once,
        )

    def ready(self, tool: Tool, auth: dict[str, Any] | None = None, *secrets: str) -> Callable[..., Any]:
        """Return the compiled tool, as a function of the text that it repeats."""
        run = self.executor.prepare(OpenTool(tool, tool.config, auth, frozenset(secrets))).run

        async def call(
            text: str = "hi", seconds: float = 30.0, received: list[Progress] | None = None, user: str = "u1"
        ) -> Any:
            on_progress = received.append if received is not None else None
            deadline = time.monotonic() + seconds
            ready = ReadyCall("r1", tool, Caller(user, user), {"text": text}, "", deadline, on_progress)
            async with asyncio.timeout(seconds):
                return await run(ready)

        return call


@pytest.fixture
def runner(upstreams: McpSessionPool) -> Runner:
    """An executor with the board's defaults."""
    return Runner(upstreams)


async def test_a_tool_answers_with_what_its_upstream_says(runner: Runner) -> None:
    assert await runner.ready(tool_of(odd("plain")))("hello") == "hello"
    full = runner.ready(tool_of(odd("plain"), config={"response": "full"}))
    assert await full("hello") == {"content": [{"type": "text", "text": "hello"}]}


async def test_without_a_name_of_its_own_upstream_a_tool_is_called_as_here(runner: Runner) -> None:
    call = runner.ready(tool_of(odd("plain"), name="echo", config={"tool": None}))
    assert await call("hello") == "hello"


async def test_an_error_of_the_upstream_s_tool_is_its_own(runner: Runner) -> None:
    async def answer(asked: McpRequest) -> bool | None:
        if asked.says != "tools/call":
            return False
        asked.result({"content": [{"type": "text", "text": "no s3cr3t-key today"}], "isError": True})
        return None

    async with answering(answer) as server:
        call = runner.ready(tool_of(server.upstream), {"type": "bearer", "token": "s3cr3t-key"})
        with pytest.raises(ExecutionFailed) as failed:
            await call()
    assert failed.value.message == "no ******** today"


async def test_credentials_reach_the_upstream_and_never_return(runner: Runner) -> None:
    async def answer(asked: McpRequest) -> bool | None:
        if asked.says != "tools/call":
            return False
        asked.say(json.dumps(dict(asked.headers)) + asked.path)
        return None

    async with answering(answer) as server:
        tool = tool_of(server.upstream, config={"headers": {"X-Plain": "in the open", "X-Named": "named-secret"}})
        auth = {"type": "custom", "headers": {"X-Token": "t0ps3cr3t"}, "query": {"key": "k3y k3y k3y"}}
        output = await runner.ready(tool, auth, "in the open")()
        seen = server.asked[-1]
    assert seen.headers["x-token"] == "t0ps3cr3t"
    assert seen.path == "/mcp?key=k3y%20k3y%20k3y"
    for secret in ("t0ps3cr3t", "k3y", "in the open", "named-secret"):
        assert secret not in output
    assert output.count("********") >= 4


async def test_a_secret_of_the_environment_never_returns(runner: Runner) -> None:
    call = runner.ready(tool_of(odd("environment", env={"SERVICE_KEY": "sk-12345678", "TZ": "Europe/Berlin"})))
    result = json.loads(await call())
    assert result["SERVICE_KEY"] == "********"
    assert result["TZ"] == "Europe/Berlin"


async def test_the_circuit_of_an_upstream_that_dies_at_each_start_opens(upstreams: McpSessionPool) -> None:
    now = [0.0]
    call = Runner(upstreams, lambda: now[0]).ready(tool_of(odd("exit-at-once")))
    ends: list[type[ToolError]] = []
    for _ in range(50):
        with pytest.raises(ToolError) as failed:
            await call()
        ends.append(type(failed.value))
    assert ends == [UpstreamUnreachable] * 5 + [CircuitOpen] * 45
    now[0] = 31.0
    with pytest.raises(UpstreamUnreachable):
        await call()
    with pytest.raises(CircuitOpen):
        await call()


async def test_calls_whose_time_ran_out_count_as_failures_and_cancelled_ones_do_not(upstreams: McpSessionPool) -> None:
    runner = Runner(upstreams)
    hanging = runner.ready(tool_of(odd("hang-call")))
    await upstreams.tools(odd("hang-call"))
    for _ in range(10):
        cancelled = asyncio.create_task(hanging())
        await asyncio.sleep(0.01)
        cancelled.cancel()
        await asyncio.wait({cancelled})
    for _ in range(5):
        with pytest.raises(TimeoutError):
            await hanging(seconds=0.1)
    with pytest.raises(CircuitOpen):
        await hanging()


async def test_the_circuit_of_an_upstream_that_answers_with_errors_stays_closed(runner: Runner) -> None:
    call = runner.ready(tool_of(odd("error")))
    for _ in range(10):
        with pytest.raises(UpstreamFailed, match="database locked"):
            await call(json.dumps({"code": -32000, "message": "database locked"}))


async def test_a_tool_that_its_upstream_changed_is_refused_and_reported_once(
    runner: Runner, upstreams: McpSessionPool, tmp_path: Path
) -> None:
    file = tmp_path / "description"
    file.write_text("first")
    upstream = odd("steps", file)
    [found] = await upstreams.tools(upstream)
    tool = tool_of(upstream, config={"pinned": found.digest})
    call = runner.ready(tool)
    assert await call() == "hi"
    file.write_text("second")
    assert await call() == "hi"  # the list was not read again yet
    [changed] = await upstreams.tools(upstream) if await _aged(upstreams, upstream) else []
    for _ in range(3):
        with pytest.raises(Drifted, match="has changed the tool 'echo' since it was imported"):
            await call()
    assert runner.drifted == [(tool, changed)]
    assert changed.description == "second"
    accepted = runner.ready(tool_of(upstream, config={"pinned": changed.digest}))
    assert await accepted() == "hi"
    file.write_text("first")
    await _aged(upstreams, upstream)
    with pytest.raises(Drifted):
        await accepted()
    assert await call() == "hi"  # it is again what its owner accepted


async def _aged(upstreams: McpSessionPool, upstream: Upstream) -> bool:
    """Make the next request for the list read it again."""
    session = upstreams.connections[upstream].session
    assert session is not None
    await session.refresh(time.monotonic())
    return True


async def test_a_list_that_is_old_is_fetched_again_behind_a_call(
    upstreams: McpSessionPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "description"
    file.write_text("first")
    upstream = odd("steps", file)
    [found] = await upstreams.tools(upstream)
    file.write_text("second")
    session = upstreams.connections[upstream].session
    assert session is not None
    await upstreams.call(upstream, "echo", {}, pinned=found.digest)
    assert session.tools["echo"].description == "first", "the list is not old yet"
    monkeypatch.setattr(client_session, "MIN_LIST_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(client_session, "LIST_MAX_AGE_SECONDS", -1.0)
    await upstreams.call(upstream, "echo", {}, pinned=found.digest)

    async def is_listed() -> bool:
        return session.tools["echo"].description == "second"

    await until(is_listed)


async def test_a_tool_that_its_upstream_no_longer_has_is_reported(runner: Runner) -> None:
    gone = tool_of(odd("plain"), config={"tool": "shout", "pinned": "0" * 64})
    call = runner.ready(gone)
    for _ in range(2):
        with pytest.raises(UpstreamFailed, match="has no tool 'shout'; it offers: echo"):
            await call()
    assert runner.drifted == [(gone, None)]


async def test_a_tool_that_is_pinned_to_nothing_takes_what_there_is(runner: Runner) -> None:
    assert await runner.ready(tool_of(odd("changing")))() == "hi"
    assert runner.drifted == []


@pytest.mark.parametrize(
    ("upstream", "auth", "kind"),
    [
        (Upstream("http://10.0.0.1/mcp", None), None, EgressRefused),
        (Upstream("http://[::ffff:169.254.169.254]/mcp", None), None, EgressRefused),
        (Upstream(None, ("server",)), {"type": "bearer", "token": "x"}, Misconfigured),
        (Upstream("http://mcp.example/mcp", None), {"type": "bearer", "token": "a\nb"}, Misconfigured),
    ],
)
async def test_what_cannot_work_is_reported_before_the_first_call(
    upstream: Upstream, auth: dict[str, Any] | None, kind: type[ToolError], runner: Runner
) -> None:
    with pytest.raises(kind):
        runner.ready(tool_of(upstream), auth)


async def test_preparing_connects_to_nothing(runner: Runner, upstreams: McpSessionPool) -> None:
    runner.ready(tool_of(odd("exit-at-once")))
    assert not upstreams.connections
    await runner.executor.close()
