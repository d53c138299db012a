"""Runs payloads for whoever follows them, and keeps what was told of them for a while."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pegboard.core.call import Caller, Surface
from pegboard.core.errors import Unavailable
from pegboard.core.keys import check_key
from pegboard.core.refusals import Refusal
from pegboard.core.shares import Shares
from pegboard.dialects.asked import Asked
from pegboard.dialects.base import Answer
from pegboard.following.feed import Feed
from pegboard.live.events import Events
from pegboard.memory.threads import Threads
from pegboard.payloads import Answered, Payloads
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How many payloads may be followed at once.
MAX_FOLLOWED = 2000
_BROKE = "Something went wrong on the board; its log says what"
_SHUT_DOWN = "The board shut down before all calls had ended; the journal says how far they came"


class Following:
    """Runs payloads so that they can be followed, left, and come back to.

    When the last reader has been gone for `grace` seconds, calls that end with their caller are ended. The events can
    be read for `kept_seconds` more after the last of them; no more than `kept_bytes` of all that have ended are kept.
    """

    def __init__(
        self,
        payloads: Payloads,
        threads: Threads,
        *,
        max_followed: int = MAX_FOLLOWED,
        grace: float = 2.0,
        kept_seconds: float = 300.0,
        kept_bytes: int = 64 * 2**20,
    ) -> None:
        self._payloads = payloads
        self._threads = threads
        self._grace = grace
        self._kept_seconds = kept_seconds
        self._kept_bytes = kept_bytes
        # By their own ids and those of their calls.
        self._known: dict[str, Feed] = {}
        self._running: dict[Feed, asyncio.Task[Answered]] = {}
        self._tasks: dict[Feed, asyncio.Task[None]] = {}
        self._leaving: dict[Feed, asyncio.TimerHandle] = {}
        self._over: deque[Feed] = deque()
        self._over_bytes = 0
        self._forgetting: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._places = Shares(max_followed)

    def start(
        self,
        asked: Asked,
        caller: Caller,
        *,
        surface: Surface = "library",
        request_id: str | None = None,
        key: str | None = None,
        thread_id: str | None = None,
        text: str | None = None,
        shape: str | None = None,
    ) -> Feed:
        """Begin to run a payload; raises Invalid where it cannot be run, Unavailable where the user follows too many.

        `complete` tells the answer too, in the dialect `shape`, where one is named.
        """
        self.check_room(caller)
        feed = Feed(self._payloads, asked, caller, goes_on=check_key(key) is not None, knows=self._known.__setitem__)
        running = self._payloads.run(
            asked, caller, surface=surface, request_id=request_id, key=key, thread_id=thread_id, audience=feed
        )
        self._running[feed] = asyncio.create_task(running, name=f"pegboard-feed-{feed.id}")
        whole = self._whole(feed, asked, thread_id=thread_id, text=text, shape=shape)
        self._tasks[feed] = asyncio.create_task(whole, name=f"pegboard-following-{feed.id}")
        self._places.take(caller.user_id)
        self._leave(feed)
        return feed

    def check_room(self, caller: Caller) -> None:
        """Raise Unavailable where no more payloads of this caller can be followed now."""
        if self._is_closed:
            raise Unavailable("The board is shutting down", retry_after_ms=1000)
        if not self._places.has_room(caller.user_id):
            why = self._places.refusal(caller.user_id, "payloads that are followed (PEGBOARD_MAX_FOLLOWED_CALLS)")
            raise Unavailable(f"{why}; nothing ran, try again shortly", retry_after_ms=1000)

    def find(self, run_id: str) -> Feed | None:
        """The payload that is known by this id, or by that of one of its calls; whose it is, the caller has to ask."""
        return self._known.get(run_id)

    @contextmanager
    def reading(self, feed: Feed) -> Iterator[Events]:
        """The events of a payload; when the last reader leaves before its end, it may be given up."""
        feed.readers += 1
        if (leaving := self._leaving.pop(feed, None)) is not None:
            leaving.cancel()
        try:
            yield feed.events
        finally:
            feed.readers -= 1
            self._leave(feed)

    async def close(self) -> None:
        """End what is still followed, and tell its readers."""
        self._is_closed = True
        for timer in (*self._leaving.values(), *((self._forgetting,) if self._forgetting is not None else ())):
            timer.cancel()
        self._leaving.clear()
        tasks = [*self._tasks.values(), *self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for feed in list(self._tasks):  # one that was cancelled before it could begin
            self._ended(feed)

    def _leave(self, feed: Feed) -> None:
        if not feed.readers and feed in self._running and not self._is_closed:
            self._leaving[feed] = asyncio.get_running_loop().call_later(self._grace, self._abandon, feed)

    def _abandon(self, feed: Feed) -> None:
        del self._leaving[feed]
        if (running := self._running.get(feed)) is not None:
            running.cancel()

    async def _whole(
        self, feed: Feed, asked: Asked, *, thread_id: str | None, text: str | None, shape: str | None
    ) -> None:
        told: dict[str, Any] = {"text": text} if text else {}
        try:
            answered = Answered(asked, await self._answers(feed))
            if thread_id is not None:
                told |= await self._remembered(thread_id, feed.caller, answered, text)
            if shape is not None:
                told["answer"] = self._payloads.render(answered, shape)
            feed.complete(told)
        except Exception:
            log.exception("following_broke", run_id=feed.id)
            feed.fail(_BROKE, "internal_error")
        finally:
            self._ended(feed)

    async def _answers(self, feed: Feed) -> list[Answer]:
        running = self._running[feed]
        await asyncio.wait({running})
        if running.cancelled():
            return await feed.left()
        return list(running.result().answers)

    async def _remembered(self, thread_id: str, caller: Caller, answered: Answered, text: str | None) -> dict[str, Any]:
        """What `complete` says of the conversation; the calls have run, so that it is gone is only told."""
        try:
            await self._threads.remember(thread_id, caller, answered, text)
        except Refusal as error:
            return {"thread_error": error.message}
        return {"thread_id": thread_id}

    def _ended(self, feed: Feed) -> None:
        feed.fail(_SHUT_DOWN, "unavailable")  # unless the end was told
        del self._tasks[feed], self._running[feed]
        self._places.give_back(feed.caller.user_id)
        if (leaving := self._leaving.pop(feed, None)) is not None:
            leaving.cancel()
        self._over.append(feed)
        self._over_bytes += feed.size
        while self._over_bytes > self._kept_bytes and len(self._over) > 1:
            self._forget()
        if self._forgetting is None and not self._is_closed:
            self._forget_later(self._kept_seconds)

    def _forget_later(self, seconds: float) -> None:
        self._forgetting = asyncio.get_running_loop().call_later(seconds, self._forget_old)

    def _forget_old(self) -> None:
        self._forgetting = None
        oldest = time.monotonic() - self._kept_seconds
        while self._over and self._over[0].ended_at <= oldest:
            self._forget()
        if self._over:
            self._forget_later(max(0.01, self._over[0].ended_at - oldest))

    def _forget(self) -> None:
        feed = self._over.popleft()
        self._over_bytes -= feed.size
        for run_id in (feed.id, *feed.run_ids.values()):
            self._known.pop(run_id, None)
