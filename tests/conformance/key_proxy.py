"""A proxy on loopback that adds the key to each request and changes nothing else, for clients that send none."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

_MAX_HEAD_BYTES = 2**20
_READ_BYTES = 64 * 1024


@asynccontextmanager
async def key_proxy(url: str, key: str) -> AsyncIterator[str]:
    """Yield the URL of a proxy for the server at this URL."""
    place = urlsplit(url)

    async def connected(reader: StreamReader, writer: StreamWriter) -> None:
        to_client = writer
        try:
            from_server, to_server = await asyncio.open_connection(place.hostname, place.port)
        except OSError:
            to_client.close()
            return
        answering = asyncio.create_task(_copy(from_server, to_client))
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                await _forward_request(reader, to_server, key.encode())
        to_server.close()
        await asyncio.gather(answering, return_exceptions=True)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=_MAX_HEAD_BYTES)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()


async def _forward_request(reader: StreamReader, writer: StreamWriter, key: bytes) -> None:
    """Forward one request; raise IncompleteReadError at the end of the connection."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
    writer.write(b"\r\n".join([first, b"Authorization: Bearer " + key, *lines, b"", b""]))
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    if b"transfer-encoding" in fields:
        size = 1
        while size:
            head = await reader.readline()
            size = int(head.partition(b";")[0], 16)
            writer.write(head + await reader.readexactly(size + 2))
    else:
        writer.write(await reader.readexactly(int(fields.get(b"content-length", 0))))
    await writer.drain()


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_READ_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()
