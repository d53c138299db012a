"""Streams of server-sent events, read from an event log that all clients share.

Hand-written: the responses of frameworks encode each event once per client, and wait for clients that stop reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol

from starlette.responses import Response

from pegboard.concurrency.user_shares import FairShares
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Caller
from pegboard.model.call_errors import Unavailable
from pegboard.progress.event_log import BATCH_BYTES, EventLog, encode_event_json
from pegboard.surfaces.rest.asgi_request import HEAD_KEY, Receive, Scope, Send, run_unless_disconnected
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

EVENT_STREAM_TYPE = "text/event-stream"
# After this long without events, a comment is sent to keep the connection open.
HEARTBEAT_SECONDS = 15.0
# How long a client may stop reading before it is disconnected.
SEND_TIMEOUT_SECONDS = 30.0
# How long a browser waits before it reconnects, in milliseconds.
_RETRY_FRAME = b"retry: 500\n"
_HEARTBEAT_FRAME = b": still here\n\n"
_HEADERS = {"Content-Type": EVENT_STREAM_TYPE, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}

# For the OpenAPI document.
EVENT_STREAM_RESPONSE: dict[str, Any] = {"content": {EVENT_STREAM_TYPE: {"schema": {"type": "string"}}}}


class EventReaders:
    """Limits the number of event streams of this process, shared fairly between users."""

    def __init__(self, most: int) -> None:
        self._places = FairShares(most)

    def of(self, caller: Caller) -> AbstractContextManager[None]:
        """Return a context manager that counts a stream; raise Unavailable at once if the user has too many."""
        if not self._places.has_free_slot(caller.user_id):
            why = self._places.refusal_text(caller.user_id, "readers of events (PEGBOARD_MAX_EVENT_READERS)")
            raise Unavailable(f"{why}; try again shortly", retry_after_ms=1000)
        return self._count_reader(caller.user_id)

    @contextmanager
    def _count_reader(self, user_id: str) -> Iterator[None]:
        is_counted = self._places.take(user_id)
        try:
            yield
        finally:
            if is_counted:
                self._places.give_back(user_id)


class EventFrames(NamedTuple):
    """The bytes to send next, the number of the last event in them, and its id if that is not the number."""

    frames: bytes
    number: int
    event_id: int | None = None


class ReadableLog(Protocol):
    """A log whose readers each have a position."""

    is_over: bool

    async def wait_for_more(self, number: int) -> None:
        """Wait until there is an event after this number, or the log is closed."""


# Takes the opened log and a position in it.
TakeEvents = Callable[[Any, int], EventFrames]


def take_all(events: EventLog, number: int) -> EventFrames:
    """Return the next events without a filter."""
    batch = events.after(number)
    return EventFrames(b"".join([event.frame for event in batch]), batch[-1].number if batch else number)


class EventStream(Response):
    """A response that sends the events after a number, then new ones until the log ends or the client disconnects.

    Only the position of each client is stored, so this is no response of sse-starlette, which has a queue per client: a
    slow client gets the events that are still in the log.
    """

    def __init__(
        self,
        counted: AbstractContextManager[None],
        opened: AbstractContextManager[ReadableLog],
        number: int,
        *,
        take: TakeEvents,
        refused: Callable[[], str | None] = lambda: None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(headers={**_HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._counted = counted
        self._opened = opened
        self._number = number
        self._take = take
        # Returns the reason if the client may not read further, else None.
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response as ASGI messages until the end of the stream."""
        with self._counted, self._opened as events:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope.get(HEAD_KEY):
                await send({"type": "http.response.body"})
                return
            try:
                await run_unless_disconnected(receive, self._send_events(events, send))
            except TimeoutError:
                # The last chunk is not sent, so that the client detects the disconnect and reconnects.
                log.info("reader_given_up", path=scope["path"])

    async def _send_events(self, events: ReadableLog, send: Send) -> None:
        number = event_id = self._number
        frames = b""
        is_first = True
        while True:
            if (why := self._refused()) is not None:
                payload = encode_event_json({"message": why, "code": "unauthorised"})
                await _send_chunk(send, b"id: %d\nevent: error\ndata: %s\n\n" % (event_id, payload))
                break
            taken = self._take(events, number)
            is_behind = taken.number > number
            number = taken.number
            event_id = number if taken.event_id is None else taken.event_id
            if is_first:
                # With the id, a client can continue from here before it has received an event.
                frames = _RETRY_FRAME + (b"\n" if taken.frames else b"id: %d\n\n" % event_id)
                is_first = False
            frames += taken.frames
            # In chunks, so that at most one chunk is buffered for a client that does not read.
            for start in range(0, len(frames), BATCH_BYTES):
                await _send_chunk(send, frames[start : start + BATCH_BYTES])
            frames = b""
            if is_behind:
                continue
            if events.is_over:
                break
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await events.wait_for_more(number)
            except TimeoutError:
                frames = _HEARTBEAT_FRAME
        await _send_chunk(send, b"", more=False)


async def _send_chunk(send: Send, body: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
        await send({"type": "http.response.body", "body": body, "more_body": more})


def wants_events(accepts: Iterable[str]) -> bool:
    """Return True if the Accept headers prefer an event stream to JSON, or rank them equally."""
    weights: dict[str, float] = {}
    for accepted in ",".join(accepts).lower().split(","):
        media, *parameters = (part.strip() for part in accepted.split(";"))
        weights[media] = next((_parse_weight(one[2:]) for one in parameters if one.startswith("q=")), 1.0)
    return weights.get(EVENT_STREAM_TYPE, 0.0) > 0 and weights[EVENT_STREAM_TYPE] >= weights.get(
        "application/json", 0.0
    )


def _parse_weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def parse_last_event_id(header: str | None, query: str | None) -> int | None:
    """Return the number of the last event that the client received, or None; raise Invalid if it is not a number."""
    given = header if header is not None else query
    if given is None or given == "":
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 18):
        raise Invalid("Last-Event-ID: must be the id of an event of this stream, which is a number")
    return int(given)
