"""MCP servers as child processes: the process, its pipes as SDK streams, and rate-limited streams for any transport."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from asyncio import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import anyio
from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from pegboard.kinds.mcp import child_process
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import InvalidArguments, Misconfigured, ToolError, UpstreamFailed, UpstreamUnreachable

# The command gets only these variables of the board's environment.
INHERITED_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER", "SHELL", "TERM", "TMPDIR", "TZ")
# How long to wait after closing its input and after SIGTERM.
EXIT_SECONDS = 1.0
STOP_SECONDS = child_process.CHILD_GRACE_SECONDS * 2 + 1.0

_MAX_KEPT_STDERR_BYTES = 4096
_MAX_SHOWN_STDERR_CHARS = 600
# A server that writes without end is read this much at a time, with a pause in between.
_STDERR_BURST_BYTES = 2**18
_STDERR_PAUSE_SECONDS = 0.05
_MAX_BUFFERED_BYTES = 2**17
_EXIT_WAIT_SECONDS = 0.5


class McpChildProcess(asyncio.SubprocessProtocol):
    """A running command: complete lines of its standard output, and the end of its standard error."""

    def __init__(self, upstream: Upstream, max_bytes: int) -> None:
        self._shown = upstream.display_name
        self._mask = SecretMask(upstream.secrets)
        self._max_bytes = max_bytes
        self._process = cast(asyncio.SubprocessTransport, None)
        self._stdin = cast(asyncio.WriteTransport, None)
        self._stdout = cast(asyncio.ReadTransport, None)
        self._output_buffer = bytearray()
        self._lines: deque[bytes] = deque()
        self._ahead = 0
        self._rest = bytearray()
        self._stderr = bytearray()
        self._recent_stderr_bytes = 0
        self._over = False
        self._has_overlong_line = False
        self._is_not_reading = False
        self._paused = False
        self.pid = 0
        self._waiting: asyncio.Future[None] | None = None
        self.exited = asyncio.Event()

    @classmethod
    async def start(cls, upstream: Upstream, *, memory: int, max_bytes: int) -> McpChildProcess:
        """Start the command under child_process, which kills all its descendants; raise ToolError if that fails."""
        folder = upstream.working_dir
        if folder is not None and not _is_folder(folder):
            raise Misconfigured(f"working_dir '{folder}' of the {upstream.display_name} is not a folder")
        launcher = (sys.executable, "-I", "-S", child_process.__file__, str(os.getpid()), str(memory), "--")
        loop = asyncio.get_running_loop()
        try:
            _, started = await loop.subprocess_exec(
                lambda: cls(upstream, max_bytes),
                *launcher,
                *(upstream.command or ()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=build_child_environment(dict(upstream.env)),
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UpstreamUnreachable(f"The {upstream.display_name} cannot be started: {error}") from None
        return started

    async def line(self) -> bytes | None:
        """Return the next line, or None at the end of the output."""
        while not self._lines:
            if self._over:
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        line = self._lines.popleft()
        self._ahead -= len(line)
        if self._paused and self._ahead <= _MAX_BUFFERED_BYTES // 2 and not self._over:
            self._paused = False
            self._stdout.resume_reading()
        return line

    def write(self, data: bytes) -> bool:
        """Queue data for the command's input; return False if the command does not read or has exited; see `why`."""
        if self._over or self._stdin.is_closing():
            return False
        if len(self._output_buffer) + self._stdin.get_write_buffer_size() > 2 * self._max_bytes:
            self._is_not_reading = True
            return False
        if not self._output_buffer:
            # Writes of one event loop iteration are sent together, so that the command wakes up once.
            asyncio.get_running_loop().call_soon(self._flush)
        self._output_buffer += data
        return True

    def _flush(self) -> None:
        data, self._output_buffer = bytes(self._output_buffer), bytearray()
        if not self._stdin.is_closing():
            self._stdin.write(data)

    async def why(self) -> ToolError:
        """Return the error that explains why nothing can be read or sent any more."""
        if self._is_not_reading:
            return UpstreamFailed(f"The {self._shown} does not read what it is sent, and was ended")
        if self._has_overlong_line:
            return UpstreamFailed(f"The {self._shown} wrote a line of more than {self._max_bytes} bytes and was ended")
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_WAIT_SECONDS):
                await self.exited.wait()
        code = self._process.get_returncode()
        closed = "output" if self._over else "input"
        how = f"closed its {closed}" if code is None else f"exited with status {code}"
        if code is not None and (code < 0 or code > 128):
            with suppress(ValueError):
                how = f"was ended by {signal.Signals(-code if code < 0 else code - 128).name}"
        return UpstreamUnreachable(f"The {self._shown} {how}{self.read_stderr()}")

    def read_stderr(self) -> str:
        """Return the end of its standard error for a message; empty if there is none."""
        text = " ".join(self._mask.text(self._stderr.decode("utf-8", "replace")).split())
        if not text:
            return ""
        return "; it said: " + (text if len(text) <= _MAX_SHOWN_STDERR_CHARS else "…" + text[-_MAX_SHOWN_STDERR_CHARS:])

    async def stop(self) -> None:
        """End the process: close its input, then SIGTERM, then SIGKILL, each with a timeout; no process is left."""
        self._over = True
        self._stdin.close()
        self._stdout.close()
        if not await self._wait_for_exit(EXIT_SECONDS):
            with suppress(ProcessLookupError):
                self._process.terminate()
            if not await self._wait_for_exit(STOP_SECONDS):
                with suppress(ProcessLookupError):
                    self._process.kill()
                await self._wait_for_exit(STOP_SECONDS)
        if self._process.get_returncode() == -signal.SIGKILL:
            # The parent process of the command was killed itself; the remaining processes are in its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.close()

    async def _wait_for_exit(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        return self.exited.is_set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transports of the running process."""
        self._process = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._process.get_pid()
        self._stdin = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))
        self._stdout = cast(asyncio.ReadTransport, self._process.get_pipe_transport(1))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Split standard output into lines; keep the end of standard error."""
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
            self._has_overlong_line = True
        if self._has_overlong_line:
            self._end()
        if not self._paused and (self._has_overlong_line or self._ahead > _MAX_BUFFERED_BYTES):
            self._paused = True
            self._stdout.pause_reading()
        self._wake()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """End the session if standard output was closed."""
        if fd == 1:
            self._end()

    def process_exited(self) -> None:
        """Record the exit; remaining output may still arrive."""
        self.exited.set()
        asyncio.get_running_loop().call_later(_EXIT_WAIT_SECONDS, self._end)

    def _keep(self, line: bytes) -> None:
        if len(line) > self._max_bytes:
            self._has_overlong_line = True
        elif line and not line.isspace():
            self._lines.append(line)
            self._ahead += len(line)

    def _hear(self, data: bytes) -> None:
        self._stderr += data[-_MAX_KEPT_STDERR_BYTES:]
        del self._stderr[:-_MAX_KEPT_STDERR_BYTES]
        self._recent_stderr_bytes += len(data)
        if self._recent_stderr_bytes < _STDERR_BURST_BYTES:
            return
        self._recent_stderr_bytes = 0
        stderr = cast(asyncio.ReadTransport, self._process.get_pipe_transport(2))
        stderr.pause_reading()
        asyncio.get_running_loop().call_later(_STDERR_PAUSE_SECONDS, _resume_reading, stderr)

    def _end(self) -> None:
        self._over = True
        self._rest.clear()
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def build_child_environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the command's environment: a few variables of the board and all of the tool's."""
    return {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ} | dict(own)


def _is_folder(path: str) -> bool:
    return Path(path).is_dir()


def _resume_reading(stderr: asyncio.ReadTransport) -> None:
    if not stderr.is_closing():
        stderr.resume_reading()


StreamItem = SessionMessage | Exception
OnLost = Callable[[ToolError], None]

# Limits for unsolicited messages, per second and as a burst: each one takes time of the event loop that other calls
# need.
UNSOLICITED_PER_SECOND = 1000.0
UNSOLICITED_BURST = 1000.0
# The notifications that sessions of the board use.
_USED_NOTIFICATIONS = (
    "notifications/progress",
    "notifications/tools/",
    "notifications/cancelled",
    "notifications/subscriptions/",
)

_MAX_NUMBER = 2**1000

# The beginning or end of a response as common libraries write it.
_RESPONSE_START = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"')
_RESPONSE_END = re.compile(rb'"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')


class _BaseStream:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None

    async def aclose(self) -> None:
        """Do nothing: the session releases all resources."""


class ChildOutputStream(_BaseStream):
    """A child's output lines as messages; other lines are skipped."""

    def __init__(self, child: McpChildProcess, lost: OnLost) -> None:
        self._child = child
        self._lost = lost

    def __aiter__(self) -> ChildOutputStream:
        return self

    async def __anext__(self) -> StreamItem:
        line = await self._child.line()
        if line is None:
            # Set the reason before the waiting calls fail.
            self._lost(await self._child.why())
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            return _read_broken_line(line)

    async def receive(self) -> StreamItem:
        """Return the next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class ChildInputStream(_BaseStream):
    """A child's standard input; writing never waits, so that a child that does not read blocks no caller."""

    def __init__(self, child: McpChildProcess, lost: OnLost) -> None:
        self._child = child
        self._lost = lost

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        try:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        except ValueError:
            raise InvalidArguments("The arguments hold text that is not valid Unicode") from None
        if not self._child.write(text.encode() + b"\n"):
            self._lost(await self._child.why())
            raise anyio.BrokenResourceError


def _read_broken_line(line: bytes) -> StreamItem:
    """Convert an invalid line: printed text is skipped; for a malformed response, its call fails immediately."""
    found = _RESPONSE_START.match(line[:200]) or _RESPONSE_END.search(line[-200:])
    if found is None:
        return ValueError("a line that is no message")
    error = ErrorData(code=PARSE_ERROR, message="an answer that cannot be read as JSON")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error))


