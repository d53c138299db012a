"""Copies bytes between two sockets, one chunk at a time per direction, with a turn of the event loop for each chunk."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import h11

from pegboard.sandbox.proxy_http import MalformedHttp

PIECE_BYTES = 2**16

_BLANK_LINE = re.compile(rb"\n\r?\n")
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class ConnectionBroken(OSError):
    """The peer closed the connection in the middle of a message."""


class LoopTurns:
    """Serialises the reads of all connections of a call: together they take one step per event loop iteration."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def next(self) -> None:
        """Wait for one iteration of the event loop."""
        async with self._turn:
            await asyncio.sleep(0)


class ProxyStream:
    """One connection with a read buffer; `send` returns after all data was passed to the kernel."""

    def __init__(self, sock: socket.socket, turns: LoopTurns) -> None:
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._turns = turns
        self._ahead = bytearray()
        self._loop = asyncio.get_running_loop()
        # Called after each transfer.
        self.on_activity: Callable[[], None] | None = None
        self.sent_at = 0.0

    async def next_turn(self) -> None:
        """Wait for this connection's turn of the event loop."""
        await self._turns.next()

    async def some(self) -> bytes:
        """Return the next bytes; empty at EOF."""
        await self.next_turn()
        return self._take_bytes(PIECE_BYTES) if self._ahead else await self._receive(PIECE_BYTES)

    async def head(self, most: int) -> bytes:
        """Return everything up to the first blank line; empty at EOF. Raise MalformedHttp above `most` bytes."""
        await self.next_turn()
        seen = 0
        while (blank := _BLANK_LINE.search(self._ahead, seen, most)) is None:
            if len(self._ahead) >= most:
                raise MalformedHttp(f"the head is longer than {most} bytes", 431)
            seen = max(len(self._ahead) - 2, 0)
            if not await self._more():
                return b""
            if not 0x21 <= self._ahead[0] <= 0x7E:
                raise MalformedHttp("it does not begin like HTTP/1; TLS is possible only inside a tunnel")
        return self._take_bytes(blank.end())

    async def _more(self) -> bool:
        data = await self._receive(PIECE_BYTES)
        self._ahead += data
        await self.next_turn()
        return bool(data)

    async def _receive(self, most: int) -> bytes:
        data = await self._loop.sock_recv(self._sock, most)
        if self.on_activity is not None:
            self.on_activity()
        return data

    def _take_bytes(self, most: int) -> bytes:
        data = bytes(self._ahead[:most])
        del self._ahead[:most]
        return data

    async def send(self, data: bytes) -> None:
        """Send the data, as fast as the peer reads it."""
        await self._loop.sock_sendall(self._sock, data)
        self.sent_at = time.monotonic()  # not the time of the loop, which is constant within one iteration
        if self.on_activity is not None:
            self.on_activity()

    def finish(self) -> None:
        """Shut down the sending side; the peer can still send."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def close(self, *, broken: bool = False) -> None:
        """Close the socket. If `broken`, reset it, so that the peer does not take partial data for complete."""
        if broken:
            with suppress(OSError):
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._sock.close()


class ProxyBody:
    """The body after a head that the parser has read, without its framing."""

    def __init__(self, source: ProxyStream, parser: h11.Connection) -> None:
        self._source = source
        self._parser = parser
        self._is_over = False

    async def piece(self) -> bytes:
        """Return the next bytes; empty at the end.

        Raise ConnectionBroken if the connection ends before, MalformedHttp if the chunks are invalid.
        """
        # One turn for each chunk, even if it is buffered: a body in chunks of one byte is a lot of work for few reads.
        await self._source.next_turn()
        is_eof = False
        while not self._is_over:
            try:
                event = self._parser.next_event()
            except h11.RemoteProtocolError:
                if is_eof:
                    raise ConnectionBroken from None
                raise MalformedHttp("a chunk is longer than its size, or a line between chunks is invalid") from None
            if isinstance(event, h11.Data):
                return bytes(event.data)
            self._is_over = event is not h11.NEED_DATA
            if not self._is_over:
                data = await self._source.some()
                self._parser.receive_data(data)
                is_eof = not data
        return b""


async def copy_stream(source: ProxyStream, sink: ProxyStream) -> None:
    """Copy bytes until EOF, then shut down the sending side; raise OSError if the source fails."""
    while data := await source.some():
        try:
            await sink.send(data)
        except OSError:
            return  # the copy in the other direction reads the same error, after the data before it
    sink.finish()


@asynccontextmanager
async def limit_idle_time(seconds: float, *streams: ProxyStream) -> AsyncIterator[None]:
    """Raise TimeoutError in the context if these streams transferred nothing for this many seconds."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(seconds) as timeout:

        def restart() -> None:
            if not timeout.expired():
                timeout.reschedule(loop.time() + seconds)

        for stream in streams:
            stream.on_activity = restart
        try:
            yield
        finally:
            for stream in streams:
                stream.on_activity = None


@asynccontextmanager
async def run_tasks(*works: Coroutine[Any, Any, None]) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Run the coroutines as tasks, and cancel those that are left at the end of the context."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
