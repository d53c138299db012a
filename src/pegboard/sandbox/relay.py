"""Bytes between two sockets: never more in hand than one piece a direction, and the loop's other work between two."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any

from pegboard.sandbox.heads import Framing, Malformed

PIECE = 2**16

_LINE = 1024
_TRAILERS = 2**14
_BLANK = re.compile(rb"\n\r?\n")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[^\r\n]*)?\r\n")
_AT_ONCE = struct.pack("ii", 1, 0)


class Broken(OSError):
    """The other side closed the connection in the middle of something."""


class Turns:
    """One piece after another for all connections of a call: however many there are, they are one guest of the loop."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def next(self) -> None:
        """Wait until the loop has gone round."""
        async with self._turn:
            await asyncio.sleep(0)


class Patience:
    """Raises TimeoutError from what it surrounds once nothing has moved for so long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)
        self._moved = 0.0
        self._waiting = False

    async def __aenter__(self) -> Patience:
        """Begin to wait."""
        await self._timeout.__aenter__()
        self._moved = asyncio.get_running_loop().time()
        self._waiting = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait no longer."""
        self._waiting = False
        await self._timeout.__aexit__(kind, error, trace)

    def moved(self) -> None:
        """Something did: begin again."""
        now = asyncio.get_running_loop().time()
        # A timer for every piece would cost more than the piece.
        if now - self._moved > self._seconds / 8 and self._waiting and not self._timeout.expired():
            self._moved = now
            self._timeout.reschedule(now + self._seconds)


class Stream:
    """One connection: what was read ahead of it is read first, and what is sent has left before more is taken."""

    def __init__(self, sock: socket.socket, turns: Turns) -> None:
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._turns = turns
        self._ahead = bytearray()
        self._loop = asyncio.get_running_loop()
        self.patience: Patience | None = None
        self.sent_at = 0.0

    async def some(self, most: int = PIECE) -> bytes:
        """The next bytes; none at the end."""
        # A turn for each, also where it is at hand: a body in chunks of one byte is a lot of work for few reads.
        await self._turns.next()
        return self._taken(most) if self._ahead else await self._received(most)

    async def head(self, most: int) -> bytes:
        """Everything up to the first blank line; nothing if the connection ends first, Malformed if it is longer."""
        await self._turns.next()
        seen = 0
        while (blank := _BLANK.search(self._ahead, seen, most)) is None:
            if len(self._ahead) >= most:
                raise Malformed(f"the head is longer than {most} bytes", 431)
            seen = max(len(self._ahead) - 2, 0)
            if not await self._more():
                return b""
            if not 0x21 <= self._ahead[0] <= 0x7E:
                raise Malformed("it does not begin as HTTP/1 does; TLS begins after a tunnel is there")
        return self._taken(blank.end())

    async def line(self, most: int) -> bytes:
        """One line with its end; Malformed if it is longer, Broken if the connection ends first."""
        while (end := self._ahead.find(b"\n", 0, most)) < 0:
            if len(self._ahead) >= most:
                raise Malformed(f"a line between chunks is longer than {most} bytes")
            if not await self._more():
                raise Broken
        return self._taken(end + 1)

    async def _more(self) -> bool:
        data = await self._received(PIECE)
        self._ahead += data
        await self._turns.next()
        return bool(data)

    async def _received(self, most: int) -> bytes:
        data = await self._loop.sock_recv(self._sock, most)
        if self.patience is not None:
            self.patience.moved()
        return data

    def _taken(self, most: int) -> bytes:
        data = bytes(self._ahead[:most])
        del self._ahead[:most]
        return data

    async def send(self, data: bytes) -> None:
        """Send it, as slowly as the other side takes it."""
        await self._loop.sock_sendall(self._sock, data)
        self.sent_at = time.monotonic()  # not the loop's, which stands still for all that happens in one turn
        if self.patience is not None:
            self.patience.moved()

    def finish(self) -> None:
        """Say that nothing more is sent; the other side may go on."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def close(self, *, broken: bool = False) -> None:
        """Let it go; a broken one at once, so that the other side cannot take what it got for the whole."""
        if broken:
            with suppress(OSError):
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._sock.close()


class Body:
    """What follows a head, piece by piece and without what frames it."""

    def __init__(self, source: Stream, framing: Framing) -> None:
        self._source = source
        self._chunked = framing.chunked
        self._left = 0 if framing.chunked else framing.length
        self._over = False

    async def piece(self) -> bytes:
        """The next bytes, none at its end; Broken if the connection ends before, Malformed if chunks are not right."""
        if self._chunked and not self._left and not self._over:
            await self._begin_chunk()
        if self._left == 0:
            return b""
        data = await self._source.some(PIECE if self._left is None else min(PIECE, self._left))
        if self._left is None:
            return data
        if not data:
            raise Broken
        self._left -= len(data)
        if self._chunked and not self._left and await self._source.line(_LINE) != b"\r\n":
            raise Malformed("a chunk is longer than its size")
        return data

    async def _begin_chunk(self) -> None:
        size = _SIZE.fullmatch(await self._source.line(_LINE))
        if size is None:
            raise Malformed("a chunk does not begin with its size")
        self._left = int(size[1], 16)
        if self._left:
            return
        self._over = True
        trailers = 0
        while (line := await self._source.line(_LINE)) != b"\r\n":
            trailers += len(line)
            if trailers > _TRAILERS:
                raise Malformed(f"what follows the chunks is longer than {_TRAILERS} bytes")


def chunk(data: bytes) -> bytes:
    """The piece as a chunk; nothing makes the last one."""
    return b"%x\r\n%s\r\n" % (len(data), data)


async def pump(source: Stream, sink: Stream) -> None:
    """Carry bytes one way until there are no more, and say so; OSError where the source broke off."""
    while data := await source.some():
        try:
            await sink.send(data)
        except OSError:
            return  # whoever reads from it hears the same, after what it sent before that
    sink.finish()


@asynccontextmanager
async def running(*works: Coroutine[Any, Any, None]) -> AsyncIterator[list[asyncio.Task[None]]]:
    """The works as tasks, none of which is left at the end."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
