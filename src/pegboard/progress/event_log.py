"""An ordered log of events for any number of readers, each at its own pace."""

from __future__ import annotations

import asyncio
import bisect
import json
from collections import deque
from collections.abc import AsyncIterator
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

# The size of one batch for a reader: a slow reader may still hold this much of events that were dropped.
BATCH_BYTES = 64 * 1024

_get_number = attrgetter("number")


class LogEvent(NamedTuple):
    """One event, encoded as a frame of server-sent events."""

    number: int
    name: str
    frame: bytes
    begins: int
    owner_id: str
    tool_name: str

    @property
    def json(self) -> bytes:
        """The data of the event as JSON text."""
        return self.frame[self.begins : -2]

    @property
    def data(self) -> Any:
        """The decoded data of the event."""
        return orjson.loads(self.json)


class EventLog:
    """A log of events that keeps only the last `most` transient events, and at most `most_bytes` of them.

    With a `pause`, readers are woken together and at most once per `pause` seconds.
    """

    def __init__(self, *, most: int, most_bytes: int, pause: float = 0.0) -> None:
        self._most = most
        self._max_transient_bytes = most_bytes
        self._pause = pause
        self._permanent: list[LogEvent] = []
        self._transient: deque[LogEvent] = deque()
        self._transient_bytes = 0
        # Events by number, without gaps from the earliest transient event on.
        self._by_number: dict[int, LogEvent] = {}
        self._news = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        # The number of the last event, and of the last event that readers may see.
        self.last = 0
        self.announced = 0
        self.size = 0
        self.is_over = False

    @property
    def first(self) -> int:
        """The number of the earliest event that is still kept, or of the next event if none is."""
        starts = [kept[0].number for kept in (self._permanent, self._transient) if kept]
        return min(starts, default=self.last + 1)

    def add(self, name: str, data: bytes, *, owner_id: str = "", tool_name: str = "", passes: bool = False) -> None:
        """Add an event. If `passes`, it is transient: it is dropped when later transient events exceed the limits."""
        if self.is_over:
            return
        if b"\n" in data or b"\r" in data:
            data = data.replace(b"\n", b" ").replace(b"\r", b" ")  # in JSON, raw line breaks occur only between tokens
        self.last += 1
        head = b"id: %d\nevent: %s\ndata: " % (self.last, name.encode())
        event = LogEvent(self.last, name, b"%s%s\n\n" % (head, data), len(head), owner_id, tool_name)
        self.size += len(event.frame)
        if not passes:
            self._permanent.append(event)
        else:
            self._transient.append(event)
        if self._transient:
            self._by_number[event.number] = event
        if passes:
            self._transient_bytes += len(event.frame)
            while len(self._transient) > self._most or (
                self._transient_bytes > self._max_transient_bytes and len(self._transient) > 1
            ):
                self._drop_oldest()
        if not self._pause:
            self._wake()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._wake)

    def close(self) -> None:
        """Accept no more events; readers end after the events that are left."""
        self.is_over = True
        self._wake()

    def after(self, number: int, most_bytes: int = BATCH_BYTES) -> list[LogEvent]:
        """Return the next kept events after this number.

        At least one if there is any, and at most `most_bytes` of them.
        """
        batch: list[LogEvent] = []
        start = self._transient[0].number if self._transient else self.last + 1
        if number + 1 < start:
            for event in self._permanent[bisect.bisect_right(self._permanent, number, key=_get_number) :]:
                if event.number > min(start, self.announced):
                    break
                most_bytes -= len(event.frame)
                if batch and most_bytes < 0:
                    return batch
                batch.append(event)
        for one in range(max(number + 1, start), self.announced + 1):
            event = self._by_number[one]
            most_bytes -= len(event.frame)
            if batch and most_bytes < 0:
                return batch
            batch.append(event)
        return batch

    async def batches(self, number: int = 0) -> AsyncIterator[list[LogEvent]]:
        """Yield batches of the events after this number, until the log is closed and read to its end."""
        while True:
            if batch := self.after(number):
                number = batch[-1].number
                yield batch
            elif self.is_over:
                return
            else:
                await self.wait_for_more(number)

    async def wait_for_more(self, number: int) -> None:
        """Wait until there is an event after this number, or the log is closed."""
        while self.announced <= number and not self.is_over:
            await self._news.wait()

    def _drop_oldest(self) -> None:
        dropped = self._transient.popleft()
        self._transient_bytes -= len(dropped.frame)
        self.size -= len(dropped.frame)
        # Permanent events before the next transient one are found in `_permanent`.
        for number in range(dropped.number, self._transient[0].number):
            del self._by_number[number]

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.announced = self.last
        # Tasks that wait hold the old Event, which stays set.
        self._news.set()
        self._news = asyncio.Event()


def encode_event_json(data: dict[str, Any]) -> bytes:
    """Return the data of an event as JSON text; values that JSON cannot hold are converted to strings."""
    try:
        return orjson.dumps(data, default=str)
    except TypeError:  # integers above 64 bits, lone surrogates
        return json.dumps(data, default=str, ensure_ascii=False).encode("utf-8", "replace")
