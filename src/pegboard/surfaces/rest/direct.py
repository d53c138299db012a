"""One connection: a call that came whole goes straight to its route, everything else the way of ASGI.

Most of what a small request costs is being taken apart into messages and put together again. Requests are read by the
server's own parser either way; what is left out is the description of each one, and two messages for its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from pegboard.surfaces.rest.bounded import BoundedConnection, response_bytes
from pegboard.surfaces.rest.edge import BodyTooLarge, Reply
from pegboard.surfaces.rest.hot import HotRoutes, Serve, cut_off
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")
# What the application leaves in the server's state: what to call when the server begins to stop, and the quick routes.
ON_STOP = "pegboard.on_stop"
HOT = "pegboard.hot"
# Much longer ones are refused where requests are described.
_LONGEST_URL = 8192


class Connection(BoundedConnection):
    """One connection; it tells the application when the server begins to stop, which else hears of it at the end."""

    _exchange: Exchange | None = None
    _pending: Exchange | None = None

    def shutdown(self) -> None:
        """Stop after what is being answered."""
        on_stop = self.app_state.get(ON_STOP)
        if on_stop is not None:
            on_stop()
        super().shutdown()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, of one request or of several."""
        super().data_received(data)
        if self.is_refused:
            self._pending = None
        elif self._pending is not None and not self.transport.is_closing():
            self._describe(self._pending)  # the rest of its body may be long in coming

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the request that was being answered."""
        super().connection_lost(exc)
        if self._exchange is not None:
            self._exchange.leave()
            # Else they hold each other, and the body too, until the garbage collector comes round.
            self.cycle = self._exchange = None  # type: ignore[assignment]

    def on_message_begin(self) -> None:
        """A request begins; it is described only where it goes on as messages."""
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self.begin_head()

    def on_headers_complete(self) -> None:
        """See which way the request goes."""
        self.end_head()
        routes: HotRoutes | None = self.app_state.get(HOT)
        before: Any = self.cycle
        if routes is not None and (before is None or before.response_complete):
            self._pending = self._call(routes)
        if self._pending is None:
            self._describe(None)
        else:
            self.headers = []  # for trailers, which are no headers

    def on_body(self, body: bytes) -> None:
        """More of the request's body."""
        self.silent = 0
        if self._pending is not None:
            self._pending.received += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        if self._pending is None:
            super().on_message_complete()
            return
        exchange, self._pending = self._pending, None
        # What the server looks at to see whether it is busy, and what it tells that it stops.
        self.cycle = self._exchange = exchange  # type: ignore[assignment]
        exchange.task = task = self.loop.create_task(exchange.run())
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _call(self, routes: HotRoutes) -> Exchange | None:
        """The call that this request is, if it is a usual one."""
        parser = self.parser
        path, _, query = self.url.partition(b"?")
        if parser.get_method() != b"POST" or b"%" in path or b"#" in self.url or not path.isascii():
            return None
        if len(self.url) > _LONGEST_URL:
            return None
        if self.expect_100_continue or parser.should_upgrade() or not parser.should_keep_alive():
            return None
        serve = routes.find(path.decode(), self.headers)
        if serve is None or parser.get_http_version() != "1.1":
            return None
        return Exchange(self, routes, serve, self.headers, query)

    def _describe(self, pending: Exchange | None) -> None:
        """Go the way of ASGI."""
        self._pending = None
        url, expects = self.url, self.expect_100_continue
        headers = self.headers if pending is None else pending.headers
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()
        self.headers = []  # for trailers, which are no headers
        if pending is not None and pending.received:
            super().on_body(pending.received)


class Exchange:
    """A call and its answer, in the place of the server's own cycle of messages."""

    __slots__ = (
        "_connection",
        "_is_gone",
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
        connection: Connection,
        routes: HotRoutes,
        serve: Serve,
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
        self._is_watched = self._is_gone = False
        # What the server knows of its own cycles.
        self.keep_alive = True
        self.response_complete = self.disconnected = False
        self.message_event = _NOBODY_WAITS

    async def body(self, limit: int, length: int) -> bytes:
        """What came with the request."""
        if len(self.received) > limit:
            raise BodyTooLarge(limit)
        return self.received

    async def unless_gone(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` gives, or None if the caller went away first, for whom it was then cancelled."""
        assert self.task is not None
        self._is_watched = True
        if self.disconnected:  # before there was anything to cancel
            self._connection.loop.call_soon(self.leave)
        try:
            return await work
        except asyncio.CancelledError:
            if self._is_gone and not self.task.uncancel():
                return None
            raise
        finally:
            self._is_watched = False

    def leave(self) -> None:
        """The caller has gone; a call that only they wait for ends."""
        self.disconnected = True
        if self._is_watched and not self._is_gone and self.task is not None:
            self._is_gone = True
            self.task.cancel()

    async def run(self) -> None:
        """Answer the call."""
        try:
            reply = await self._routes.answer(self._serve, self)
        except asyncio.CancelledError:
            await self._send(cut_off(self))
            raise
        except Exception:
            # Nobody else would hear of it, and the caller would wait for good.
            log.exception("request_broke")
            self._connection.transport.close()
            return
        if reply is not None:
            await self._send(reply)

    async def _send(self, reply: Reply) -> None:
        connection = self._connection
        if connection.flow.write_paused and not self.disconnected:
            await connection.flow.drain()
        self.response_complete = True
        if self.disconnected:
            return
        connection.transport.write(response_bytes(reply, keep_alive=self.keep_alive))
        if not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()


class _Nobody:
    """An event that nobody waits for."""

    def set(self) -> None:
        """Nothing."""


_NOBODY_WAITS = _Nobody()
