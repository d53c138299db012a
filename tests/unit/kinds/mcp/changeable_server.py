"""An MCP server on loopback with the tools of the test, which can change, and a record of its requests."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from tests.mcp_servers.run_servers import FOLDER
from tests.upstreams import Behaviour, Received, Upstream, Wire, answer, answer_json, upstream

Json = dict[str, Any]


def odd(how: str, *more: str) -> list[str]:
    """The command of a server that behaves in this way."""
    return [sys.executable, str(FOLDER / "faulty_server.py"), how, *more]


def tool(name: str, description: str | None = "Says something.", **others: Any) -> Json:
    """Return a tool as a server lists it."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **others}


@dataclass
class ChangeableServer:
    """An MCP server over HTTP whose tools can be changed at any time."""

    tools: list[Json]
    server: Upstream = field(default_factory=lambda: Upstream(answer(500)))
    session: int = 1
    calls: list[Json] = field(default_factory=list)
    instead: dict[str, Behaviour] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"{self.server.url}/mcp"

    def restart(self) -> None:
        """Forget every session."""
        self.session += 1

    async def behave(self, got: Received, wire: Wire) -> None:
        """Answer one request."""
        if got.method != "POST":
            return await answer(405 if got.method == "GET" else 200)(got, wire)
        message = json.loads(got.body)
        method = message.get("method", "")
        if method in self.instead:
            return await self.instead[method](got, wire)
        known = got.one("Mcp-Session-Id")
        if known is not None and known != str(self.session):
            return await answer(404)(got, wire)
        if "id" not in message:
            return await answer(202)(got, wire)
        return await self._reply(message, method, got, wire)

    async def _reply(self, message: Json, method: str, got: Received, wire: Wire) -> None:
        result: Json
        match method:
            case "initialize":
                version = message["params"]["protocolVersion"]
                info = {"name": "offering", "version": "1"}
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": self.tools}
            case "tools/call":
                self.calls.append(message["params"])
                response = {"called": message["params"]["name"], **message["params"].get("arguments", {})}
                result = {"content": [{"type": "text", "text": json.dumps(response)}]}
            case _:
                error = {"code": -32601, "message": "Method not found"}
                return await answer_json({"jsonrpc": "2.0", "id": message["id"], "error": error})(got, wire)
        whole = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return await answer_json(whole, Mcp_Session_Id=str(self.session))(got, wire)


@contextlib.asynccontextmanager
async def changeable_server(*tools: Json) -> AsyncIterator[ChangeableServer]:
    """A server that offers these tools."""
    made = ChangeableServer(list(tools))
    async with upstream(made.behave) as server:
        made.server = server
        yield made
