"""Imports of the server that sends requests and notifications, and clients of the board that respond."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.fork_server import forked_command
from tests.mcp_servers.run_servers import FOLDER
from tests.surfaces.mcp.rpc import SESSION, RpcClient
from tests.surfaces.mcp.test_mcp_streams import EventReader, opened
from tests.surfaces.rest.clients import good

ROOT = FOLDER.parents[1]
SECRET = "a-secret-of-the-server"
CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}}, "sampling": {}, "roots": {"listChanged": True}}
ANN = {"action": "accept", "content": {"name": "Ann"}}


def build_command(era: str) -> list[str]:
    """The command of the server for one revision, or for both."""
    return list(forked_command("tests.mcp_servers.requesting_server", era))


async def take(admin: httpx.AsyncClient, era: str, **more: Any) -> None:
    """Import the server, with a secret in its environment."""
    given = {"command": build_command(era), "working_dir": str(ROOT), "env": {"S": SECRET}, **more}
    good(await admin.post("/v1/imports/mcp", json=given, timeout=60))


async def open_session(
    http: httpx.AsyncClient, capabilities: Mapping[str, Any] = CAPABILITIES, path: str = "/mcp"
) -> RpcClient:
    """A client with a session that declares these capabilities."""
    client = RpcClient(http, SESSION, path)
    params = {"protocolVersion": SESSION, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}
    reply = await client.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    client.session_id = reply.headers["mcp-session-id"]
    return client


class RunningCall:
    """A call of a client with a session, whose stream is read."""

    def __init__(self, client: RpcClient, stream: EventReader) -> None:
        self.client = client
        self.stream = stream

    async def question(self) -> dict[str, Any]:
        """The next request of the server."""
        message = await self.stream.message()
        assert "method" in message, message
        return message

    async def answer(self, request: Mapping[str, Any], result: Mapping[str, Any] = ANN) -> httpx.Response:
        """The response to a response of the client."""
        return await self.client.post({"jsonrpc": "2.0", "id": request["id"], "result": result})

    async def result(self) -> dict[str, Any]:
        """The result of the call."""
        message = await self.stream.message()
        found: dict[str, Any] = message["result"]
        return found

    async def text(self) -> str:
        """The text of the result."""
        text: str = (await self.result())["content"][0]["text"]
        return text


@asynccontextmanager
async def start_call(client: RpcClient, name: str, id: Any = 7, **arguments: Any) -> AsyncIterator[RunningCall]:
    """A call that has been sent."""
    message = client.message("tools/call", {"name": name, "arguments": arguments}, id)
    async with opened(client, message) as stream:
        yield RunningCall(client, stream)


async def answered(client: RpcClient, name: str, **arguments: Any) -> Any:
    """The value that a tool returns as text."""
    async with asyncio.timeout(30):
        result = await client.call(name, arguments)
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])
