"""Raw HTTP, for requests that no client library would send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketStream

from tests.board_surfaces import KEY

WAIT = 10.0
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[SocketStream]:
    """A connection to the server, closed afterwards."""
    place = urlsplit(url)
    assert place.hostname is not None
    assert place.port is not None
    with anyio.fail_after(WAIT):
        async with await anyio.connect_tcp(place.hostname, place.port) as stream:
            yield stream


def head(method: str, path: str, *lines: str, key: str | None = KEY, host: str = "board") -> bytes:
    """The head of a request."""
    authorization = [] if key is None else [f"Authorization: Bearer {key}"]
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *authorization, *lines, "", ""]).encode()


async def read_response(stream: SocketStream) -> tuple[int, dict[str, str], Any]:
    """Return status, headers and body (parsed if JSON) of the next response; `100 Continue` is skipped."""
    raw = b""
    while b"\r\n\r\n" not in raw.removeprefix(CONTINUE):
        raw += await stream.receive()
    top, _, body = raw.removeprefix(CONTINUE).partition(b"\r\n\r\n")
    first, *lines = top.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += await stream.receive()
    return int(first.split()[1]), headers, json.loads(body) if "json" in headers["content-type"] else body.decode()
