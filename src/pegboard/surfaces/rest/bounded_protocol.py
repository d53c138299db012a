"""An HTTP connection that limits request heads: their size, the number of header fields, and the time they take."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from pegboard.model.ids import new_id
from pegboard.surfaces.rest.asgi_request import HttpReply, build_problem_reply
from pegboard.surfaces.rest.connection_limits import MAX_HEAD_BYTES, MAX_HEAD_FIELDS, ConnectionLimits

# Key in the server state; the first connection adds default limits if it is absent.
LIMITS_KEY = "pegboard.limits"
# The parser buffers an incomplete header field itself, so data is passed to it in chunks of this size.
_MAX_PARSE_BYTES = 64 * 1024
# Per header field: the colon, the space and the end of the line.
_FIELD_OVERHEAD_BYTES = 4
_TOO_LARGE_MESSAGE = (
    f"The request line and the header fields are larger than {MAX_HEAD_BYTES:,} bytes, or more than "
    f"{MAX_HEAD_FIELDS} fields; send fewer or shorter ones"
)
_TOO_SLOW_MESSAGE = "The request line and the header fields did not arrive in time"
_TOO_MANY_MESSAGE = "Every connection of this server is in use; try again shortly"


class HeadTooLarge(Exception):
    """The request line and the header fields exceed the size limit."""


class BoundedConnection(HttpToolsProtocol):
    """One connection, which refuses a request head that is too large or too slow."""

    _limits: ConnectionLimits
    # Bytes that the request head may still use.
    _room = MAX_HEAD_BYTES
    # Bytes received since a head began or a part of a body was parsed.
    bytes_without_progress = 0
    # True while a request head is incomplete.
    _is_in_head = False
    # True if the connection was refused and further input is ignored.
    is_refused = False
    # Size of the write buffer when the deadline last passed.
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, or refuse it if there are too many."""
        super().connection_made(transport)
        limits: ConnectionLimits | None = self.app_state.get(LIMITS_KEY)
        if limits is None:
            limits = self.app_state[LIMITS_KEY] = ConnectionLimits(None)
        self._limits = limits
        if not limits.admit(self, self.loop.time()):
            self._refuse(503, _TOO_MANY_MESSAGE)

    def expire(self) -> None:
        """Close a connection without a head in time, unless the peer is still reading the previous response."""
        before, self._unsent = self._unsent, self.transport.get_write_buffer_size()
        if self._unsent and (not before or self._unsent < before) and not self.is_refused:
            self._limits.wait(self, self.loop.time())
        elif self._is_in_head and not self.is_refused:
            self._refuse(408, _TOO_SLOW_MESSAGE)
        else:
            self.transport.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._limits.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data in chunks."""
        if len(data) <= _MAX_PARSE_BYTES:
            self._parse(data)
        else:
            for start in range(0, len(data), _MAX_PARSE_BYTES):
                self._parse(data[start : start + _MAX_PARSE_BYTES])

    def _parse(self, data: bytes) -> None:
        if self.is_refused:
            return
        super().data_received(data)
        self.bytes_without_progress += len(data)
        # The head or the body may begin or end anywhere within this chunk.
        if self.bytes_without_progress > MAX_HEAD_BYTES + _MAX_PARSE_BYTES:
            self._refuse(431, _TOO_LARGE_MESSAGE)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed, or whose head is too large."""
        if self._room < 0:
            self._refuse(431, _TOO_LARGE_MESSAGE)
        else:
            self._refuse(400, "The request is not valid HTTP")

    def _refuse(self, status: int, detail: str) -> None:
        """Send an error response and close; further input is ignored until the peer has read the response."""
        if self.is_refused:
            return
        self.is_refused = True
        request: Any = self.cycle
        if request is not None and not request.response_complete:
            # The client would take this response for that of the running request.
            self.transport.abort()
            return
        self._limits.hold(self, self.loop.time())
        reply = build_problem_reply(status, detail, new_id())
        self.transport.write(encode_response(reply, keep_alive=False))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def on_message_begin(self) -> None:
        """Start counting the head of a new request."""
        self.begin_head()
        super().on_message_begin()

    def begin_head(self) -> None:
        """Reset the limits for a new request head."""
        self._room = MAX_HEAD_BYTES
        self.bytes_without_progress = 0
        self._is_in_head = True

    def on_url(self, url: bytes) -> None:
        """Append a part of the request target; raise HeadTooLarge if the head is too large."""
        self.url += url
        self._room -= len(url)
        if self._room < 0:
            raise HeadTooLarge

    def on_header(self, name: bytes, value: bytes) -> None:
        """Append a header field or trailer; raise HeadTooLarge if the head is too large."""
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))
        self._room -= len(name) + len(value) + _FIELD_OVERHEAD_BYTES
        if len(self.headers) > MAX_HEAD_FIELDS:
            self._room = -1
        if self._room < 0:
            raise HeadTooLarge  # the parser stops and reports an error

    def on_headers_complete(self) -> None:
        """End the request head."""
        self.end_head()
        super().on_headers_complete()

    def end_head(self) -> None:
        """Stop the head deadline: the request is now running."""
        self._is_in_head = False
        self._limits.work(self)

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the request body."""
        self.bytes_without_progress = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Start the deadline for the next request head, unless a request is already queued."""
        if not self.pipeline:
            self._limits.wait(self, self.loop.time())
        super().on_response_complete()


def encode_response(reply: HttpReply, *, keep_alive: bool) -> bytes:
    """Return a complete HTTP/1.1 response as bytes."""
    head = [STATUS_LINE[reply.status], b"content-type: %b\r\ncontent-length: %d\r\n" % (reply[2], len(reply[1]))]
    for name, value in reply.headers:
        head.append(b"%b: %b\r\n" % (name, value))
    head.append(b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
    head.append(reply.body)
    return b"".join(head)
