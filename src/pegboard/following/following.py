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
from pegboard.dialects.asked import Asked
from pegboard.dialects.base import Answer
from pegboard.following.feed import Feed
from pegboard.live.events import Events
from pegboard.memory.threads import Threads
from pegboard.payloads import Answered, Payloads
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long a reader may be gone before calls that end with their caller are ended.
GRACE_SECONDS = 2.0
# How long events can be read again once the last of them has happened, and how much of them is kept in all.
KEPT_SECONDS = 300.0
KEPT_BYTES = 64 * 2**20
# How many payloads may be followed at once.
MOST_FEEDS = 2000


class Following:
    """Runs payloads so that they can be followed, left, and come back to."""

    def __init__(self, payloads: Payloads, threads: Threads) -> None:
        self._payloads = payloads
        self._threads = threads
        self._feeds: dict[str, Feed] = {}
        self._tasks: dict[Feed, asyncio.Task[None]] = {}
        self._over: deque[Feed] = deque()
        self._over_bytes = 0
        self._forgetting: asyncio.TimerHandle | None = None

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
        """Begin to run a payload; raises Unavailable where too many are followed already.

        `complete` tells the answer too, in the dialect `shape`, where one is named.
        """
        if len(self._tasks) >= MOST_FEEDS:
            raise Unavailable(f"{MOST_FEEDS:,} payloads are being followed already", retry_after_ms=1000)
        feed = Feed(self._payloads, asked, caller, goes_on=check_key(key) is not None)

        async def whole() -> None:
            told: dict[str, Any] = {"text": text} if text else {}
            try:
                answered = Answered(asked, await self._answers(feed))
                if thread_id is not None:
                    told |= await self._remembered(thread_id, caller, answered, text)
                if shape is not None:
                    told["answer"] = self._payloads.render(answered, shape)
                feed.complete(told)
            except asyncio.CancelledError:
                feed.tell("error", {"message": "The board shut down before all calls had ended", "code": "unavailable"})
                raise
            except Exception:
                log.exception("following_broke", run_id=feed.id)
                message = "Something went wrong on the board; its log says what"
                feed.tell("error", {"message": message, "code": "internal_error"})
            finally:
                self._ended(feed)

        running = self._payloads.run(
            asked, caller, surface=surface, request_id=request_id, key=key, thread_id=thread_id, audience=feed
        )
        feed.running = asyncio.create_task(running, name=f"pegboard-feed-{feed.id}")
        self._feeds[feed.id] = feed
        self._tasks[feed] = asyncio.create_task(whole(), name=f"pegboard-following-{feed.id}")
        return feed

    def find(self, run_id: str, caller: Caller) -> Feed | None:
        """The payload that is known by this id, or by that of one of its calls, if it is the caller's own."""
        found = self._feeds.get(run_id)
        if found is None:
            found = next((feed for feed in self._feeds.values() if run_id in feed.run_ids), None)
        return found if found is not None and found.owner_id == caller.user_id else None

    @contextmanager
    def reading(self, feed: Feed) -> Iterator[Events]:
        """The events of a payload; when the last reader leaves before its end, it may be given up."""
        feed.readers += 1
        try:
            yield feed.events
        finally:
            feed.readers -= 1
            if not feed.readers and feed in self._tasks:
                asyncio.get_running_loop().call_later(GRACE_SECONDS, self._abandon, feed)

    async def close(self) -> None:
        """End what is still followed, and tell its readers."""
        if self._forgetting is not None:
            self._forgetting.cancel()
        tasks = list(self._tasks.values())
        for feed, task in list(self._tasks.items()):
            task.cancel()
            if feed.running is not None:
                feed.running.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _abandon(self, feed: Feed) -> None:
        if not feed.readers and feed in self._tasks and feed.running is not None:
            feed.running.cancel()

    async def _answers(self, feed: Feed) -> list[Answer]:
        assert feed.running is not None
        await asyncio.wait({feed.running})
        if not feed.running.cancelled():
            return list(feed.running.result().answers)
        await feed.lasting_ended()
        feed.tell_left()
        return [answer for _, answer in sorted(feed.answers.items())]

    async def _remembered(self, thread_id: str, caller: Caller, answered: Answered, text: str | None) -> dict[str, Any]:
        """What `complete` says of the conversation; the calls have run, so that it is gone is only told."""
        try:
            await self._threads.remember(thread_id, caller, answered, text)
        except Refusal as error:
            return {"thread_error": str(error)}
        return {"thread_id": thread_id}

    def _ended(self, feed: Feed) -> None:
        feed.close()
        self._tasks.pop(feed, None)
        self._over.append(feed)
        self._over_bytes += feed.events.size
        while self._over_bytes > KEPT_BYTES and len(self._over) > 1:
            self._forget(self._over[0])
        if self._forgetting is None:
            self._forget_later(KEPT_SECONDS)

    def _forget_later(self, seconds: float) -> None:
        self._forgetting = asyncio.get_running_loop().call_later(seconds, self._forget_old)

    def _forget_old(self) -> None:
        self._forgetting = None
        oldest = time.monotonic() - KEPT_SECONDS
        while self._over and self._over[0].ended_at <= oldest:
            self._forget(self._over[0])
        if self._over:
            self._forget_later(max(1.0, self._over[0].ended_at - oldest))

    def _forget(self, feed: Feed) -> None:
        self._over.remove(feed)
        self._over_bytes -= feed.events.size
        del self._feeds[feed.id]
