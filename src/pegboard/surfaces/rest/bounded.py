"""A connection of the server that bounds request heads: their size, their fields, and the time they take."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from pegboard.core.ids import new_id
from pegboard.surfaces.rest.connections import MAX_HEAD_BYTES, MAX_HEAD_FIELDS, ConnectionLimits
from pegboard.surfaces.rest.edge import Reply, refusing

# In the server's state; the first connection puts the defaults there if it is absent.
LIMITS = "pegboard.limits"
# The parser keeps an unfinished header field to itself, so a read is given to it in pieces of this size.
_PIECE = 64 * 1024
# Per header field: the colon, the space and the end of the line.
_PER_FIELD = 4
_TOO_LARGE = (
    f"The request line and the header fields are larger than {MAX_HEAD_BYTES:,} bytes, or more than "
    f"{MAX_HEAD_FIELDS} fields; send fewer or shorter ones"
)
_TOO_SLOW = "The request line and the header fields did not arrive in time"
_TOO_MANY = "Every connection of this server is in use; try again shortly"


class HeadTooLarge(Exception):
    """The request line and the header fields are larger than is accepted."""


class BoundedConnection(HttpToolsProtocol):
    """One connection, which refuses a request head that is too large or too slow."""

    _limits: ConnectionLimits
    # Bytes of the head that may still come.
    _room = MAX_HEAD_BYTES
    # Bytes since a head began or a part of a body came.
    silent = 0
    # Whether a head has begun and not ended.
    _is_in_head = False
    # Whether what arrives is ignored.
    is_refused = False
    # How much of a response was not sent yet when the deadline passed.
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, or refuse it where there are too many."""
        super().connection_made(transport)
        limits: ConnectionLimits | None = self.app_state.get(LIMITS)
        if limits is None:
            limits = self.app_state[LIMITS] = ConnectionLimits()
        self._limits = limits
        if not limits.admit(self, self.loop.time()):
            self._refuse(503, _TOO_MANY)

    def expire(self) -> None:
        """Close a connection whose peer sent no head in time, unless the peer still reads the response before."""
        before, self._unsent = self._unsent, self.transport.get_write_buffer_size()
        if self._unsent and (not before or self._unsent < before) and not self.is_refused:
            self._limits.wait(self, self.loop.time())
        elif self._is_in_head and not self.is_refused:
            self._refuse(408, _TOO_SLOW)
        else:
            self.transport.abort()

    def abort(self) -> None:
        """Close at once."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the connection no longer."""
        self._limits.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived."""
        if len(data) <= _PIECE:
            self._parse(data)
        else:
            for start in range(0, len(data), _PIECE):
                self._parse(data[start : start + _PIECE])

    def _parse(self, data: bytes) -> None:
        if self.is_refused:
            return
        super().data_received(data)
        self.silent += len(data)
        # The head, or the body, may have begun or ended anywhere in this piece.
        if self.silent > MAX_HEAD_BYTES + _PIECE:
            self._refuse(431, _TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed, or whose head is too large."""
        if self._room < 0:
            self._refuse(431, _TOO_LARGE)
        else:
            self._refuse(400, "The request is not valid HTTP")

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with an error and close; what still arrives is ignored until the peer has read the answer."""
        if self.is_refused:
            return
        self.is_refused = True
        request: Any = self.cycle
        if request is not None and not request.response_complete:
            # This response would be taken for that of the request under way.
            self.transport.abort()
            return
        self._limits.hold(self, self.loop.time())
        reply = refusing(status, detail, new_id())
        self.transport.write(response_bytes(reply, keep_alive=False))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        self.begin_head()
        super().on_message_begin()

    def begin_head(self) -> None:
        """Count the bytes of a new head."""
        self._room = MAX_HEAD_BYTES
        self.silent = 0
        self._is_in_head = True

    def on_url(self, url: bytes) -> None:
        """A part of the request line."""
        self.url += url
        self._room -= len(url)
        if self._room < 0:
            raise HeadTooLarge

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field, or a trailer."""
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))
        self._room -= len(name) + len(value) + _PER_FIELD
        if len(self.headers) > MAX_HEAD_FIELDS:
            self._room = -1
        if self._room < 0:
            raise HeadTooLarge  # the parser stops, and reports an error

    def on_headers_complete(self) -> None:
        """The head of a request is complete."""
        self.end_head()
        super().on_headers_complete()

    def end_head(self) -> None:
        """A request is under way: its peer may take its time from now on."""
        self._is_in_head = False
        self._limits.work(self)

    def on_body(self, body: bytes) -> None:
        """More of the request's body."""
        self.silent = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is here already."""
        if not self.pipeline:
            self._limits.wait(self, self.loop.time())
        super().on_response_complete()


def response_bytes(reply: Reply, *, keep_alive: bool) -> bytes:
    """A whole response."""
    head = [STATUS_LINE[reply.status], b"content-type: %b\r\ncontent-length: %d\r\n" % (reply[2], len(reply[1]))]
    for name, value in reply.headers:
        head.append(b"%b: %b\r\n" % (name, value))
    head.append(b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
    head.append(reply.body)
    return b"".join(head)
