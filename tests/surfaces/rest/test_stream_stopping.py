"""Streams end, each with its last event, when the server stops."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
import uvicorn

from pegboard import Pegboard
from pegboard.surfaces.rest.bounded_connection import ConnectionGuard
from pegboard.surfaces.rest.server import ServerApplication, build_server_options
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY, EmbeddedServer
from tests.surfaces.rest.streams import reading
from tests.waiting import until


class Stopping:
    """A real server, and how to stop it."""

    def __init__(self, server: EmbeddedServer, url: str, board: Pegboard) -> None:
        self.url = url
        self.board = board
        self.has_stopped = anyio.Event()
        self._server = server

    def stop(self) -> None:
        """As a signal does."""
        if not self._server.should_exit:
            signal.raise_signal(signal.SIGTERM)
            self._server.should_exit = True


@asynccontextmanager
async def running(home: Path, drain_seconds: float) -> AsyncIterator[Stopping]:
    """Such a server, with a tool that waits and one that waits until it is released."""
    settings = NoSettings(home=home, admin_key=KEY, drain_seconds=drain_seconds, database_url="memory")
    boards: list[Pegboard] = []
    ready = anyio.Event()

    async def on_open(board: Pegboard) -> None:
        @board.tool
        async def wait() -> None:
            await anyio.sleep_forever()

        boards.append(board)

    server = EmbeddedServer(
        uvicorn.Config(ConnectionGuard(ServerApplication(settings, "test", on_open)), **build_server_options(settings)),
        ready.set,
    )
    with socket.socket() as bound, anyio.fail_after(30):
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        async with anyio.create_task_group() as group:

            async def serve() -> None:
                await server.serve([bound])
                stopping.has_stopped.set()

            group.start_soon(serve)
            await ready.wait()
            stopping = Stopping(server, url, boards[0])
            yield stopping
            stopping.stop()


async def test_those_who_only_watch_do_not_hold_it_up(tmp_path: Path) -> None:
    async with running(tmp_path, drain_seconds=20) as server:
        async with (
            reading(server.url, "/v1/executions/stream") as one,
            reading(server.url, "/v1/executions/stream") as two,
        ):
            server.stop()
            for reader in (one, two):
                *_, last = await reader.rest()
                assert (last.name, last.data["code"]) == ("error", "unavailable")
        with anyio.fail_after(10):
            await server.has_stopped.wait()
        assert not server.board.watchers.is_watched


async def test_calls_get_their_time_and_then_their_streams_an_end(tmp_path: Path) -> None:
    async with running(tmp_path, drain_seconds=0.3) as server:
        go_on = anyio.Event()

        async def ends() -> int:
            await go_on.wait()
            return 7

        server.board.tool(ends)
        body = [{"name": "ends"}]
        async with (
            reading(server.url, "/v1/calls", method="POST", json=body) as ending,
            reading(server.url, "/v1/calls", method="POST", json={"name": "wait"}) as hanging,
        ):
            await ending.until("tool_use")
            await hanging.until("tool_use")
            server.stop()
            go_on.set()
            assert [item.name for item in await ending.rest()] == ["tool_result", "complete"]
            *_, last = await hanging.rest()
            assert last.name in ("complete", "error")
        with anyio.fail_after(10):
            await server.has_stopped.wait()


async def test_a_server_that_stops_takes_no_more(tmp_path: Path) -> None:
    async with running(tmp_path, drain_seconds=0.3) as server:
        server.stop()
        await server.has_stopped.wait()

        async def refused() -> bool:
            try:
                async with httpx.AsyncClient() as speaker:
                    await speaker.get(server.url + "/healthz")
            except httpx.TransportError:
                return True
            return False

        await until(refused)
        with pytest.raises(Exception, match="shutting down"):
            server.board.following.check_capacity(server.board.admin)
