"""The response to one request: JSON, or an event stream as soon as there is something to send before the result."""

from __future__ import annotations

import asyncio

from pegboard.surfaces.mcp.stream_clock import StreamClock
from pegboard.surfaces.rest.asgi_request import JSON_MEDIA_TYPE, Send, send_response
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# After this time without an event, a comment is sent.
HEARTBEAT_SECONDS = 10.0
# How long a client may stop reading before its stream is given up.
SEND_TIMEOUT_SECONDS = 30.0
# Notifications that wait for a slow client; later ones are dropped.
_MAX_WAITING = 64
_HEARTBEAT = b": still here\n\n"
_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]

Headers = list[tuple[bytes, bytes]]


class ResponseStream:
    """Sends notifications and the result of one request."""

    __slots__ = ("_clock", "_frames", "_headers", "_is_over", "_may_stream", "_send", "_wake", "_writer")

    def __init__(self, send: Send, headers: Headers, clock: StreamClock, *, may_stream: bool) -> None:
        self._send = send
        self._headers = headers
        # False if the client accepts JSON only: notifications are then dropped.
        self._may_stream = may_stream
        self._frames: list[bytes] = []
        self._is_over = False
        self._wake: asyncio.Event | None = None
        self._writer: asyncio.Task[None] | None = None
        self._clock = clock
        if may_stream:
            clock.add(self.open)

    @property
    def is_given_up(self) -> bool:
        """True if the client has stopped reading."""
        return self._writer is not None and self._writer.done()

    def notify(self, message: bytes) -> None:
        """Send a notification, which makes the response an event stream; drop it if too many wait already."""
        if self._may_stream and not self._is_over and len(self._frames) < _MAX_WAITING:
            self._frames.append(_encode_event(message))
            self.open()

    def send_request(self, message: bytes) -> bool:
        """Send a request to the client; return False if it cannot get it."""
        if not self._may_stream or self._is_over or self.is_given_up:
            return False
        self._frames.append(_encode_event(message))
        self.open()
        return True

    def open(self) -> None:
        """Make the response an event stream now."""
        if self._writer is None:
            self._leave_clock()
            self._wake = asyncio.Event()
            self._writer = asyncio.create_task(self._write(), name="pegboard-mcp-stream")
        elif self._wake is not None:
            self._wake.set()

    async def finish(self, status: int, message: bytes, headers: Headers | None = None) -> None:
        """Send the result or the error, as JSON with this status or as the last event."""
        self._is_over = True
        self._leave_clock()
        if self._writer is None:
            await send_response(self._send, status, message, JSON_MEDIA_TYPE, [*self._headers, *(headers or ())])
        else:
            self._frames.append(_encode_event(message))
            await self._end()

    async def finish_empty(self) -> None:
        """End the response without a result."""
        self._is_over = True
        self.open()
        await self._end()

    async def abort(self) -> None:
        """Send nothing more: the client has disconnected."""
        self._is_over = True
        self._leave_clock()
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)

    def _leave_clock(self) -> None:
        if self._may_stream:
            self._clock.remove(self.open)

    async def _end(self) -> None:
        assert self._writer is not None
        assert self._wake is not None
        self._wake.set()
        try:
            await self._writer
        except TimeoutError:
            # The last chunk is not sent, so that the client detects that the response is incomplete.
            log.info("reader_given_up", path="/mcp")

    async def _write(self) -> None:
        assert self._wake is not None
        await self._send({"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS, *self._headers]})
        while True:
            while self._frames:
                body = b"".join(self._frames)
                self._frames.clear()
                await self._send_chunk(body)
            if self._is_over:
                break
            self._wake.clear()
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                await self._send_chunk(_HEARTBEAT)
        await self._send_chunk(b"", more=False)

    async def _send_chunk(self, body: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
            await self._send({"type": "http.response.body", "body": body, "more_body": more})


def _encode_event(message: bytes) -> bytes:
    return b"event: message\ndata: " + message + b"\n\n"
