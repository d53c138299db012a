"""Servers on loopback that answer as configured, byte for byte."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from yarl import URL

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Upstream:
    """A running server, and the requests it received."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heads: list[str] = []
        self.connections = 0
        self.gone = asyncio.Event()

    def url(self, path: str = "/", *, host: str = "127.0.0.1", scheme: str = "http") -> URL:
        """Return the URL of a path on this server."""
        return URL(f"{scheme}://{host}:{self.port}{path}")


@asynccontextmanager
async def serving(
    handle: Handler, *, context: ssl.SSLContext | None = None, host: str = "127.0.0.1", buffered: int | None = None
) -> AsyncIterator[Upstream]:
    """A server that handles connections with this function; `buffered` is its receive buffer."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        upstream.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await handle(reader, writer)
        tasks.discard(task)
        writer.close()
        upstream.gone.set()

    listening = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    if buffered is not None:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffered)
    server = await asyncio.start_server(connected, sock=listening, ssl=context)
    upstream = Upstream(server.sockets[0].getsockname()[1])
    try:
        yield upstream
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


@asynccontextmanager
async def serve_responses(
    *answers: bytes, context: ssl.SSLContext | None = None, host: str = "127.0.0.1", keep: bool = True
) -> AsyncIterator[Upstream]:
    """A server that sends these responses in turn, then repeats the last, and stores the head of each request."""
    left = list(answers)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            upstream.heads.append((await head_of(reader)).decode("latin-1"))
            writer.write(left.pop(0) if len(left) > 1 else left[0])
            await writer.drain()
            if not keep:
                return

    async with serving(handle, context=context, host=host) as upstream:
        yield upstream


async def head_of(reader: asyncio.StreamReader) -> bytes:
    """Return a request's head; its body, which has a length, is read and dropped."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.partition(b":")[2]))
    return head


def answer(body: bytes = b"", *headers: str, status: str = "200 OK", length: bool = True) -> bytes:
    """An answer's bytes."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(*pieces: bytes) -> bytes:
    """Return the pieces as chunks of a body, with its end."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def open_files() -> int:
    """How many file descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- each entry is gone when looked at


@asynccontextmanager
async def once_a_connection() -> AsyncIterator[Upstream]:
    """A server that answers once per connection and closes it, without notice, when it is used again."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream.heads.append((await head_of(reader)).decode())
        writer.write(answer())
        upstream.heads.append((await head_of(reader)).decode())

    async with serving(handle) as upstream:
        yield upstream
