"""The running program against the test's own board, over connections that can be cut."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import anyio

from pegboard import Pegboard
from tests.board_surfaces import KEY, served
from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import SECONDS, Outcome, Program
from tests.waiting import until


class Running:
    """A process of the program, and its output so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.out = self.err = ""
        self._process = process

    async def wait_for_stderr(self, text: str) -> None:
        """Wait until the program has written this to stderr."""
        await self._until(lambda: text in self.err)

    async def writes(self, text: str) -> None:
        """Wait until this is in what it gives out."""
        await self._until(lambda: text in self.out)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    async def ended(self) -> Outcome:
        """Wait for the exit code."""
        with anyio.fail_after(SECONDS):
            code = await self._process.wait()
            await self._until(lambda: self.is_read)
        return Outcome(code, self.out, self.err)

    is_read = False

    async def read(self) -> None:
        """Read all that it writes."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, self._process.stdout, "out")
            group.start_soon(self._read, self._process.stderr, "err")
        self.is_read = True

    async def _read(self, stream: asyncio.StreamReader, name: str) -> None:
        whole = b""
        while part := await stream.read(65536):
            whole += part
            setattr(self, name, whole.decode(errors="replace"))

    async def _until(self, look: object) -> None:
        assert callable(look)

        async def looked() -> bool:
            return bool(look())

        try:
            await until(looked, SECONDS)
        except TimeoutError:
            raise AssertionError(f"out: {self.out!r}, err: {self.err!r}") from None


@asynccontextmanager
async def started(program: Program, *words: str, real: bool = False) -> AsyncIterator[Running]:
    """Start the program as a separate process, as a shell does if it is `real`; kill it at the end of the test."""
    command = (sys.executable, "-m", "pegboard", *words) if real else forked_command("pegboard", *words)
    process = await asyncio.create_subprocess_exec(
        *command,
        env=program.full_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    running = Running(process)
    async with anyio.create_task_group() as group:
        group.start_soon(running.read)
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@asynccontextmanager
async def program_of_admin(board: Pegboard) -> AsyncIterator[Program]:
    """Return the program as the admin of this board runs it."""
    async with served(board) as url:
        yield Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY})


class Relay:
    """Forwards connections between the program and a server, and can cut them."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self._writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None
        self.connections = 0

    async def start(self) -> str:
        """Start listening and return the address."""
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Cut the open connections; new connections are forwarded."""
        for writer in self._writers:
            writer.transport.abort()

    def close(self) -> None:
        """Cut the open connections, and accept no others."""
        assert self.server is not None
        self.server.close()
        self.cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        their_reader, their_writer = await asyncio.open_connection(self._to.hostname, self._to.port)
        self._writers |= {writer, their_writer}
        async with anyio.create_task_group() as group:
            group.start_soon(_pass, reader, their_writer)
            group.start_soon(_pass, their_reader, writer)
        self._writers -= {writer, their_writer}


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def relayed(board: Pegboard) -> AsyncIterator[tuple[Program, Relay]]:
    """The program, and the proxy between it and the board."""
    async with served(board) as url:
        relay = Relay(url)
        where = await relay.start()
        try:
            yield Program({"PEGBOARD_URL": where, "PEGBOARD_KEY": KEY}), relay
        finally:
            relay.close()
