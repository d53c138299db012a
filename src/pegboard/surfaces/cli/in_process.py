"""The way to a board within this process: answers come as they are made, and not only when they are whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import httpx

# How long an answer may take to end once nobody wants it any more.
_PATIENCE = 5.0

Message = MutableMapping[str, Any]
Application = Callable[
    [dict[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


class InProcess(httpx.AsyncBaseTransport):
    """Hands requests to an ASGI application; one that breaks before it has answered is answered for with 500."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, as soon as its head is there."""
        exchange = _Exchange(self._application, request, await request.aread())
        try:
            head = await exchange.head
        except asyncio.CancelledError:
            await exchange.end()
            raise
        return httpx.Response(head["status"], headers=head.get("headers", []), stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request that is being answered."""

    def __init__(self, application: Application, request: httpx.Request, body: bytes) -> None:
        self.head: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._body: list[bytes] = [body]
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._gone = asyncio.Event()
        url = request.url
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query,
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }
        self._answering = asyncio.ensure_future(application(scope, self._receive, self._send))
        self._answering.add_done_callback(self._ended)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._parts.get()) is not None:
            yield part

    async def aclose(self) -> None:
        """Go away; whatever still answers is told so, and given a moment to end by itself."""
        self._gone.set()
        await asyncio.wait({self._answering}, timeout=_PATIENCE)
        await self.end()

    async def end(self) -> None:
        """End whatever still answers."""
        self._gone.set()
        self._answering.cancel()
        await asyncio.wait({self._answering})

    async def _receive(self) -> Message:
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self.head.done():
            self.head.set_result(message)
        elif message["type"] == "http.response.body" and not self._gone.is_set():
            self._parts.put_nowait(message.get("body", b""))
            if not message.get("more_body", False):
                self._parts.put_nowait(None)

    def _ended(self, answering: asyncio.Future[None]) -> None:
        if not answering.cancelled():
            answering.exception()  # the application has logged it
        if not self.head.done():
            self.head.set_result({"status": 500})
        self._parts.put_nowait(None)
