"""An ordinary MCP server made with the SDK: `sdk_server.py stdio|PORT modern|legacy [FILE]`.

Over HTTP it prints the port it listens on. The events of `slow` are written to FILE; FILE.say describes `say`.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Audio, Context, Elicit, Image, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    CallToolResult,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

server = MCPServer("everyday")
notes = Path(sys.argv[3]) if len(sys.argv) > 3 else None


class Weather(BaseModel):
    """The weather of a place."""

    degrees: float
    sky: str


class Name(BaseModel):
    """How a person is called."""

    name: str


described = notes.with_suffix(".say") if notes is not None else None


def note(what: str) -> None:
    """Append a line to the file that tests read."""
    if notes is not None:
        with notes.open("a") as file:
            file.write(what + "\n")


def who() -> Elicit[Name]:
    """Ask for a name."""
    return Elicit("What is your name?", Name)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(
    description=described.read_text() if described is not None and described.exists() else None, structured_output=False
)
def say(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
def weather(city: str) -> Weather:
    """Look out of the window."""
    return Weather(degrees=21.5, sky=f"clear over {city}")


@server.tool()
def parts() -> CallToolResult:
    """Everything that an answer may hold."""
    return CallToolResult(
        content=[
            TextContent(type="text", text="look"),
            Image(data=b"\x89PNG", format="png").to_image_content(),
            Audio(data=b"RIFF", format="wav").to_audio_content(),
            EmbeddedResource(
                type="resource",
                resource=TextResourceContents(uri="memo://1", mime_type="text/plain", text="a memo"),
            ),
            ResourceLink(type="resource_link", uri="https://example.com/map", name="map"),
        ],
        structured_content={"kinds": 5},
    )


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ToolError(why)


@server.tool()
async def count(to: int, context: Context) -> int:
    """Count, and report progress."""
    for number in range(1, to + 1):
        await context.report_progress(number, to, f"at {number}")
    return to


@server.tool()
async def slow(seconds: float) -> str:
    """Take some time."""
    note("began")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("cancelled")
        raise
    return "done"


@server.tool()
async def ask(name: Annotated[Name, Resolve(who)]) -> str:
    """Greet a person after asking for the name."""
    return f"Hello {name.name}"


@server.tool()
async def learn(context: Context) -> str:
    """Offer another tool from now on, and describe an old one differently."""

    def more() -> str:
        return "more"

    def other(text: str) -> str:
        return text

    server.add_tool(more)
    server.remove_tool("say")
    server.add_tool(other, name="say", description="Say something else.")
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "learnt"


async def older_only(scope: Any, receive: Any, send: Any) -> None:
    """Return a server with only the older protocol."""
    if any(name == b"mcp-protocol-version" and value >= b"2026" for name, value in scope.get("headers", ())):
        await send({"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"Bad Request: Unsupported protocol version"})
        return
    await app(scope, receive, send)


def drop_newer_envelopes() -> None:
    """Remove from requests on stdin what only the newer protocol has, as an older server ignores it."""
    source = sys.stdin.buffer
    read, write = os.pipe()
    sys.stdin = os.fdopen(read)

    def pass_on() -> None:
        with os.fdopen(write, "wb", buffering=0) as wire:
            for line in source:
                message = json.loads(line)
                message.get("params", {}).get("_meta", {}).pop(PROTOCOL_VERSION_META_KEY, None)
                wire.write(json.dumps(message).encode() + b"\n")

    threading.Thread(target=pass_on, daemon=True).start()


if __name__ == "__main__":
    where, era = sys.argv[1:3]
    if where == "stdio":
        if era == "legacy":
            drop_newer_envelopes()
        server.run("stdio")
    else:
        import uvicorn

        app = server.streamable_http_app()
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", int(where)))
        listening.listen(100)
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        config = uvicorn.Config(older_only if era == "legacy" else app, log_level="error", lifespan="on")
        uvicorn.Server(config).run(sockets=[listening])
