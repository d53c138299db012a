"""Answers that go on: server-sent events out of a log that all its readers share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from starlette.responses import Response

from pegboard.core.call import Caller
from pegboard.core.errors import Unavailable
from pegboard.core.refusals import Invalid
from pegboard.core.shares import Shares
from pegboard.live.events import BATCH_BYTES, Events, as_json
from pegboard.surfaces.rest.edge import HEAD, Receive, Scope, Send, unless_gone
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

EVENTS = "text/event-stream"
# After so much silence a reader is shown that the connection lives.
HEARTBEAT_SECONDS = 15.0
# How long a reader may take none of what is sent.
STALLED_SECONDS = 30.0
# What a browser waits for before it comes back to a connection that broke.
_RETRY = b"retry: 500\n\n"
_HEARTBEAT = b": still here\n\n"
_HEADERS = {"Content-Type": EVENTS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}

# For /openapi.json.
SENT: dict[str, Any] = {"content": {EVENTS: {"schema": {"type": "string"}}}}


class Readers:
    """The connections that read events from this process, shared between users."""

    def __init__(self, most: int) -> None:
        self._places = Shares(most)

    def of(self, caller: Caller) -> AbstractContextManager[None]:
        """The time in which this caller reads; raises Unavailable at once where the user has too many readers."""
        if not self._places.has_room(caller.user_id):
            why = self._places.refusal(caller.user_id, "readers of events (PEGBOARD_MAX_EVENT_READERS)")
            raise Unavailable(f"{why}; try again shortly", retry_after_ms=1000)
        return self._counted(caller.user_id)

    @contextmanager
    def _counted(self, user_id: str) -> Iterator[None]:
        is_counted = self._places.take(user_id)
        try:
            yield
        finally:
            if is_counted:
                self._places.give_back(user_id)


class Taken(NamedTuple):
    """What a reader is sent next, and the number that it has come to."""

    frames: bytes
    number: int


Take = Callable[[Events, int], Taken]


def take_all(events: Events, number: int) -> Taken:
    """The next events, whatever they are."""
    batch = events.after(number)
    return Taken(b"".join([event.frame for event in batch]), batch[-1].number if batch else number)


class EventStream(Response):
    """The events after a number, then whatever happens, until nothing more will or the reader goes away.

    Nothing is kept for a reader but its place: a slow one is sent what is still there when it comes to it.
    """

    def __init__(
        self,
        counted: AbstractContextManager[None],
        opened: AbstractContextManager[Events],
        number: int,
        *,
        take: Take = take_all,
        refused: Callable[[], str | None] = lambda: None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(headers={**_HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._counted = counted
        self._opened = opened
        self._number = number
        self._take = take
        # Why the reader may read no further.
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell until the end."""
        with self._counted, self._opened as events:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope.get(HEAD):
                await send({"type": "http.response.body"})
                return
            try:
                await unless_gone(receive, self._tell(events, send))
            except TimeoutError:
                # The answer is left without its end, so that the reader knows to come back.
                log.info("reader_given_up", path=scope["path"])

    async def _tell(self, events: Events, send: Send) -> None:
        number = self._number
        frames = _RETRY
        while True:
            if (why := self._refused()) is not None:
                said = as_json({"message": why, "code": "unauthorised"})
                await _send(send, b"id: %d\nevent: error\ndata: %s\n\n" % (number, said))
                break
            taken = self._take(events, number)
            frames += taken.frames
            is_behind = taken.number > number
            number = taken.number
            # In pieces: what is on its way to a reader who does not take it is all that is held for it.
            for start in range(0, len(frames), BATCH_BYTES):
                await _send(send, frames[start : start + BATCH_BYTES])
            frames = b""
            if is_behind:
                continue
            if events.is_over:
                break
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await events.more_than(number)
            except TimeoutError:
                frames = _HEARTBEAT
        await _send(send, b"", more=False)


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(STALLED_SECONDS):
        await send({"type": "http.response.body", "body": body, "more_body": more})


def wants_events(accepts: Iterable[str]) -> bool:
    """Whether a request whose Accept headers say this asks for events, and would not rather have JSON."""
    weights: dict[str, float] = {}
    for accepted in ",".join(accepts).lower().split(","):
        media, *parameters = (part.strip() for part in accepted.split(";"))
        weights[media] = next((_weight(one[2:]) for one in parameters if one.startswith("q=")), 1.0)
    return weights.get(EVENTS, 0.0) > 0 and weights[EVENTS] >= weights.get("application/json", 0.0)


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def read_number(header: str | None, query: str | None) -> int | None:
    """The number of the last event that a reader has seen; raises Invalid where it is none."""
    given = header if header is not None else query
    if given is None or given == "":
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 18):
        raise Invalid("Last-Event-ID: must be the id of an event of this stream, which is a number")
    return int(given)
