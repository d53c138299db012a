"""Servers made with the SDK, over every transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.tool_result import read_output
from pegboard.kinds.mcp.upstream import ToolChanged, ToolGone
from pegboard.model.call import Progress
from pegboard.model.call_errors import UpstreamFailed, UpstreamUnreachable
from tests.unit.kinds.mcp.transports import WAYS, Transport, opened
from tests.waiting import until


@pytest.fixture(params=WAYS)
async def way(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Transport]:
    """An upstream that is reached in each of the ways."""
    with opened(request.param, tmp_path) as made:
        yield made


async def wait_for_loss(way: Transport, upstreams: McpSessionPool) -> None:
    """Wait until the lost server is noticed, if that can be before the next call."""

    async def noticed() -> bool:
        session = upstreams.connections[way.upstream].session
        return session is None or session.in_doubt or way.name == "http legacy"

    await until(noticed)


async def test_answers_of_every_kind_survive(way: Transport, upstreams: McpSessionPool) -> None:
    async def answer(tool: str, **arguments: Any) -> dict[str, Any]:
        return await upstreams.call(way.upstream, tool, arguments)

    assert read_output(await answer("add", a=1, b=2)) == {"result": 3}
    assert read_output(await answer("say", text="grüß dich\n")) == "grüß dich\n"
    assert read_output(await answer("weather", city="Rome"), has_output_schema=True) == {
        "degrees": 21.5,
        "sky": "clear over Rome",
    }
    assert read_output(await answer("parts")) == {
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "memo://1", "mimeType": "text/plain", "text": "a memo"}},
            {"type": "resource_link", "uri": "https://example.com/map", "name": "map"},
        ],
        "structuredContent": {"kinds": 5},
    }
    failed = await answer("fail", why="because")
    assert failed["isError"]
    assert "because" in failed["content"][0]["text"]
    with pytest.raises(UpstreamFailed, match="asked for input that this board cannot give"):
        await answer("ask")
    with pytest.raises(ToolGone, match="has no tool 'shout'; it offers: add, ask, count, fail"):
        await answer("shout")


async def test_tools_are_listed_as_the_server_describes_them(way: Transport, upstreams: McpSessionPool) -> None:
    tools = {tool.name: tool for tool in await upstreams.tools(way.upstream)}
    assert set(tools) == {"add", "say", "weather", "parts", "fail", "count", "slow", "ask", "learn"}
    assert tools["add"].description == "Add two numbers."
    assert tools["add"].input_schema["required"] == ["a", "b"]
    assert (tools["weather"].output_schema or {})["required"] == ["degrees", "sky"]
    assert tools["say"].output_schema is None
    assert len({tool.digest for tool in tools.values()}) == len(tools)


async def test_progress_reaches_a_caller_who_asked_for_it(way: Transport, upstreams: McpSessionPool) -> None:
    received: list[Progress] = []
    await upstreams.call(way.upstream, "count", {"to": 3}, on_progress=received.append)
    # The last report may arrive with the response, when there is no reader any more.
    assert received[:2] == [Progress(1.0, 3.0, "at 1"), Progress(2.0, 3.0, "at 2")]


async def test_the_server_sees_that_a_call_was_cancelled_and_answers_the_next(
    way: Transport, upstreams: McpSessionPool
) -> None:
    async with asyncio.TaskGroup() as tasks:
        slow = tasks.create_task(upstreams.call(way.upstream, "slow", {"seconds": 60}))

        async def began() -> bool:
            return "began" in way.noted()

        await until(began, 15)
        slow.cancel()

    async def cancelled() -> bool:
        return way.noted() == ["began", "cancelled"]

    await until(cancelled)
    assert read_output(await upstreams.call(way.upstream, "add", {"a": 2, "b": 2})) == {"result": 4}


async def test_one_session_serves_many_calls_at_once(way: Transport, upstreams: McpSessionPool) -> None:
    calls = [upstreams.call(way.upstream, "say", {"text": f"{number}"}) for number in range(50)]
    slow = asyncio.create_task(upstreams.call(way.upstream, "slow", {"seconds": 60}))
    answers = await asyncio.gather(*calls)
    assert [read_output(answer) for answer in answers] == [f"{number}" for number in range(50)]
    assert not slow.done()
    slow.cancel()
    await asyncio.wait({slow})


async def test_a_server_that_died_is_there_again_once_it_was_restarted(
    way: Transport, upstreams: McpSessionPool
) -> None:
    slow = asyncio.create_task(upstreams.call(way.upstream, "slow", {"seconds": 60}))

    async def began() -> bool:
        return "began" in way.noted()

    await until(began, 15)
    way.kill()
    with anyio.fail_after(30), pytest.raises(UpstreamUnreachable):
        await slow
    way.restart()
    assert read_output(await upstreams.call(way.upstream, "add", {"a": 2, "b": 3})) == {"result": 5}


async def test_a_restarted_server_gets_the_very_next_call(way: Transport, upstreams: McpSessionPool) -> None:
    assert read_output(await upstreams.call(way.upstream, "add", {"a": 1, "b": 1})) == {"result": 2}
    way.kill()
    await wait_for_loss(way, upstreams)
    way.restart()
    assert read_output(await upstreams.call(way.upstream, "add", {"a": 2, "b": 3})) == {"result": 5}


async def test_what_changed_while_a_server_was_away_is_noticed_at_once(
    way: Transport, upstreams: McpSessionPool
) -> None:
    before = {tool.name: tool for tool in await upstreams.tools(way.upstream)}
    pinned = before["say"].digest
    assert read_output(await upstreams.call(way.upstream, "say", {"text": "hi"}, pinned=pinned)) == "hi"
    way.notes.with_suffix(".say").write_text("Say something else.")
    way.kill()
    await wait_for_loss(way, upstreams)
    way.restart()
    with pytest.raises(ToolChanged) as changed:
        await upstreams.call(way.upstream, "say", {"text": "hi"}, pinned=pinned)
    assert changed.value.live.description == "Say something else."


async def test_a_changed_definition_is_noticed(way: Transport, upstreams: McpSessionPool) -> None:
    before = {tool.name: tool for tool in await upstreams.tools(way.upstream)}

    async def say() -> Any:
        return read_output(await upstreams.call(way.upstream, "say", {"text": "hi"}, pinned=before["say"].digest))

    assert await say() == "hi"
    await upstreams.call(way.upstream, "learn", {})

    async def noticed() -> ToolChanged | None:
        try:
            await say()
        except ToolChanged as changed:
            return changed
        return None

    changed = await until(noticed)
    assert changed is not None
    assert changed.live.description == "Say something else."
    assert changed.live.digest != before["say"].digest
    # Unchanged tools continue to work, and new ones can be called.
    same = await upstreams.call(way.upstream, "add", {"a": 1, "b": 1}, pinned=before["add"].digest)
    assert read_output(same) == {"result": 2}
    assert read_output(await upstreams.call(way.upstream, "more", {})) in ("more", {"result": "more"})
    accepted = await upstreams.call(way.upstream, "say", {"text": "hi"}, pinned=changed.live.digest)
    assert read_output(accepted) in ("hi", {"result": "hi"})
