"""Upstream servers on loopback: one that records the requests it receives, and several kinds of misbehaviour."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import ssl
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# The exceptions with which a connection ends, closed by the peer or by `stop`.
_ENDS = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError)


class Received(NamedTuple):
    """A request as received."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Return every value of this header, in order."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def one(self, name: str) -> str | None:
        """Return the value of this header, or None; fail if there are several."""
        values = self.all(name)
        assert len(values) <= 1, values
        return values[0] if values else None

    @property
    def raw(self) -> bytes:
        """The whole request as bytes, to check that something is not in it."""
        head = "\n".join([self.method, self.target, *(f"{name}: {value}" for name, value in self.headers)])
        return head.encode("latin-1") + b"\n\n" + self.body


class Wire(NamedTuple):
    """One connection, on the side of the upstream."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send these bytes unchanged."""
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> None:
        """Wait until the peer has closed the connection."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65536):
                pass

    def close(self) -> None:
        """Close the connection."""
        self.writer.close()

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Behaviour = Callable[[Received, Wire], Awaitable[None]]


@dataclass
class Upstream:
    """A running upstream; `behaviour` may be changed at any time."""

    behaviour: Behaviour
    scheme: str = "http"
    port: int = 0
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    at_once: bytes = b""
    open: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """The URL, without a trailing slash."""
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def last(self) -> Received:
        """The last request received."""
        return self.received[-1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side closes it."""
        task = asyncio.current_task()
        assert task is not None
        self.open.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(*_ENDS):
                if self.at_once:
                    await Wire(reader, writer).send(self.at_once)
                while not writer.is_closing() and (request := await _read(reader)):
                    self.received.append(request)
                    await self.behaviour(request, Wire(reader, writer))
        finally:
            writer.close()
            self.open.discard(task)

    async def stop(self) -> None:
        """Close every connection."""
        for task in list(self.open):
            task.cancel()
        await asyncio.gather(*self.open, return_exceptions=True)


@contextlib.asynccontextmanager
async def upstream(
    behaviour: Behaviour | None = None, *, tls: ssl.SSLContext | None = None, at_once: bytes = b""
) -> AsyncIterator[Upstream]:
    """Run an upstream on a free port; by default it echoes requests."""
    made = Upstream(behaviour or echo, "https" if tls else "http", at_once=at_once)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls, limit=2**20)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await made.stop()
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Received | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    named = {name.lower(): value for name, value in headers}
    if named.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(named.get("content-length", 0)))
    return Received(method, target, headers, body)


def head(status: int = 200, headers: Mapping[str, str] | Sequence[tuple[str, str]] = ()) -> bytes:
    """Return the status line and headers of a response."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return "".join([f"HTTP/1.1 {status} X\r\n", *(f"{name}: {value}\r\n" for name, value in pairs), "\r\n"]).encode()


def answer(status: int = 200, body: bytes | str = b"", **headers: str) -> Behaviour:
    """Send a valid response; an underscore in the name of a header becomes a hyphen."""
    data = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def behave(request: Received, wire: Wire) -> None:
        sent = data if request.method != "HEAD" else b""
        await wire.send(head(status, {**named, "Content-Length": str(len(data))}) + sent)

    return behave


def answer_json(value: Any, status: int = 200, **headers: str) -> Behaviour:
    """Send a JSON response."""
    return answer(status, json.dumps(value), **{"Content_Type": "application/json", **headers})


async def echo(request: Received, wire: Wire) -> None:
    """Send the request back as JSON."""
    values = {"method": request.method, "target": request.target, "headers": dict(request.headers)}
    await answer_json({**values, "body": request.body.decode("latin-1")})(request, wire)


def by_path(**behaviours: Behaviour) -> Behaviour:
    """Choose a behaviour by the first part of the path; `other` is the default."""

    async def behave(request: Received, wire: Wire) -> None:
        name = request.target.strip("/").partition("?")[0].partition("/")[0]
        chosen = behaviours.get(name) or behaviours.get("other") or answer(404)
        await chosen(request, wire)

    return behave


def redirect(location: str, status: int = 302) -> Behaviour:
    """Send a redirect."""
    return answer(status, b"moved", Location=location)


def raw(*parts: bytes, then: str = "close") -> Behaviour:
    """Send these bytes unchanged, then close, reset or hang."""

    async def behave(_: Received, wire: Wire) -> None:
        for part in parts:
            await wire.send(part)
        if then == "hang":
            await wire.gone()
        else:
            (wire.reset if then == "reset" else wire.close)()

    return behave


def forever(start: bytes, again: bytes, *, every: float = 0) -> Behaviour:
    """Send `start`, then `again` repeatedly until the peer closes the connection."""

    async def behave(_: Received, wire: Wire) -> None:
        await wire.send(start)
        gone = asyncio.ensure_future(wire.gone())
        try:
            while not gone.done():
                await wire.send(again)
                await asyncio.sleep(every)
        finally:
            gone.cancel()

    return behave


def bomb(megabytes: int) -> bytes:
    """Return gzip data of a thousandth of its uncompressed size; its checksum is missing, but no reader gets there."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, again = (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (megabytes - 1)


_JSON = {"Content-Type": "application/json"}
_CHUNKED = {"Transfer-Encoding": "chunked", "Content-Type": "text/plain"}

hang = raw(then="hang")
reset = raw(then="reset")
early_close = raw()
half_a_head = raw(b"HTTP/1.1 200 OK\r\nContent-Ty")
slow_headers = forever(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", every=0.02)
drip = forever(head(200, {"Content-Length": "1000000"}), b"x", every=0.02)
endless = forever(head(200, _CHUNKED), b"10000\r\n" + b"x" * 65536 + b"\r\n")
endless_error = forever(head(500, _CHUNKED), b"10000\r\n" + b"x" * 65536 + b"\r\n")
endless_redirect = forever(head(302, {**_CHUNKED, "Location": "/healthy"}), b"10000\r\n" + b"x" * 65536 + b"\r\n")
interim_flood = forever(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 100)
huge_header = raw(head(200, {"X-Huge": "x" * 2**20}), then="hang")
endless_headers = forever(b"HTTP/1.1 200 OK\r\n", b"".join(b"X-%d: y\r\n" % n for n in range(1000)))
endless_header = forever(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65536)
reset_in_body = raw(head(200, {"Content-Length": "1000"}), b"x" * 10, then="reset")
too_little = raw(head(200, {"Content-Length": "1000", **_JSON}), b'{"a": 1}')
too_much = raw(head(200, {"Content-Length": "8", **_JSON}) + b'{"a": 1}' + b"and more", then="hang")
two_answers = raw((head(200, {"Content-Length": "8", **_JSON}) + b'{"a": 1}') * 2, then="hang")
two_lengths = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nabcd")
bad_length = raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabcd")
bad_chunk = raw(head(200, _CHUNKED), b"zz\r\nhello\r\n0\r\n\r\n")
cut_chunk = raw(head(200, _CHUNKED), b"5\r\nhel")
garbage = raw(b"\x00\xff\x16\x03 this is no HTTP\r\n\r\n" * 20)
no_status = raw(b"HTTP/1.1 abc OK\r\n\r\n")
switching = raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", then="hang")
broken_gzip = answer(200, b"\x1f\x8b\x08 this is no gzip", Content_Encoding="gzip")
cut_gzip = answer(200, gzip.compress(b"x" * 100_000)[:50], Content_Encoding="gzip", Content_Type="text/plain")
unknown_encoding = answer(200, b"x", Content_Encoding="rot13")
