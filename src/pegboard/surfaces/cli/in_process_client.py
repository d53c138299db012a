"""The board within this process, for --local.

Hand-written, because httpx.ASGITransport returns a response only when it is complete, and events must arrive earlier.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx

from pegboard.board import Pegboard
from pegboard.surfaces.cli.exit_codes import BoardUnreachable
from pegboard.surfaces.cli.output import write_message
from pegboard.surfaces.cli.session import read_settings
from pegboard.surfaces.rest.app import create_app
from pegboard.telemetry.logs import configure_logs
from pegboard.version import __version__

# How long the application may take to end after the client has closed the response.
_CLOSE_TIMEOUT_SECONDS = 5.0

AsgiMessage = MutableMapping[str, Any]
AsgiApplication = Callable[
    [dict[str, Any], Callable[[], Awaitable[AsgiMessage]], Callable[[AsgiMessage], Awaitable[None]]], Awaitable[None]
]


@asynccontextmanager
async def open_board() -> AsyncIterator[httpx.AsyncClient]:
    """Open the board of this machine and yield an HTTP client for it, with the rights of its admin."""
    settings = read_settings()
    configure_logs("warning", settings.log_format)
    async with AsyncExitStack() as stack:
        try:
            board = await stack.enter_async_context(Pegboard.open(settings=settings))
        except Exception as error:
            why = str(error) or type(error).__name__
            raise BoardUnreachable(
                f"The board cannot be opened: {why}", ["See what is wrong with: pegboard doctor"]
            ) from None
        if board.new_key and settings.credentials_file.exists():
            write_message(
                f"A new board was set up in {settings.home}; the admin's key is in {settings.credentials_file}"
            )
        token = secrets.token_urlsafe(32)
        board.snapshot.admit(token, board.admin)
        headers = {"Authorization": f"Bearer {token}", "X-Pegboard-Surface": "cli"}
        transport = InProcessTransport(create_app(board, __version__))
        yield await stack.enter_async_context(httpx.AsyncClient(transport=transport, headers=headers))


class InProcessTransport(httpx.AsyncBaseTransport):
    """Passes requests to an ASGI application; returns status 500 if it raises before the response starts."""

    def __init__(self, application: AsgiApplication) -> None:
        self._application = application

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response as soon as its headers are available."""
        exchange = _InProcessExchange(self._application, request, await request.aread())
        try:
            head = await exchange.head
        except asyncio.CancelledError:
            await exchange.end()
            raise
        return httpx.Response(head["status"], headers=head.get("headers", []), stream=exchange)


class _InProcessExchange(httpx.AsyncByteStream):
    """A running request and its response body."""

    def __init__(self, application: AsgiApplication, request: httpx.Request, body: bytes) -> None:
        self.head: asyncio.Future[AsgiMessage] = asyncio.get_running_loop().create_future()
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
        self._answering.add_done_callback(self._on_answer_done)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._parts.get()) is not None:
            yield part

    async def aclose(self) -> None:
        """Disconnect: notify the application, and cancel it if it does not end within the timeout."""
        self._gone.set()
        await asyncio.wait({self._answering}, timeout=_CLOSE_TIMEOUT_SECONDS)
        await self.end()

    async def end(self) -> None:
        """Cancel the application task and wait for it."""
        self._gone.set()
        self._answering.cancel()
        await asyncio.wait({self._answering})

    async def _receive(self) -> AsgiMessage:
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: AsgiMessage) -> None:
        if message["type"] == "http.response.start" and not self.head.done():
            self.head.set_result(message)
        elif message["type"] == "http.response.body" and not self._gone.is_set():
            self._parts.put_nowait(message.get("body", b""))
            if not message.get("more_body", False):
                self._parts.put_nowait(None)

    def _on_answer_done(self, answering: asyncio.Future[None]) -> None:
        if not answering.cancelled():
            answering.exception()  # the application has logged it
        if not self.head.done():
            self.head.set_result({"status": 500})
        self._parts.put_nowait(None)
