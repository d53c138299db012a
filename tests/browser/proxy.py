"""A reverse proxy in front of a board, with the faults that real ones have."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple

import anyio
import httpx
import uvicorn

from tests.board_surfaces import EmbeddedServer

_NOT_PASSED = {b"connection", b"content-length", b"transfer-encoding", b"content-encoding", b"date", b"server"}
_EVENTS = b"text/event-stream"


class Answer(NamedTuple):
    """What the proxy answers itself."""

    status: int
    body: bytes = b"<html><body><h1>Bad Gateway</h1></body></html>"
    headers: tuple[tuple[bytes, bytes], ...] = ((b"content-type", b"text/html"),)


@dataclass
class Proxy:
    """Passes requests on to `target`; what it does wrong can be changed at any time."""

    url: str
    client: httpx.AsyncClient
    target: str = ""
    prefix: str = ""
    # The proxy answers these paths itself.
    answers: dict[str, Answer] = field(default_factory=dict)
    # Streams of events are held back: from their first byte, or once they have begun.
    is_buffering: bool = False
    is_stalling: bool = False
    # Of each response: left out, and set to another value.
    dropped: set[bytes] = field(default_factory=set)
    changed: dict[bytes, bytes] = field(default_factory=dict)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        answer = next((found for path, found in self.answers.items() if scope["path"].startswith(path)), None)
        if answer is not None:
            await send({"type": "http.response.start", "status": answer.status, "headers": list(answer.headers)})
            await send({"type": "http.response.body", "body": answer.body})
            return
        message = await receive()
        assert not message.get("more_body")
        async with anyio.create_task_group() as group:
            group.start_soon(self._pass, scope, message.get("body", b""), send, group.cancel_scope)
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

    async def _pass(self, scope: Any, body: bytes, send: Any, both: anyio.CancelScope) -> None:
        url = f"{self.target}{scope['path'].removeprefix(self.prefix)}"
        query = f"?{scope['query_string'].decode()}" if scope["query_string"] else ""
        async with self.client.stream(
            scope["method"], f"{url}{query}", headers=scope["headers"], content=body
        ) as response:
            headers = [(name.lower(), value) for name, value in response.headers.raw]
            is_stream = any(name == b"content-type" and value.startswith(_EVENTS) for name, value in headers)
            if is_stream and self.is_buffering:
                await anyio.sleep_forever()
            passed = [
                (name, self.changed.get(name, value))
                for name, value in headers
                if name not in _NOT_PASSED and name not in self.dropped
            ]
            await send({"type": "http.response.start", "status": response.status_code, "headers": passed})
            async for part in response.aiter_bytes():
                if is_stream and self.is_stalling:
                    await anyio.sleep_forever()
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        both.cancel()


@asynccontextmanager
async def proxied(target: str = "", prefix: str = "") -> AsyncIterator[Proxy]:
    """Yield a proxy that serves on loopback."""
    limits = httpx.Limits(max_connections=None)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        # A jar that accepts no cookie: cookies belong to the browser.
        jar = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        client = httpx.AsyncClient(timeout=None, limits=limits, trust_env=False, cookies=jar)
        proxy = Proxy(f"http://127.0.0.1:{bound.getsockname()[1]}{prefix}", client, target, prefix)
        ready = anyio.Event()
        config = uvicorn.Config(proxy, log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1)
        server = EmbeddedServer(config, ready.set)
        async with client, anyio.create_task_group() as group:
            group.start_soon(server.serve, [bound])
            with anyio.fail_after(30):
                await ready.wait()
            yield proxy
            server.should_exit = True
