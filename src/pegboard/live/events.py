"""Events in the order they happened, kept for as many readers as there are, each at its own pace."""

from __future__ import annotations

import asyncio
import bisect
import json
from collections import deque
from collections.abc import AsyncIterator
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

# What a reader takes at a time: so much of what was dropped meanwhile may still be in the hands of a slow one.
BATCH_BYTES = 64 * 1024

_number = attrgetter("number")


class Event(NamedTuple):
    """Something that happened, in the words that go over the wire."""

    number: int
    name: str
    frame: bytes
    begins: int
    owner_id: str
    tool_name: str

    @property
    def json(self) -> bytes:
        """What it says, as JSON text."""
        return self.frame[self.begins : -2]

    @property
    def data(self) -> Any:
        """What it says."""
        return orjson.loads(self.json)


class Events:
    """A log of events; of those that pass, only the last `most` are kept, and no more than `most_bytes` of them.

    With a `pause`, readers hear of news together, and no more often than that.
    """

    def __init__(self, *, most: int, most_bytes: int, pause: float = 0.0) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._pause = pause
        self._staying: list[Event] = []
        self._passing: deque[Event] = deque()
        self._passing_bytes = 0
        # From the earliest passing event on there are no gaps, so that numbers lead to events.
        self._by_number: dict[int, Event] = {}
        self._news = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        # What has happened, and how much of it readers may know.
        self.last = 0
        self.told = 0
        self.size = 0
        self.is_over = False

    @property
    def first(self) -> int:
        """The number of the earliest event that is still there; that of the next one where none is."""
        starts = [kept[0].number for kept in (self._staying, self._passing) if kept]
        return min(starts, default=self.last + 1)

    def add(self, name: str, data: bytes, *, owner_id: str = "", tool_name: str = "", passes: bool = False) -> None:
        """Tell of something; what passes makes room for later events of its kind, the rest stays."""
        if self.is_over:
            return
        if b"\n" in data or b"\r" in data:
            data = data.replace(b"\n", b" ").replace(b"\r", b" ")  # in JSON only ever between things
        self.last += 1
        head = b"id: %d\nevent: %s\ndata: " % (self.last, name.encode())
        event = Event(self.last, name, b"%s%s\n\n" % (head, data), len(head), owner_id, tool_name)
        self.size += len(event.frame)
        if not passes:
            self._staying.append(event)
        else:
            self._passing.append(event)
        if self._passing:
            self._by_number[event.number] = event
        if passes:
            self._passing_bytes += len(event.frame)
            while len(self._passing) > self._most or (
                self._passing_bytes > self._most_bytes and len(self._passing) > 1
            ):
                self._drop()
        if not self._pause:
            self._wake()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._wake)

    def close(self) -> None:
        """Nothing more will happen; readers end when they have read what there is."""
        self.is_over = True
        self._wake()

    def after(self, number: int, most_bytes: int = BATCH_BYTES) -> list[Event]:
        """The next events after that one that are still there: one at least, and no more than so many bytes of them."""
        batch: list[Event] = []
        start = self._passing[0].number if self._passing else self.last + 1
        if number + 1 < start:
            for event in self._staying[bisect.bisect_right(self._staying, number, key=_number) :]:
                if event.number > min(start, self.told):
                    break
                most_bytes -= len(event.frame)
                if batch and most_bytes < 0:
                    return batch
                batch.append(event)
        for one in range(max(number + 1, start), self.told + 1):
            event = self._by_number[one]
            most_bytes -= len(event.frame)
            if batch and most_bytes < 0:
                return batch
            batch.append(event)
        return batch

    async def batches(self, number: int = 0) -> AsyncIterator[list[Event]]:
        """What happened after that event, then whatever happens, some at a time, to the end."""
        while True:
            if batch := self.after(number):
                number = batch[-1].number
                yield batch
            elif self.is_over:
                return
            else:
                await self.more_than(number)

    async def more_than(self, number: int) -> None:
        """Wait until something happened after that event, or nothing more will."""
        while self.told <= number and not self.is_over:
            await self._news.wait()

    def _drop(self) -> None:
        dropped = self._passing.popleft()
        self._passing_bytes -= len(dropped.frame)
        self.size -= len(dropped.frame)
        # What stays before the next passing one is found in the list of what stays.
        for number in range(dropped.number, self._passing[0].number):
            del self._by_number[number]

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.told = self.last
        # Each that waits has the old one, which stays set.
        self._news.set()
        self._news = asyncio.Event()


def as_json(data: dict[str, Any]) -> bytes:
    """What an event says, as JSON text; what no JSON can hold is written as the nearest that can."""
    try:
        return orjson.dumps(data, default=str)
    except TypeError:  # integers past 64 bits, halves of characters
        return json.dumps(data, default=str, ensure_ascii=False).encode("utf-8", "replace")
