"""The measured servers, each run as a separate process: `python -m bench.servers NAME SOCKET_FD HOME`."""

from __future__ import annotations

import asyncio
import functools
import os
import socket
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pegboard import Pegboard
from pegboard.journal.entries import ClosingEntry
from pegboard.model.call import CallContext, Execution, ReadyCall, ToolResult
from pegboard.surfaces.rest.app import create_app
from pegboard.surfaces.rest.bounded_connection import ConnectionGuard
from pegboard.surfaces.rest.server import build_server_options, tune_garbage_collector
from pegboard.testing import NoSettings

KEY = "benchmark-key-0123456789"
ECHO = {
    "name": "bench_echo",
    "tool_type": "builtin",
    "config": {"operation": "echo"},
    "input_schema": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 200},
            "count": {"type": "integer", "minimum": 0, "maximum": 1000},
            "mood": {"type": "string", "enum": ["happy", "sad", "neutral"]},
        },
        "required": ["text", "count"],
    },
    "rate_limit": {"max_calls": 1_000_000_000, "period": "second"},
}


class Unrecorded:
    """A journal that stores nothing, to measure the cost of recording."""

    trouble = None

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> None:
        """Do nothing."""

    async def record(self, execution: Execution, result: ToolResult) -> None:
        """Discard the row."""

    def build_closing(self, execution: Execution, result: ToolResult) -> ClosingEntry:
        """Raise, because no tool that is measured is transactional."""
        raise NotImplementedError

    def release(self, run_id: str) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


def starlette_app() -> Any:
    """Return a minimal JSON endpoint in Starlette."""

    async def echo(request: Request) -> JSONResponse:
        return JSONResponse({"echo": await request.json()})

    async def query(request: Request) -> JSONResponse:
        return JSONResponse({"echo": dict(request.query_params)})

    return Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/echo", query, methods=["GET"])])


def count_tasks(app: Any) -> Any:
    """Return the application with a path /tasks, whose response is the number of asyncio tasks."""

    async def counting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != "/tasks":
            await app(scope, receive, send)
            return
        body = b"%d" % len(asyncio.all_tasks())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    return counting


def mcp_server() -> Any:
    """Return an MCP server of the official SDK with one small tool."""
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415 -- half a second that the other servers need not wait

    made = MCPServer("bench", log_level="ERROR")

    @made.tool(structured_output=False)
    def echo(text: str, count: int) -> str:
        """Return the argument."""
        return f"{text} {count}"

    return made


def _lowlevel(*, is_bare: bool) -> Any:
    from bench.mcp_peers import lowlevel_app  # noqa: PLC0415 -- half a second, as above

    return count_tasks(lowlevel_app(ECHO, is_bare=is_bare))


def _by_hand() -> Any:
    from bench.table_by_hand import app  # noqa: PLC0415 -- the other servers need none of it

    return app(os.environ["BENCH_DATABASE_URL"])


async def _serve(app: Any, bound: socket.socket, **options: Any) -> None:
    tune_garbage_collector()
    config = uvicorn.Config(app, **{"log_level": "critical", "access_log": False, "lifespan": "off", **options})
    await uvicorn.Server(config).serve([bound])


async def ticks(context: CallContext, seconds: float, pause: float = 0.5) -> int:
    """Send the time at regular intervals for a while."""
    count = 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        count += 1
        context.progress(count, message=f"at {time.time():.6f}")
        await asyncio.sleep(pause)
    return count


async def _board(
    home: Path, database: str | None, recorded: bool, bound: socket.socket, tools: int, name: str = ""
) -> None:
    settings = NoSettings(home=home, admin_key=KEY, database_url=database, log_level="error")
    async with Pegboard.open(settings=settings, journal=None if recorded else Unrecorded()) as board:
        await board.apply([ECHO])
        if name == "live":
            board.tool(name="ticks", timeout=3600)(ticks)
        if tools:
            await board.apply([{**ECHO, "name": f"tool_{number}"} for number in range(tools)])
        app = ConnectionGuard(create_app(board))
        await _serve(count_tasks(app) if name == "tasks" else app, bound, **build_server_options(settings))


def main() -> None:
    """Run one server on an inherited socket until terminated."""
    name = sys.argv[1]
    if name == "mcp-stdio":
        mcp_server().run("stdio")
        return
    descriptor, home = int(sys.argv[2]), Path(sys.argv[3])
    bound = socket.socket(fileno=descriptor)
    uvloop_factory = uvicorn.Config(None, loop="uvloop").get_loop_factory()  # type: ignore[arg-type]
    works: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
        "starlette": lambda: _serve(starlette_app(), bound),
        "mcp": lambda: _serve(mcp_server().streamable_http_app(), bound, lifespan="on"),
        "mcp-lowlevel": lambda: _serve(_lowlevel(is_bare=False), bound, lifespan="on"),
        "mcp-bare": lambda: _serve(_lowlevel(is_bare=True), bound, lifespan="on"),
        "by-hand": lambda: _serve(_by_hand(), bound),
    }
    board = functools.partial(_board, home, os.environ.get("BENCH_DATABASE_URL"), "unrecorded" not in name, bound)
    tools = int(os.environ.get("BENCH_TOOLS", "0"))
    work = works[name]() if name in works else board(tools, name)
    with asyncio.Runner(loop_factory=uvloop_factory) as runner:
        runner.run(work)


ARGUMENTS = {"text": "hello, board", "count": 7, "mood": "happy"}
BODY = orjson.dumps(ARGUMENTS)
MESSAGE = orjson.dumps(
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "bench_echo", "arguments": BODY.decode()}}
        ],
    }
)

if __name__ == "__main__":
    main()
