"""A relay in front of a server, as a cable that a test pulls and puts back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Relay:
    """Passes connections on to a server while it is connected."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._port = 0

    @property
    def url(self) -> str:
        """The address of the relay; it stays the same."""
        return f"http://127.0.0.1:{self._port}"

    async def connect(self) -> None:
        """Accept connections."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    def disconnect(self) -> None:
        """Close all connections, and accept no others."""
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        both = {writer, inner_writer}
        self._writers |= both
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, inner_writer))
                group.create_task(_copy(inner_reader, writer))
        finally:
            self._writers -= both


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def relayed(target: str) -> AsyncIterator[Relay]:
    """Yield a connected relay."""
    relay = Relay(target)
    await relay.connect()
    try:
        yield relay
    finally:
        relay.disconnect()
