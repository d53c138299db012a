"""A connection that passes a complete call request directly to its route; every other request goes through ASGI.

Most of the cost of a small request is its conversion to ASGI messages and back. Requests are parsed by uvicorn's parser
in both cases; the fast path omits the ASGI scope and the two messages of the response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from pegboard.surfaces.rest.asgi_request import BodyTooLarge, HttpReply
from pegboard.surfaces.rest.bounded_protocol import BoundedConnection, encode_response
from pegboard.surfaces.rest.fast_call_routes import FastCallRoutes, RequestHandler, build_cut_off_reply
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")
# Keys in the server state: a function to call when the server begins to stop, and the fast routes.
ON_STOP_KEY = "pegboard.on_stop"
FAST_ROUTES_KEY = "pegboard.hot"
# Longer URLs go through ASGI, where much longer ones are refused.
_MAX_URL_BYTES = 8192


class FastConnection(BoundedConnection):
    """One connection; it notifies the application when the server begins to stop (lifespan does at the end)."""

    _exchange: FastExchange | None = None
    _pending: FastExchange | None = None

    def shutdown(self) -> None:
        """Notify the application, and stop after the current response."""
        on_stop = self.app_state.get(ON_STOP_KEY)
        if on_stop is not None:
            on_stop()
        super().shutdown()

    def data_received(self, data: bytes) -> None:
        """Parse received data, of one request or of several."""
        super().data_received(data)
        if self.is_refused:
            self._pending = None
        elif self._pending is not None and not self.transport.is_closing():
            self._use_asgi(self._pending)  # the rest of the body may take long

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the call of this connection, if it may be cancelled."""
        super().connection_lost(exc)
        if self._exchange is not None:
            self._exchange.leave()
            # Break the reference cycle, which would keep the body in memory until the garbage collector runs.
            self.cycle = self._exchange = None  # type: ignore[assignment]

    def on_message_begin(self) -> None:
        """Reset the state for a new request; the ASGI scope is built only if it is needed."""
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self.begin_head()

    def on_headers_complete(self) -> None:
        """Choose between the fast path and ASGI."""
        self.end_head()
        routes: FastCallRoutes | None = self.app_state.get(FAST_ROUTES_KEY)
        before: Any = self.cycle
        if routes is not None and (before is None or before.response_complete):
            self._pending = self._call(routes)
        if self._pending is None:
            self._use_asgi(None)
        else:
            self.headers = []  # trailers are collected here, and are not headers

    def on_body(self, body: bytes) -> None:
        """Append a part of the request body."""
        self.bytes_without_progress = 0
        if self._pending is not None:
            self._pending.received += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Start the task of a complete fast request."""
        if self._pending is None:
            super().on_message_complete()
            return
        exchange, self._pending = self._pending, None
        # uvicorn uses `cycle` to see whether the connection is busy, and to notify it of a shutdown.
        self.cycle = self._exchange = exchange  # type: ignore[assignment]
        exchange.task = task = self.loop.create_task(exchange.run())
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _call(self, routes: FastCallRoutes) -> FastExchange | None:
        """Return the exchange if this is an ordinary POST request to a fast route, else None."""
        parser = self.parser
        path, _, query = self.url.partition(b"?")
        if parser.get_method() != b"POST" or b"%" in path or b"#" in self.url or not path.isascii():
            return None
        if len(self.url) > _MAX_URL_BYTES:
            return None
        if self.expect_100_continue or parser.should_upgrade() or not parser.should_keep_alive():
            return None
        serve = routes.find(path.decode(), self.headers)
        if serve is None or parser.get_http_version() != "1.1":
            return None
        return FastExchange(self, routes, serve, self.headers, query)

    def _use_asgi(self, pending: FastExchange | None) -> None:
        """Build the ASGI scope for this request, and pass on the body received so far."""
        self._pending = None
        url, expects = self.url, self.expect_100_continue
        headers = self.headers if pending is None else pending.headers
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()
        self.headers = []  # trailers are collected here, and are not headers
        if pending is not None and pending.received:
            super().on_body(pending.received)


class FastExchange:
    """A call request and its response, in place of uvicorn's RequestResponseCycle."""

    __slots__ = (
        "_connection",
        "_is_disconnected",
        "_is_watched",
        "_routes",
        "_serve",
        "disconnected",
        "headers",
        "keep_alive",
        "message_event",
        "query",
        "received",
        "request_id",
        "response_complete",
        "task",
    )

    def __init__(
        self,
        connection: FastConnection,
        routes: FastCallRoutes,
        serve: RequestHandler,
        headers: list[tuple[bytes, bytes]],
        query: bytes,
    ) -> None:
        self._connection = connection
        self._routes = routes
        self._serve = serve
        self.headers = headers
        self.query = query
        self.request_id: str | None = None
        self.received = b""
        self.task: asyncio.Task[None] | None = None
        self._is_watched = self._is_disconnected = False
        # The attributes of uvicorn's RequestResponseCycle that uvicorn reads.
        self.keep_alive = True
        self.response_complete = self.disconnected = False
        self.message_event = _UNUSED_EVENT

    async def body(self, limit: int, length: int) -> bytes:
        """Return the received body; raise BodyTooLarge above the limit."""
        if len(self.received) > limit:
            raise BodyTooLarge(limit)
        return self.received

    async def run_unless_disconnected(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Await `work` and return its result; cancel it and return None if the client disconnects first."""
        assert self.task is not None
        self._is_watched = True
        if self.disconnected:  # the client disconnected before `work` began
            self._connection.loop.call_soon(self.leave)
        try:
            return await work
        except asyncio.CancelledError:
            if self._is_disconnected and not self.task.uncancel():
                return None
            raise
        finally:
            self._is_watched = False

    def leave(self) -> None:
        """Record the disconnect, and cancel the task if it runs under `run_unless_disconnected`."""
        self.disconnected = True
        if self._is_watched and not self._is_disconnected and self.task is not None:
            self._is_disconnected = True
            self.task.cancel()

    async def run(self) -> None:
        """Run the call and send the response."""
        try:
            reply = await self._routes.answer(self._serve, self)
        except asyncio.CancelledError:
            await self._send(build_cut_off_reply(self))
            raise
        except Exception:
            # Without this, the exception would be lost and the client would wait forever.
            log.exception("request_broke")
            self._connection.transport.close()
            return
        if reply is not None:
            await self._send(reply)

    async def _send(self, reply: HttpReply) -> None:
        connection = self._connection
        if connection.flow.write_paused and not self.disconnected:
            await connection.flow.drain()
        self.response_complete = True
        if self.disconnected:
            return
        connection.transport.write(encode_response(reply, keep_alive=self.keep_alive))
        if not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()


class _UnusedEvent:
    """An event without waiters."""

    def set(self) -> None:
        """Do nothing."""


_UNUSED_EVENT = _UnusedEvent()
