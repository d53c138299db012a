"""MCP servers that run as commands: a child process, its lines in and out, and what it says when it fails."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio import subprocess
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from pegboard.core.errors import Misconfigured, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.executors.masking import Mask
from pegboard.executors.mcp import child
from pegboard.executors.mcp.upstream import Upstream

# Everything else of the board's own environment stays with the board.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER", "SHELL", "TERM", "TMPDIR", "TZ")
# Where the command is told to end, and then made to.
LEAVING_SECONDS = 1.0
STOPPING_SECONDS = child.GRACE_SECONDS * 2 + 1.0

_KEPT_SAID = 4096
_SHOWN_SAID = 600
# A server that writes without end is read this much at a time, and then not for a moment.
_SAID_AT_ONCE = 2**18
_PAUSE_SECONDS = 0.05
_AHEAD = 2**17
_DYING_SECONDS = 0.5


class Child(asyncio.SubprocessProtocol):
    """A running command: whole lines of its standard output, and the last it said on standard error."""

    def __init__(self, upstream: Upstream, max_bytes: int) -> None:
        self._shown = upstream.shown
        self._mask = Mask(upstream.secrets)
        self._max_bytes = max_bytes
        self._process = cast(asyncio.SubprocessTransport, None)
        self._stdin = cast(asyncio.WriteTransport, None)
        self._stdout = cast(asyncio.ReadTransport, None)
        self._out = bytearray()
        self._lines: deque[bytes] = deque()
        self._ahead = 0
        self._rest = bytearray()
        self._said = bytearray()
        self._said_lately = 0
        self._over = False
        self._too_long = False
        self._deaf = False
        self._paused = False
        self.pid = 0
        self._waiting: asyncio.Future[None] | None = None
        self.exited = asyncio.Event()

    @classmethod
    async def start(cls, upstream: Upstream, *, memory: int, max_bytes: int) -> Child:
        """The command, started under a process that takes everything of it along when it ends."""
        folder = upstream.working_dir
        if folder is not None and not _is_folder(folder):
            raise Misconfigured(f"working_dir '{folder}' of the {upstream.shown} is not a folder")
        launcher = (sys.executable, "-I", "-S", child.__file__, str(os.getpid()), str(memory), "--")
        loop = asyncio.get_running_loop()
        try:
            _, started = await loop.subprocess_exec(
                lambda: cls(upstream, max_bytes),
                *launcher,
                *(upstream.command or ()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(dict(upstream.env)),
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UpstreamUnreachable(f"The {upstream.shown} cannot be started: {error}") from None
        return started

    async def line(self) -> bytes | None:
        """The next line, or None when there will be none."""
        while not self._lines:
            if self._over:
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        line = self._lines.popleft()
        self._ahead -= len(line)
        if self._paused and self._ahead <= _AHEAD // 2 and not self._over:
            self._paused = False
            self._stdout.resume_reading()
        return line

    def write(self, data: bytes) -> bool:
        """Send this on; False where the command does not read, or is gone, and `why` says which."""
        if self._over or self._stdin.is_closing():
            return False
        if len(self._out) + self._stdin.get_write_buffer_size() > 2 * self._max_bytes:
            self._deaf = True
            return False
        if not self._out:
            # What comes in the same turn of the loop goes out together: the command is woken up once for all of it.
            asyncio.get_running_loop().call_soon(self._flush)
        self._out += data
        return True

    def _flush(self) -> None:
        data, self._out = bytes(self._out), bytearray()
        if not self._stdin.is_closing():
            self._stdin.write(data)

    async def why(self) -> ToolError:
        """Why nothing can be read from it, or sent to it, any more."""
        if self._deaf:
            return UpstreamFailed(f"The {self._shown} does not read what it is sent, and was ended")
        if self._too_long:
            return UpstreamFailed(f"The {self._shown} wrote a line of more than {self._max_bytes} bytes and was ended")
        with suppress(TimeoutError):
            async with asyncio.timeout(_DYING_SECONDS):
                await self.exited.wait()
        code = self._process.get_returncode()
        closed = "output" if self._over else "input"
        how = f"closed its {closed}" if code is None else f"exited with status {code}"
        if code is not None and (code < 0 or code > 128):
            with suppress(ValueError):
                how = f"was ended by {signal.Signals(-code if code < 0 else code - 128).name}"
        return UpstreamUnreachable(f"The {self._shown} {how}{self.said()}")

    def said(self) -> str:
        """The end of what it wrote to standard error, for a message; empty if it wrote nothing."""
        text = " ".join(self._mask.text(self._said.decode("utf-8", "replace")).split())
        if not text:
            return ""
        return "; it said: " + (text if len(text) <= _SHOWN_SAID else "…" + text[-_SHOWN_SAID:])

    async def stop(self) -> None:
        """End it: by closing its input, then by asking, then by force; bounded in time, and nothing is left."""
        self._over = True
        self._stdin.close()
        self._stdout.close()
        if not await self._exits_within(LEAVING_SECONDS):
            with suppress(ProcessLookupError):
                self._process.terminate()
            if not await self._exits_within(STOPPING_SECONDS):
                with suppress(ProcessLookupError):
                    self._process.kill()
                await self._exits_within(STOPPING_SECONDS)
        if self._process.get_returncode() == -signal.SIGKILL:
            # Who looked after the command was killed itself; what is left of the command is in its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.close()

    async def _exits_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        return self.exited.is_set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        self._process = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._process.get_pid()
        self._stdin = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))
        self._stdout = cast(asyncio.ReadTransport, self._process.get_pipe_transport(1))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output came."""
        if fd == 2:
            self._hear(data)
            return
        if self._over:
            return
        first, *more = data.split(b"\n")
        self._rest += first
        for part in more:
            self._keep(bytes(self._rest))
            self._rest = bytearray(part)
        if len(self._rest) > self._max_bytes:
            self._too_long = True
        if self._too_long:
            self._end()
        if not self._paused and (self._too_long or self._ahead > _AHEAD):
            self._paused = True
            self._stdout.pause_reading()
        self._wake()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A stream was closed; without its output the server is of no use."""
        if fd == 1:
            self._end()

    def process_exited(self) -> None:
        """Nothing of it runs any more; what it wrote last may still come."""
        self.exited.set()
        asyncio.get_running_loop().call_later(_DYING_SECONDS, self._end)

    def _keep(self, line: bytes) -> None:
        if len(line) > self._max_bytes:
            self._too_long = True
        elif line and not line.isspace():
            self._lines.append(line)
            self._ahead += len(line)

    def _hear(self, data: bytes) -> None:
        self._said += data[-_KEPT_SAID:]
        del self._said[:-_KEPT_SAID]
        self._said_lately += len(data)
        if self._said_lately < _SAID_AT_ONCE:
            return
        self._said_lately = 0
        stderr = cast(asyncio.ReadTransport, self._process.get_pipe_transport(2))
        stderr.pause_reading()
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, _resume, stderr)

    def _end(self) -> None:
        self._over = True
        self._rest.clear()
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """What the command finds in its environment: little of the board's, and all of the tool's."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(own)


def _is_folder(path: str) -> bool:
    return Path(path).is_dir()


def _resume(stderr: asyncio.ReadTransport) -> None:
    if not stderr.is_closing():
        stderr.resume_reading()
