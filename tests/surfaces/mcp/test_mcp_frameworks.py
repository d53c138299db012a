"""The clients of FastMCP and Pydantic AI use the tools of a board."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

from pegboard import Pegboard
from pegboard.model.filters import ExecutionFilter
from tests.board_surfaces import KEY
from tests.surfaces.mcp.rpc import client_of
from tests.surfaces.rest.clients import good, mock

pytestmark = pytest.mark.anyio


class Framework(NamedTuple):
    """A connected client: it lists the names of the tools, and calls one for the `result` in its structured content."""

    list_names: Callable[[], Awaitable[list[str]]]
    call: Callable[[str, dict[str, Any]], Awaitable[Any]]


@asynccontextmanager
async def fastmcp(url: str, key: str = KEY) -> AsyncIterator[Framework]:
    """The client of FastMCP."""
    async with Client(url, auth=key) as client:

        async def list_names() -> list[str]:
            return [tool.name for tool in await client.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            content = (await client.call_tool(name, arguments)).structured_content
            assert content is not None
            return content["result"]

        yield Framework(list_names, call)


@asynccontextmanager
async def pydantic_ai(url: str, key: str = KEY) -> AsyncIterator[Framework]:
    """The toolset of Pydantic AI."""
    toolset: MCPToolset[Any] = MCPToolset(url, headers={"Authorization": f"Bearer {key}"}, tool_error_behavior="error")
    async with toolset:

        async def list_names() -> list[str]:
            return [tool.name for tool in await toolset.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            return await toolset.direct_call_tool(name, arguments)

        yield Framework(list_names, call)


FRAMEWORKS = (fastmcp, pydantic_ai)


@pytest.mark.parametrize("connect", FRAMEWORKS)
async def test_a_framework_lists_and_calls(board: Pegboard, url: str, connect: Any) -> None:
    async with connect(f"{url}/mcp") as client:
        assert "math_eval" in await client.list_names()
        assert await client.call("math_eval", {"expression": "2^10"}) == 1024
        with pytest.raises(ToolError):
            await client.call("math_eval", {"expression": "1/0"})
        with pytest.raises(ToolError, match="Tool 'none_such' not found"):
            await client.call("none_such", {})
        calls = [client.call("math_eval", {"expression": f"{n}+1"}) for n in range(50)]
        assert await asyncio.gather(*calls) == list(range(1, 51))
    rows = (await board.executions(ExecutionFilter(), limit=200)).items
    assert [len(rows), {row.surface for row in rows}] == [53, {"mcp"}]


@pytest.mark.parametrize("connect", FRAMEWORKS)
async def test_a_framework_sees_an_agent_and_a_tool_that_was_added(url: str, connect: Any) -> None:
    async with connect(f"{url}/mcp") as client:
        assert "added" not in await client.list_names()
    async with client_of(url) as http:
        good(await http.post("/v1/tools", json=mock("added")), 201)
        good(await http.post("/v1/agents", json={"name": "helper", "tools": ["added"]}), 201)
    async with connect(f"{url}/mcp") as client:
        assert "added" in await client.list_names()
    async with connect(f"{url}/agents/helper/mcp") as client:
        assert await client.list_names() == ["added"]


@pytest.mark.parametrize("connect", FRAMEWORKS)
async def test_a_framework_with_a_wrong_key_is_refused_at_once(url: str, connect: Any) -> None:
    began = time.monotonic()
    with pytest.raises(Exception) as raised:  # each framework has its own
        async with connect(f"{url}/mcp", "wrong"):
            pass
    assert "401" in repr(raised.value) or "not known here" in repr(raised.value)
    assert time.monotonic() - began < 5


def test_an_agent_of_pydantic_ai_takes_the_toolset() -> None:
    assert Agent(toolsets=[MCPToolset("http://127.0.0.1:1/mcp")]).toolsets
