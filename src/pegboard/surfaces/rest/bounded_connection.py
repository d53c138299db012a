"""An HTTP connection that limits request heads, in front of the HTTP protocol of uvicorn.

`BoundedConnection` is the protocol that the server is given. It composes uvicorn's protocol, which parses the requests,
and uses only the methods of `asyncio.Protocol`; uvicorn's one writes to an `_InnerTransport`. It passes on one request
at a time: first the head, and the rest once the application has the request. `ConnectionGuard` is the application in
front of all others, which reports to the connection when a request begins and ends. Hand-written, because uvicorn with
httptools limits neither the size of a head nor the time in which it arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pegboard.model.ids import new_id
from pegboard.surfaces.rest.asgi_request import (
    CONNECTION_KEY,
    ASGIApp,
    HttpReply,
    Message,
    Receive,
    Scope,
    Send,
    build_problem_reply,
    parse_content_length,
)
from pegboard.surfaces.rest.connection_limits import MAX_HEAD_BYTES, MAX_HEAD_FIELDS, ConnectionLimits

# Key in the server state: the limits of the process, which the first connection adds if they are absent.
LIMITS_KEY = "pegboard.limits"
# Data is passed to the parser in parts of at most this size, and no more than this is kept for later.
_MAX_PART_BYTES = 64 * 1024
# The request line, the fields, and the empty line.
_MAX_HEAD_LINES = MAX_HEAD_FIELDS + 2
# The method, the version and blanks do not count towards the size of a head, but are limited as well.
_MAX_RAW_HEAD_BYTES = MAX_HEAD_BYTES + _MAX_PART_BYTES
# In chunks of one byte, the size of a body that uvicorn keeps before it stops reading: six bytes for each.
_MAX_BYTES_WITHOUT_BODY = 8 * _MAX_PART_BYTES
# Per header field: the colon, the space and the end of the line.
_FIELD_OVERHEAD_BYTES = 4
_END_OF_HEAD = b"\r\n\r\n"
_TOO_LARGE = (
    431,
    f"The request line and the header fields are larger than {MAX_HEAD_BYTES:,} bytes, or more than "
    f"{MAX_HEAD_FIELDS} fields; send fewer or shorter ones",
)
_TOO_SLOW = 408, "The request line and the header fields did not arrive in time"
_TOO_MANY = 503, "Every connection of this server is in use; try again shortly"
_UPGRADE = 400, "A request with a body cannot change the protocol; send it without the header field Upgrade"
_INVALID = 400, "The request is not valid HTTP"
_TOO_EARLY = 400, "A request after a body in chunks must wait for the response"


class _Phase(Enum):
    """The phase of the connection: one request at a time."""

    WAITING = "no part of a request head has arrived"
    IN_HEAD = "a request head is incomplete"
    HEAD_READ = "the head is complete, and the application does not have the request yet"
    RUNNING = "the application has the request, and has not ended it"


class BoundedConnection(asyncio.Protocol):
    """One connection, which refuses a request head that is too large or too slow."""

    _transport: asyncio.Transport
    # Received, and not yet passed to the parser.
    _held = b""
    # Passed to the parser since a head began, or while the application got no body: bytes and lines.
    _bytes = _lines = 0
    # The end of the part of a head that was passed to the parser.
    _seam = b""
    # Bytes of the request body that were not yet passed to the parser; None if it is in chunks.
    _body_left: int | None = 0
    _phase = _Phase.WAITING
    # True if a part of the response was written.
    _has_answered = False
    # The head of a response, until its body follows in the same step of the event loop: each write is a system call.
    _unwritten = b""
    # True if the connection was refused or lost, and further input is ignored.
    _is_ended = False
    # True while the parser gets data, and if it refused that.
    _is_parsing = _is_invalid = False
    # True if uvicorn's protocol wants no data now, and if the transport reads none.
    _is_paused = _is_reading_paused = False
    # Called when the client disconnects during a request.
    _on_lost: Callable[[], object] | None = None
    # Size of the write buffer when the deadline last passed.
    _unsent = 0

    def __init__(self, **options: Any) -> None:
        """Take the arguments of the server, and pass them on with a state that contains this connection."""
        state = options["app_state"]
        limits = state.get(LIMITS_KEY)
        if limits is None:
            limits = state[LIMITS_KEY] = ConnectionLimits(None)
        self._limits: ConnectionLimits = limits
        self._loop = asyncio.get_running_loop()
        self._inner: asyncio.Protocol = HttpToolsProtocol(
            **{**options, "app_state": {**state, CONNECTION_KEY: self}},
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection, or refuse it if there are too many."""
        self._transport = cast(asyncio.Transport, transport)
        self._inner.connection_made(cast(asyncio.Transport, _InnerTransport(self, self._transport)))
        if not self._limits.admit(self, self._loop.time()):
            self.refuse(*_TOO_MANY)

    def data_received(self, data: bytes) -> None:
        """Pass received data to the parser, or keep it until the parser may have it."""
        if not self._is_ended:
            self._held = self._held + data if self._held else data
            self._feed()

    def eof_received(self) -> bool | None:
        """Close the connection, as uvicorn's protocol does."""
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        """Pass on that the write buffer is full."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the write buffer has room again."""
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._is_ended = True
        self._limits.remove(self)
        self._leave(exc)

    def _leave(self, exc: Exception | None) -> None:
        """End uvicorn's protocol, and the reference cycle that would keep a body until the garbage collector runs."""
        inner, self._inner = self._inner, asyncio.Protocol()
        self._held = b""
        inner.connection_lost(exc)
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            on_lost()

    def expire(self) -> None:
        """Close a connection without a head in time, unless the peer is still reading the previous response."""
        before, self._unsent = self._unsent, self._transport.get_write_buffer_size()
        if self._unsent and (not before or self._unsent < before) and not self._is_ended:
            self._limits.wait(self, self._loop.time())
        elif self._phase is _Phase.IN_HEAD and not self._is_ended:
            self.refuse(*_TOO_SLOW)
        else:
            self._transport.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def refuse(self, status: int, detail: str) -> None:
        """Send an error response and close; further input is ignored until the peer has read the response."""
        if self._is_ended:
            return
        self._is_ended = True
        # The client would take this response for that of the running request, unless it is about the running request.
        is_misleading = self._phase is _Phase.RUNNING and (self._has_answered or self._body_left == 0)
        self._leave(None)
        if self._transport.is_closing():
            return
        if is_misleading:
            self._transport.abort()
            return
        self._limits.hold(self, self._loop.time())
        self._transport.write(_encode_response(build_problem_reply(status, detail, new_id())))
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    def begin(self, scope: Scope) -> bool:
        """Start a request that the application has now, and pass on its body; return False if it is refused."""
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        left: int | None = 0
        is_upgrade = False
        for name, value in headers:
            if name == b"content-length":
                left = parse_content_length(value)
            elif name == b"transfer-encoding":
                left = None
            elif name == b"upgrade":
                is_upgrade = True
        if is_upgrade and left != 0:  # the parser would take the body for data of the other protocol
            self.refuse(*_UPGRADE)
            return False
        if self._phase is not _Phase.HEAD_READ:
            # The head arrived with the end of a chunked body, and its own body or trailers may have arrived with it.
            if left is None or len(headers) > MAX_HEAD_FIELDS:
                self.refuse(*_TOO_EARLY)
                return False
            left = None
        elif left is None:
            scope["headers"] = list(headers)  # the parser appends trailers to its own list
        if self._bytes > MAX_HEAD_BYTES and _measure_head(scope) > MAX_HEAD_BYTES:
            self.refuse(*_TOO_LARGE)
            return False
        self._limits.work(self)
        self._body_left = left
        self._bytes = self._lines = 0
        self._phase = _Phase.RUNNING
        self._has_answered = False
        if self._held:
            self._feed()
        return True

    @property
    def is_chunked(self) -> bool:
        """True if the end of the body is known only to the parser."""
        return self._body_left is None

    @property
    def has_whole_body(self) -> bool:
        """True if the parser has the whole request body."""
        return self._body_left == 0

    def watch(self, on_lost: Callable[[], object] | None) -> None:
        """Call `on_lost` when the client disconnects; None ends this."""
        self._on_lost = on_lost
        if on_lost is not None and self._is_ended:
            self._on_lost = None
            self._loop.call_soon(on_lost)

    def count_body(self, message: Message) -> None:
        """Record that the application got this part of a body in chunks."""
        if message.get("body"):
            self._bytes = 0
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._bytes = self._body_left = 0

    def end(self) -> None:
        """End the request, and start the deadline for the next request head."""
        self._flush()
        self._phase = _Phase.WAITING
        self._bytes = 0
        if not self._is_ended:
            self._limits.wait(self, self._loop.time())
            if self._held:
                self._feed()

    def pause_reading(self) -> None:
        """Keep data, because uvicorn's protocol has enough."""
        self._is_paused = True
        self._control_reading()

    def resume_reading(self) -> None:
        """Pass on data again."""
        self._is_paused = False
        self._loop.call_soon(self._feed)

    def _control_reading(self) -> None:
        """Read from the transport only if there is room for more data."""
        must_pause = self._is_paused or len(self._held) > _MAX_PART_BYTES
        if must_pause != self._is_reading_paused and not self._transport.is_closing():
            self._is_reading_paused = must_pause
            if must_pause:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _feed(self) -> None:
        """Pass on as much data as is allowed now."""
        while self._held and not self._is_paused and not self._is_ended and not self._transport.is_closing():
            if self._body_left or (self._phase is _Phase.RUNNING and self._body_left is None):
                self._feed_body()
            elif not self._feed_head():
                break
        if self._held or self._is_paused or self._is_reading_paused:
            self._control_reading()

    def _feed_body(self) -> None:
        size = min(len(self._held), _MAX_PART_BYTES)
        if self._body_left is not None:
            size = min(size, self._body_left)
            self._body_left -= size
        else:
            self._bytes += size
            if self._bytes > _MAX_BYTES_WITHOUT_BODY:
                self.refuse(*_TOO_LARGE)
                return
        self._parse(size)

    def _feed_head(self) -> bool:
        """Pass on a request head or a part of it; return False if it must wait for the previous request.

        After a response to a body in chunks that was not read, the data may be the rest of that body as well.
        """
        if self._phase is _Phase.HEAD_READ:
            return False  # this is the body, of which the size is not known yet
        held, seam = self._held, self._seam
        blank = 0 if self._phase is _Phase.IN_HEAD else len(held) - len(held.lstrip(b"\r\n"))
        end = -1 if blank else (seam + held).find(_END_OF_HEAD)
        size = blank or (len(held) if end < 0 else end + len(_END_OF_HEAD) - len(seam))
        lines = self._lines + held.count(b"\n", 0, size)
        if self._bytes + size > _MAX_RAW_HEAD_BYTES or lines > _MAX_HEAD_LINES:
            self.refuse(*_TOO_LARGE)
        if self._phase is _Phase.RUNNING or self._is_ended:
            return False
        self._bytes += size
        self._lines = lines
        if not blank:
            if end >= 0:
                self._phase, self._seam = _Phase.HEAD_READ, b""
            else:
                # After a body in chunks that was not read, the data may belong to that body.
                self._phase = _Phase.IN_HEAD if self._body_left == 0 else _Phase.WAITING
                self._seam = (seam + held)[-len(_END_OF_HEAD) + 1 :]
        self._parse(size)
        if end >= 0 and self._body_left is None:
            self._loop.call_soon(self._continue)
        return True

    def _continue(self) -> None:
        """Continue to pass on data, because the data was not a request head."""
        if self._phase is not _Phase.RUNNING:
            if self._phase is _Phase.HEAD_READ:
                self._phase = _Phase.WAITING
            self._feed()

    def _parse(self, size: int) -> None:
        part, self._held = self._held[:size], self._held[size:]
        self._is_parsing = True
        self._inner.data_received(part)
        self._is_parsing = False
        if self._is_invalid:
            self.refuse(*(_TOO_LARGE if self._bytes > MAX_HEAD_BYTES else _INVALID))

    def write(self, data: bytes) -> None:
        """Write a part of a response."""
        if self._is_parsing:  # requests are answered later, by a task
            self._is_invalid = True
        elif self._is_ended:
            return
        elif not self._has_answered:
            self._has_answered = True
            self._unwritten = data
            self._loop.call_soon(self._flush)
        elif self._unwritten and len(data) <= _MAX_PART_BYTES:
            data, self._unwritten = self._unwritten + data, b""
            self._transport.write(data)
        else:
            self._flush()
            self._transport.write(data)

    def _flush(self) -> None:
        if self._unwritten and not self._is_ended:
            data, self._unwritten = self._unwritten, b""
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection after a response, or because the server stops."""
        if not self._is_invalid and not self._is_ended:
            self._flush()
            self._transport.close()


class _InnerTransport:
    """The transport of uvicorn's protocol; it sends no response to invalid data, and pauses only itself."""

    def __init__(self, connection: BoundedConnection, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.write = connection.write
        self.close = connection.close
        self.pause_reading = connection.pause_reading
        self.resume_reading = connection.resume_reading
        self.is_closing = transport.is_closing

    def __getattr__(self, name: str) -> Any:
        """Return any other method of the transport."""
        return getattr(self._transport, name)


class ConnectionGuard:
    """The outermost application, which reports the begin and the end of a request to its BoundedConnection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        connection: BoundedConnection | None = scope.get("state", {}).get(CONNECTION_KEY)
        if connection is None:
            await self._app(scope, receive, send)
            return
        if not connection.begin(scope):
            return

        async def receive_chunks() -> Message:
            message = await receive()
            connection.count_body(message)
            return message

        try:
            await self._app(scope, receive_chunks if connection.is_chunked else receive, send)
        finally:
            connection.end()


def _measure_head(scope: Scope) -> int:
    """Return the size of a request head: the request target, and the header fields."""
    size = len(scope["raw_path"]) + len(scope["query_string"]) + bool(scope["query_string"])
    return size + sum(len(name) + len(value) + _FIELD_OVERHEAD_BYTES for name, value in scope["headers"])


def _encode_response(reply: HttpReply) -> bytes:
    """Return a complete HTTP/1.1 response as bytes, after which the connection is closed."""
    headers = [
        (b"content-type", reply.media_type),
        (b"content-length", b"%d" % len(reply.body)),
        *reply.headers,
        (b"connection", b"close"),
    ]
    head = b"".join(b"%b: %b\r\n" % header for header in headers)
    return b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (reply.status, HTTPStatus(reply.status).phrase.encode(), head, reply.body)
