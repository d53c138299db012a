"""Proxies on loopback, and clients that send exactly the given bytes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.sandbox.proxy import Proxy, ProxyListener

LOCAL = AllowList.read("127.0.0.1")
PATIENCE = 60.0


@dataclass(frozen=True)
class Running:
    """A proxy that is being served."""

    port: int
    serving: ProxyListener

    async def client(self) -> Client:
        """Return a connected client."""
        return Client(*await asyncio.open_connection("127.0.0.1", self.port))

    async def answer(self, message: bytes) -> Answer:
        """What it answers to a client that sends this and then listens."""
        client = await self.client()
        try:
            await client.say(message)
            return await client.answer()
        finally:
            client.leave()


@dataclass(frozen=True)
class Answer:
    """A complete response, up to the end of its connection."""

    status: int
    phrase: str
    head: str
    body: bytes


class Client:
    """One connection to a proxy; every wait has a timeout."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, message: bytes) -> None:
        """Send it, as fast as it is taken."""
        self.writer.write(message)
        async with asyncio.timeout(PATIENCE):
            await self.writer.drain()

    async def read_bytes(self, count: int) -> bytes:
        """Return this many bytes."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readexactly(count)

    async def rest(self) -> bytes:
        """Return everything until the peer closes the connection."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read()

    async def head(self) -> str:
        """The next answer's head."""
        async with asyncio.timeout(PATIENCE):
            return (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")

    async def answer(self) -> Answer:
        """Return a response, and assert that nothing follows it."""
        head = await self.head()
        _, status, phrase = head.partition("\r\n")[0].split(" ", 2)
        return Answer(int(status), phrase, head, await self.rest())

    async def tunnel(self, target: str) -> None:
        """Open a tunnel to this address."""
        await self.say(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        assert (await self.head()).startswith("HTTP/1.1 200 ")

    def half_close(self) -> None:
        """Close the sending side."""
        self.writer.write_eof()

    def leave(self) -> None:
        """Close the connection."""
        self.writer.close()


@asynccontextmanager
async def proxying(
    allow: AllowList = LOCAL,
    *,
    resolver: Names | None = None,
    connect_seconds: float = 10.0,
    most: int = 32,
    idle_seconds: float = 60.0,
) -> AsyncIterator[Running]:
    """A proxy that uses this HTTP client; both are closed at the end."""
    outbound = GuardedClient(allow, resolver=resolver, connect_seconds=connect_seconds)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    serving = Proxy(outbound, most=most, idle_seconds=idle_seconds).serve(listener, "ann")
    try:
        yield Running(port, serving)
    finally:
        await serving.close()
        await outbound.close()


class Names:
    """A resolver that answers as configured; a name's last answer is repeated, and one without an answer hangs."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.asked: list[str] = []
        self._answers = {name: list(given) for name, given in answers.items()}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        given = self._answers[host]
        if not given:
            await asyncio.Event().wait()
        return given.pop(0) if len(given) > 1 else given[0]


@asynccontextmanager
async def never_accepting() -> AsyncIterator[int]:
    """A port whose queue is full: the server neither refuses nor accepts."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]
        for client in waiting:
            client.close()


def fetching(upstream_port: int, path: str = "/", *headers: str, method: str = "GET", host: str = "127.0.0.1") -> bytes:
    """Return a request for a path of a server."""
    return "\r\n".join([f"{method} http://{host}:{upstream_port}{path} HTTP/1.1", *headers, "", ""]).encode()
