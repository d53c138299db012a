"""The surfaces of the board behind one interface, so that a scenario can be tested through each of them."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol

import anyio
import anyio.to_thread
import httpx
import uvicorn
from typer.testing import CliRunner

from pegboard import Pegboard, Refusal
from pegboard.dialects.plain import Plain
from pegboard.registry.build_tool import build_tool_response
from pegboard.surfaces.cli.main import app as program
from pegboard.surfaces.rest.app import create_app
from pegboard.surfaces.rest.bounded_connection import LIMITS_KEY, BoundedConnection, ConnectionGuard
from pegboard.surfaces.rest.connection_limits import ConnectionLimits
from pegboard.surfaces.rest.problem_json import describe_refusal
from pegboard.surfaces.rest.server import AnnouncingServer
from tests.unit.dialects.rendering import rendered

KEY = "a-key-for-tests-0123456789"


class RequestRefused(Exception):
    """The board refused a request that is not a call."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Surface(Protocol):
    """The operations that every surface supports."""

    name: str

    async def call(self, tool: str, arguments: Any = None) -> dict[str, Any]:
        """Call a tool and return the result in the plain dialect."""

    async def create(self, definition: dict[str, Any]) -> dict[str, Any]:
        """Register a tool; raise Refused if the board refuses."""

    async def show(self, tool: str) -> dict[str, Any]:
        """Return a tool; raise Refused if the board refuses."""

    async def change(self, tool: str, patch: dict[str, Any]) -> dict[str, Any]:
        """Change a tool; raise Refused if the board refuses."""

    async def remove(self, tool: str) -> None:
        """Remove a tool; raise Refused if the board refuses."""

    async def restore(self, tool_id: str) -> dict[str, Any]:
        """Restore a removed tool; raise Refused if the board refuses."""


class LibrarySurface:
    name = "library"

    def __init__(self, board: Pegboard) -> None:
        self._board = board

    async def call(self, tool: str, arguments: Any = None) -> dict[str, Any]:
        answer: dict[str, Any] = rendered(Plain(), await self._board.call(tool, arguments))
        return answer

    async def create(self, definition: dict[str, Any]) -> dict[str, Any]:
        return self._shown(await self._try(self._board.add(definition)))

    async def show(self, tool: str) -> dict[str, Any]:
        return self._shown(await self._try(self._board.tools.get(tool, self._board.admin)))

    async def change(self, tool: str, patch: dict[str, Any]) -> dict[str, Any]:
        return self._shown(await self._try(self._board.tools.update(tool, patch, self._board.admin)))

    async def remove(self, tool: str) -> None:
        await self._try(self._board.tools.delete(tool, self._board.admin))

    async def restore(self, tool_id: str) -> dict[str, Any]:
        return self._shown(await self._try(self._board.tools.restore(tool_id, self._board.admin)))

    def _shown(self, tool: Any) -> dict[str, Any]:
        return dict(build_tool_response(tool, self._board.admin).model_dump(mode="json"))

    async def _try(self, work: Any) -> Any:
        try:
            return await work
        except Refusal as error:
            raise RequestRefused(describe_refusal(error)[1]) from error


class RestSurface:
    name = "rest"

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def call(self, tool: str, arguments: Any = None) -> dict[str, Any]:
        answer = await self._client.post(f"/v1/tools/{tool}/call", json={} if arguments is None else arguments)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def create(self, definition: dict[str, Any]) -> dict[str, Any]:
        return self._read(await self._client.post("/v1/tools", json=definition))

    async def show(self, tool: str) -> dict[str, Any]:
        return self._read(await self._client.get(f"/v1/tools/{tool}"))

    async def change(self, tool: str, patch: dict[str, Any]) -> dict[str, Any]:
        return self._read(await self._client.patch(f"/v1/tools/{tool}", json=patch))

    async def remove(self, tool: str) -> None:
        self._read(await self._client.delete(f"/v1/tools/{tool}"))

    async def restore(self, tool_id: str) -> dict[str, Any]:
        return self._read(await self._client.post(f"/v1/tools/{tool_id}/restore"))

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        if answer.is_success:
            return dict(answer.json()) if answer.content else {}
        assert answer.headers["content-type"] == "application/problem+json"
        raise RequestRefused(answer.json()["detail"])


class CliSurface:
    name = "cli"

    def __init__(self, url: str) -> None:
        self._environment = {"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY}

    async def call(self, tool: str, arguments: Any = None) -> dict[str, Any]:
        text = json.dumps({} if arguments is None else arguments)
        code, out, err = await self._run("call", tool, "--input", "-", "--json", stdin=text)
        assert code in (0, 1), err
        answer = dict(json.loads(out))
        assert code == (0 if answer["success"] else 1)
        return answer

    async def create(self, definition: dict[str, Any]) -> dict[str, Any]:
        return await self._tool("tools", "add", "-", "--json", stdin=json.dumps(definition))

    async def show(self, tool: str) -> dict[str, Any]:
        return await self._tool("tools", "show", tool, "--json")

    async def change(self, tool: str, patch: dict[str, Any]) -> dict[str, Any]:
        return await self._tool("tools", "edit", tool, "--input", "-", "--json", stdin=json.dumps(patch))

    async def remove(self, tool: str) -> None:
        await self._tool("tools", "remove", tool, "--yes", "--json")

    async def restore(self, tool_id: str) -> dict[str, Any]:
        return await self._tool("tools", "restore", tool_id, "--json")

    async def _tool(self, *words: str, stdin: str | None = None) -> dict[str, Any]:
        code, out, err = await self._run(*words, stdin=stdin)
        if code != 0:
            raise RequestRefused(err)
        shown = json.loads(out) if out.strip() else {}
        return dict(shown[0] if isinstance(shown, list) else shown)

    async def _run(self, *words: str, stdin: str | None = None) -> tuple[int, str, str]:
        def invoke() -> tuple[int, str, str]:
            result = CliRunner().invoke(program, list(words), input=stdin, env=self._environment)
            return result.exit_code, result.stdout, result.stderr

        return await anyio.to_thread.run_sync(invoke)


class EmbeddedServer(AnnouncingServer):
    """A server beside others in one process, which leaves signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Change no handler of a signal."""
        yield


@asynccontextmanager
async def served(board: Pegboard, *, limits: ConnectionLimits | None = None) -> AsyncIterator[str]:
    """Serve the board on loopback and yield the URL."""
    app = ConnectionGuard(create_app(board, "test"))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", http=BoundedConnection)
    ready = anyio.Event()
    server = EmbeddedServer(config, ready.set)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [bound])
            with anyio.fail_after(30):
                await ready.wait()
            if limits is not None:
                server.lifespan.state[LIMITS_KEY] = limits
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
            server.should_exit = True


@asynccontextmanager
async def opened(name: str, board: Pegboard) -> AsyncIterator[Surface]:
    """Yield the surface of this name."""
    if name == "library":
        yield LibrarySurface(board)
        return
    headers = {"Authorization": f"Bearer {KEY}"}
    if name == "rest":
        transport = httpx.ASGITransport(create_app(board, "test"))
        async with httpx.AsyncClient(transport=transport, base_url="http://board", headers=headers) as client:
            yield RestSurface(client)
        return
    async with served(board) as url:
        yield CliSurface(url)
