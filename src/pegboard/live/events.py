"""Events in the order they happened, kept for as many readers as there are, each at its own pace."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import orjson


class Event(NamedTuple):
    """Something that happened, in the words that go over the wire."""

    number: int
    name: str
    frame: bytes
    begins: int
    owner_id: str

    @property
    def json(self) -> bytes:
        """What it says, as JSON text."""
        return self.frame[self.begins : -2]

    @property
    def data(self) -> Any:
        """What it says."""
        return orjson.loads(self.json)


class Events:
    """A log of events; of those that pass, only the last `most` are kept, and no more than `most_bytes` of them."""

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[int, Event] = {}
        self._passing: deque[Event] = deque()
        self._passing_bytes = 0
        self._news = asyncio.Event()
        self.last = 0
        self.size = 0
        self.is_over = False

    @property
    def first(self) -> int:
        """The number of the earliest event that is still there; that of the next one where none is."""
        return next(iter(self._kept), self.last + 1)

    def add(self, name: str, data: bytes, *, owner_id: str = "", passes: bool = False) -> None:
        """Tell of something; what passes makes room for later events of its kind, the rest stays."""
        self.last += 1
        head = b"id: %d\nevent: %s\ndata: " % (self.last, name.encode())
        event = Event(self.last, name, b"%s%s\n\n" % (head, data), len(head), owner_id)
        self._kept[event.number] = event
        self.size += len(event.frame)
        if passes:
            self._passing.append(event)
            self._passing_bytes += len(event.frame)
            while len(self._passing) > self._most or (
                self._passing_bytes > self._most_bytes and len(self._passing) > 1
            ):
                self._drop(self._passing.popleft())
        self._wake()

    def close(self) -> None:
        """Nothing more will happen; readers end when they have read what there is."""
        self.is_over = True
        self._wake()

    def after(self, number: int) -> list[Event]:
        """What happened after that event and is still there."""
        numbers = range(max(number + 1, self.first), self.last + 1)
        return [event for one in numbers if (event := self._kept.get(one)) is not None]

    async def batches(self, number: int = 0) -> AsyncIterator[list[Event]]:
        """What happened after that event, then whatever happens, as many at a time as there are, to the end."""
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
        while self.last <= number and not self.is_over:
            await self._news.wait()

    def _drop(self, event: Event) -> None:
        del self._kept[event.number]
        self._passing_bytes -= len(event.frame)
        self.size -= len(event.frame)

    def _wake(self) -> None:
        # Each that waits has the old one, which stays set.
        self._news.set()
        self._news = asyncio.Event()
