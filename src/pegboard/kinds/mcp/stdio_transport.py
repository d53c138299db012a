"""MCP servers as child processes: the process, its pipes as streams, and rate-limited streams for any transport.

Not the SDK's `stdio_client`, which keeps a line of any length in memory, waits forever for a server that does not read,
and reports neither the exit status nor the standard error.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from asyncio import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
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
_EXIT_WAIT_SECONDS = 0.5


class McpChildProcess(asyncio.SubprocessProtocol):
    """A running command: the lines of its standard output, and the end of its standard error."""

    def __init__(self, upstream: Upstream, max_bytes: int) -> None:
        self._shown = upstream.display_name
        self._mask = SecretMask(upstream.secrets)
        self._max_bytes = max_bytes
        self._process = cast(asyncio.SubprocessTransport, None)
        self._stdin = cast(asyncio.WriteTransport, None)
        self._stdout = cast(asyncio.ReadTransport, None)
        self._output_buffer = bytearray()
        self._lines = asyncio.StreamReader(max_bytes)
        self._stderr = bytearray()
        self._recent_stderr_bytes = 0
        self._over = False
        self._has_overlong_line = False
        self._is_not_reading = False
        self.pid = 0
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

    async def read_line(self) -> bytes | None:
        """Return the next line that is not blank, or None at the end of the output; see `why`."""
        try:
            while (line := await self._lines.readuntil()).isspace():
                pass
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            self._has_overlong_line = True
            self._end()
            return None
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
        return "; the end of its stderr: " + (
            text if len(text) <= _MAX_SHOWN_STDERR_CHARS else "…" + text[-_MAX_SHOWN_STDERR_CHARS:]
        )

    async def stop(self) -> None:
        """End the process: close its input, then SIGTERM, then SIGKILL, each with a timeout; no process is left."""
        self._end()
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
        self._lines.set_transport(self._stdout)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep standard output to be read, and the end of standard error."""
        if fd == 2:
            self._keep_stderr(data)
        elif not self._over:
            self._lines.feed_data(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """End the session if standard output was closed."""
        if fd == 1:
            self._end()

    def process_exited(self) -> None:
        """Record the exit; remaining output may still arrive."""
        self.exited.set()
        asyncio.get_running_loop().call_later(_EXIT_WAIT_SECONDS, self._end)

    def _keep_stderr(self, data: bytes) -> None:
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
        if not self._over:
            self._over = True
            self._lines.feed_eof()


def build_child_environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the command's environment: a few variables of the board and all of the tool's."""
    return {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ} | dict(own)


def _is_folder(path: str) -> bool:
    return Path(path).is_dir()


def _resume_reading(stderr: asyncio.ReadTransport) -> None:
    if not stderr.is_closing():
        stderr.resume_reading()


StreamItem = SessionMessage | Exception
TransportStreams = tuple[ObjectReceiveStream[StreamItem], ObjectSendStream[SessionMessage]]
OnLost = Callable[[ToolError], None]

# Limits for unsolicited messages, per second and as a burst: each one takes time of the event loop that other calls
# need.
UNSOLICITED_PER_SECOND = 1000.0
UNSOLICITED_BURST = 1000.0
# The notifications that sessions of the board use.
_USED_NOTIFICATIONS = (
    "notifications/progress",
    "notifications/tools/",
    "notifications/prompts/",
    "notifications/resources/",
    "notifications/cancelled",
    "notifications/subscriptions/",
)

_MAX_NUMBER = 2**1000

# The beginning or end of a response as common libraries write it.
_RESPONSE_START = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"')
_RESPONSE_END = re.compile(rb'"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')


class ChildStream(ObjectReceiveStream[StreamItem], ObjectSendStream[SessionMessage]):
    """A child's output lines as messages, and its input; writing never waits, so that no caller is blocked."""

    def __init__(self, child: McpChildProcess, lost: OnLost) -> None:
        self._child = child
        self._lost = lost

    async def receive(self) -> StreamItem:
        """Return the next message."""
        line = await self._child.read_line()
        if line is None:
            # Set the reason before the waiting calls fail.
            self._lost(await self._child.why())
            raise anyio.EndOfStream
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            return _read_broken_line(line)

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        try:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        except ValueError:
            raise InvalidArguments("The arguments hold text that is not valid Unicode") from None
        if not self._child.write(text.encode() + b"\n"):
            self._lost(await self._child.why())
            raise anyio.BrokenResourceError

    async def aclose(self) -> None:
        """Do nothing: the session releases all resources."""


def _read_broken_line(line: bytes) -> StreamItem:
    """Convert an invalid line: printed text is skipped; for a malformed response, its call fails immediately."""
    found = _RESPONSE_START.match(line[:200]) or _RESPONSE_END.search(line[-200:])
    if found is None:
        return ValueError("a line that is not a message")
    error = ErrorData(code=PARSE_ERROR, message="an answer that is not valid JSON")
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
        stream = ChildStream(child, lost)
        yield stream, stream
    finally:
        with anyio.CancelScope(shield=True):
            await child.stop()


class PacedStream(ObjectReceiveStream[StreamItem]):
    """A stream that passes expected responses immediately and rate-limits all other messages.

    `handle` gets the other messages first; those for which it returns True are not passed on.
    """

    def __init__(
        self, inner: ObjectReceiveStream[StreamItem], handle: Callable[[Any], bool] = lambda _message: False
    ) -> None:
        self._source = inner
        self._handle = handle
        self._left = UNSOLICITED_BURST
        self._counted = time.monotonic()
        # Number of expected responses, and number of messages received.
        self.expected = 0
        self.received = 0
        # The tools of the last list, as the server sent them.
        self.tools_page: Any = None

    @property
    def last_context(self) -> Any:
        """The context of the last message's sender, if the transport provides it."""
        return getattr(self._source, "last_context", None)

    async def receive(self) -> StreamItem:
        """Return the next message."""
        while True:
            item = await self._source.receive()
            self.received += 1
            message = item.message if isinstance(item, SessionMessage) else None
            if isinstance(message, JSONRPCResponse) and "tools" in message.result:
                self.tools_page = message.result["tools"]
            if self.expected > 0 and isinstance(message, JSONRPCResponse | JSONRPCError):
                self.expected -= 1
                return item
            await self._wait_for_pace()
            if self._handle(message) or (isinstance(message, JSONRPCNotification) and not _is_used(message)):
                continue
            return item

    async def _wait_for_pace(self) -> None:
        now = time.monotonic()
        self._left = min(UNSOLICITED_BURST, self._left + (now - self._counted) * UNSOLICITED_PER_SECOND) - 1
        self._counted = now
        if self._left < 0:
            await asyncio.sleep(-self._left / UNSOLICITED_PER_SECOND)

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._source.aclose()


def _is_used(message: JSONRPCNotification) -> bool:
    """True if the board uses it; an integer too large for a float would end the SDK's reader, so it is dropped."""
    numbers = (message.params or {}).values()
    return message.method.startswith(_USED_NOTIFICATIONS) and not any(
        isinstance(n, int) and abs(n) > _MAX_NUMBER for n in numbers
    )
