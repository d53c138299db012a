"""An MCP server over HTTP in the test's own event loop that violates the protocol in many ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pegboard.kinds.mcp.upstream import Upstream

ECHO = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}


class McpRequest(NamedTuple):
    """One request as received."""

    method: str
    path: str
    headers: Mapping[str, str]
    message: dict[str, Any]
    writer: asyncio.StreamWriter

    @property
    def says(self) -> str:
        """Return the method of the message, or that of the HTTP request if it has no message."""
        return str(self.message.get("method", self.method))

    @property
    def text(self) -> str:
        """The text that a tool is called with."""
        return str(self.message["params"]["arguments"].get("text", ""))

    def send(self, status: str, body: bytes | str = b"", **headers: str) -> None:
        """Answer with this."""
        data = body.encode() if isinstance(body, str) else body
        head = {"Content-Length": str(len(data)), **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        self.writer.write("\r\n".join(lines).encode() + data)

    def result(self, result: Any, **headers: str) -> None:
        """Answer the message."""
        answer = {"jsonrpc": "2.0", "id": self.message["id"], "result": result}
        self.send("200 OK", json.dumps(answer), Content_Type="application/json", **headers)

    def say(self, text: str) -> None:
        """Answer a call of a tool."""
        self.result({"content": [{"type": "text", "text": text}]})

    def stream(self) -> None:
        """Begin an event stream."""
        self.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")

    def event(self, message: dict[str, Any], **fields: str) -> None:
        """Send a message on an event stream."""
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines.append("data: " + json.dumps({"jsonrpc": "2.0", **message}))
        self.writer.write("\n".join(lines).encode() + b"\n\n")


Answer = Callable[[McpRequest], Awaitable[bool | None]]
"""Answers a request in its own way; False leaves it to be answered decently, True has the connection closed after."""


@dataclass
class WebServer:
    """A server of the older protocol that answers as configured, and correctly by default."""

    answer: Answer
    port: int = 0
    session: str = "s1"
    asked: list[McpRequest] = field(default_factory=list)
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def upstream(self) -> Upstream:
        """Return the upstream for this server."""
        return Upstream(f"http://127.0.0.1:{self.port}/mcp", None)

    def count(self, says: str) -> int:
        """Return the number of such requests."""
        return sum(asked.says == says for asked in self.asked)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            # Cancelled only when the test is over.
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while not await self._one(await reader.readuntil(b"\r\n\r\n"), reader, writer):
                    await writer.drain()
        finally:
            self.tasks.discard(task)
            writer.close()

    async def _one(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = first.split(" ", 2)
        asked = McpRequest(method, path, headers, json.loads(body) if body else {}, writer)
        self.asked.append(asked)
        done = await self.answer(asked)
        if done is False:
            self._answer_correctly(asked)
        return done is True

    def _answer_correctly(self, asked: McpRequest) -> None:
        match asked.says:
            case "server/discover":
                asked.send("400 Bad Request", "Unsupported protocol version")
            case "initialize":
                info = {"name": "web", "version": "1"}
                version = asked.message["params"]["protocolVersion"]
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
                asked.result(result, Mcp_Session_Id=self.session)
            case "tools/list":
                asked.result({"tools": [ECHO]})
            case "tools/call":
                asked.say(asked.text)
            case "GET":
                asked.send("405 Method Not Allowed")
            case "DELETE":
                asked.send("200 OK")
            case _:
                asked.send("202 Accepted")


async def answer_correctly(_asked: McpRequest) -> bool:
    """Answer correctly."""
    return False


@asynccontextmanager
async def answering(answer: Answer = answer_correctly) -> AsyncIterator[WebServer]:
    """A server on a free port with these answers."""
    made = WebServer(answer)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, limit=2**24)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in made.tasks:
            task.cancel()
        if made.tasks:
            await asyncio.wait(made.tasks)
        await server.wait_closed()
