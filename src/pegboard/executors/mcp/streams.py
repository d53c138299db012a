"""What the SDK reads from and writes to: lines of a child process, and any upstream's messages at a bearable rate."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

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

from pegboard.core.errors import InvalidArguments, ToolError
from pegboard.executors.mcp.stdio import Child
from pegboard.executors.mcp.upstream import Upstream

Item = SessionMessage | Exception
Lost = Callable[[ToolError], None]

# Messages that nobody asked for: as many as these a second, and as many at once. Each costs the board's loop some
# time that other tools' calls need.
UNASKED_PER_SECOND = 1000.0
UNASKED_AT_ONCE = 1000.0
# Of the notifications, those that mean something to a session of the board's.
_HEEDED = ("notifications/progress", "notifications/tools/", "notifications/cancelled", "notifications/subscriptions/")

_LARGEST = 2**1000

# How answers begin, or end, as the usual libraries write them.
_ANSWER = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"')
_ANSWER_ENDS = re.compile(rb'"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')


class _Stream:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None

    async def aclose(self) -> None:
        """Nothing is held that the session does not let go of itself."""


class Lines(_Stream):
    """A child's lines as messages; whatever else it prints is passed over."""

    def __init__(self, child: Child, lost: Lost) -> None:
        self._child = child
        self._lost = lost

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> Item:
        line = await self._child.line()
        if line is None:
            # Known before anybody who waits for an answer is told that there will be none.
            self._lost(await self._child.why())
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            return _unreadable(line)

    async def receive(self) -> Item:
        """The next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class Input(_Stream):
    """A child's standard input; writing never waits, so that nobody can be held up by a child that does not read."""

    def __init__(self, child: Child, lost: Lost) -> None:
        self._child = child
        self._lost = lost

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message on."""
        try:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        except ValueError:
            raise InvalidArguments("The arguments hold text that is not valid Unicode") from None
        if not self._child.write(text.encode() + b"\n"):
            self._lost(await self._child.why())
            raise anyio.BrokenResourceError


def _unreadable(line: bytes) -> Item:
    """A line that is no message: something that was printed, or an answer, whose call then ends at once."""
    found = _ANSWER.match(line[:200]) or _ANSWER_ENDS.search(line[-200:])
    if found is None:
        return ValueError("a line that is no message")
    error = ErrorData(code=PARSE_ERROR, message="an answer that cannot be read as JSON")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error))


@asynccontextmanager
async def stdio_transport(
    upstream: Upstream,
    *,
    memory: int,
    max_bytes: int,
    lost: Lost,
    started: Callable[[Child], None] = lambda _child: None,
) -> AsyncIterator[TransportStreams]:
    """The streams of a server that is started for it, and gone for certain afterwards.

    `started` gets the process, `lost` the reason why it ended.
    """
    child = await Child.start(upstream, memory=memory, max_bytes=max_bytes)
    started(child)
    try:
        yield Lines(child, lost), Input(child, lost)
    finally:
        with anyio.CancelScope(shield=True):
            await child.stop()


class Paced(_Stream):
    """A stream that lets answers through at once, and everything else only so fast."""

    def __init__(self, inner: ReadStream[Item]) -> None:
        self._inner = inner
        self._left = UNASKED_AT_ONCE
        self._counted = time.monotonic()
        # Answers that somebody waits for, and messages that came so far.
        self.expected = 0
        self.heard = 0

    @property
    def last_context(self) -> Any:
        """The context of whoever sent the last message, where the transport knows it."""
        return getattr(self._inner, "last_context", None)

    def __aiter__(self) -> Paced:
        return self

    async def __anext__(self) -> Item:
        while True:
            item = await self._inner.__anext__()
            self.heard += 1
            message = item.message if isinstance(item, SessionMessage) else None
            if self.expected > 0 and isinstance(message, JSONRPCResponse | JSONRPCError):
                self.expected -= 1
                return item
            await self._pace()
            if isinstance(message, JSONRPCNotification) and not _is_heeded(message):
                continue
            return item

    async def _pace(self) -> None:
        now = time.monotonic()
        self._left = min(UNASKED_AT_ONCE, self._left + (now - self._counted) * UNASKED_PER_SECOND) - 1
        self._counted = now
        if self._left < 0:
            await asyncio.sleep(-self._left / UNASKED_PER_SECOND)

    async def receive(self) -> Item:
        """The next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """Close what is read from."""
        await self._inner.aclose()


def _is_heeded(message: JSONRPCNotification) -> bool:
    """Whether it means something here; a number that no float can hold would end the SDK's reading."""
    numbers = (message.params or {}).values()
    return message.method.startswith(_HEEDED) and not any(isinstance(n, int) and abs(n) > _LARGEST for n in numbers)


class Watched:
    """A transport whose messages come paced; `stream` is there once it is entered."""

    def __init__(self, transport: AbstractAsyncContextManager[TransportStreams]) -> None:
        self._transport = transport
        self.stream: Paced | None = None

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        self.stream = Paced(read)
        streams: tuple[ReadStream[Item], WriteStream[SessionMessage]] = (self.stream, write)
        return streams

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)
