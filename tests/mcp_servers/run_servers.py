"""Run the servers of this folder, as commands of an upstream or on a port."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pegboard.kinds.mcp.upstream import Upstream
from tests.fork_server import Forked, fork, forked_command

FOLDER = Path(__file__).parent


def odd(how: str, *args: object, env: dict[str, str] | None = None, working_dir: str | None = None) -> Upstream:
    """The server that behaves in this way, as a command."""
    command = (sys.executable, str(FOLDER / "faulty_server.py"), how, *map(str, args))
    return Upstream(None, command, (), tuple((env or {}).items()), working_dir)


def everyday(era: str, notes: Path | None = None) -> Upstream:
    """The SDK's server, as a command."""
    words = ("stdio", era, *([str(notes)] if notes else ()))
    return Upstream(None, forked_command("tests.mcp_servers.sdk_server", *words))


class HttpServer:
    """The SDK's server on a port that is the same after a restart."""

    def __init__(self, era: str, notes: Path | None) -> None:
        self._era = era
        self._notes = notes
        self._port = 0
        self._process: Forked | None = None

    @property
    def upstream(self) -> Upstream:
        """Return the upstream for this server."""
        return Upstream(f"http://127.0.0.1:{self._port}/mcp", None)

    def start(self) -> None:
        """Start it and wait until it listens."""
        words = [str(self._port), self._era, *([str(self._notes)] if self._notes is not None else ())]
        with Path(os.devnull).open("r+b") as nothing:
            self._process = fork(
                "tests.mcp_servers.sdk_server",
                *words,
                environment=os.environ,
                stdin=nothing.fileno(),
                stderr=nothing.fileno(),
            )
        self._port = int(self._process.stdout.readline())

    def stop(self) -> None:
        """Kill the server."""
        if self._process is not None:
            with self._process:
                self._process.kill()
            self._process = None


@contextmanager
def over_http(era: str, notes: Path | None = None) -> Iterator[HttpServer]:
    """The SDK's server, listening."""
    server = HttpServer(era, notes)
    server.start()
    try:
        yield server
    finally:
        server.stop()