@asynccontextmanager
async def open_stdio_transport(
    upstream: Upstream,
    *,
    memory: int,
    max_bytes: int,
    lost: OnLost,
    started: Callable[[McpChildProcess], None] = lambda _child: None,
) -> AsyncIterator[TransportStreams]:
    """Start the server process and yield its streams; the process is ended on exit.

    `started` gets the process, `lost` the reason why it ended.
    """
    child = await McpChildProcess.start(upstream, memory=memory, max_bytes=max_bytes)
    started(child)
    try:
        yield ChildOutputStream(child, lost), ChildInputStream(child, lost)
    finally:
        with anyio.CancelScope(shield=True):
            await child.stop()


class PacedStream(_BaseStream):
    """A stream that passes expected responses immediately and rate-limits all other messages."""

    def __init__(self, inner: ReadStream[StreamItem]) -> None:
        self._source = inner
        self._left = UNSOLICITED_BURST
        self._counted = time.monotonic()
        # Number of expected responses, and number of messages received.
        self.expected = 0
        self.heard = 0

    @property
    def last_context(self) -> Any:
        """The context of the last message's sender, if the transport provides it."""
        return getattr(self._source, "last_context", None)

    def __aiter__(self) -> PacedStream:
        return self

    async def __anext__(self) -> StreamItem:
        while True:
            item = await self._source.__anext__()
            self.heard += 1
            message = item.message if isinstance(item, SessionMessage) else None
            if self.expected > 0 and isinstance(message, JSONRPCResponse | JSONRPCError):
                self.expected -= 1
                return item
            await self._wait_for_pace()
            if isinstance(message, JSONRPCNotification) and not _is_used(message):
                continue
            return item

    async def _wait_for_pace(self) -> None:
        now = time.monotonic()
        self._left = min(UNSOLICITED_BURST, self._left + (now - self._counted) * UNSOLICITED_PER_SECOND) - 1
        self._counted = now
        if self._left < 0:
            await asyncio.sleep(-self._left / UNSOLICITED_PER_SECOND)

    async def receive(self) -> StreamItem:
        """Return the next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._source.aclose()


def _is_used(message: JSONRPCNotification) -> bool:
    """True if the board uses it; an integer too large for a float would end the SDK's reader, so it is dropped."""
    numbers = (message.params or {}).values()
    return message.method.startswith(_USED_NOTIFICATIONS) and not any(
        isinstance(n, int) and abs(n) > _MAX_NUMBER for n in numbers
    )


class PacedTransport:
    """A transport whose incoming messages are rate-limited; `stream` is set when it is entered."""

    def __init__(self, transport: AbstractAsyncContextManager[TransportStreams]) -> None:
        self._transport = transport
        self.stream: PacedStream | None = None

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        self.stream = PacedStream(read)
        streams: tuple[ReadStream[StreamItem], WriteStream[SessionMessage]] = (self.stream, write)
        return streams

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)
