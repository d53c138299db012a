"""Runs payloads that clients follow by events, and keeps the events for a while."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pegboard.concurrency.user_shares import FairShares
from pegboard.dialect_calls import AnsweredCalls, PayloadRunner
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ParsedCalls
from pegboard.model.api_errors import UNEXPECTED_ERROR_MESSAGE
from pegboard.model.call import Caller, CallRequest
from pegboard.model.call_errors import Unavailable
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.progress.event_log import EventLog
from pegboard.runs.run_events import FollowedRun
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Returns the fields of the event `complete` of a payload.
Completion = Callable[[AnsweredCalls], Awaitable[dict[str, Any]]]
_SHUT_DOWN_MESSAGE = "The board shut down before all calls had ended; see the journal for their status"


class FollowedRuns:
    """Runs payloads so that clients can follow them, disconnect and reconnect.

    When the last reader has been gone for `grace` seconds, calls that end with their caller are cancelled. The events
    can be read for `kept_seconds` after the last one; at most `kept_bytes` of ended payloads are kept.
    """

    def __init__(
        self,
        payloads: PayloadRunner,
        *,
        max_followed: int,
        grace: float = 2.0,
        kept_seconds: float = 300.0,
        kept_bytes: int = 64 * 2**20,
    ) -> None:
        self._payloads = payloads
        self._grace = grace
        self._retention_seconds = kept_seconds
        self._retention_bytes = kept_bytes
        # By their own ids and the ids of their calls.
        self._known: dict[str, FollowedRun] = {}
        self._running: dict[FollowedRun, asyncio.Task[AnsweredCalls]] = {}
        self._tasks: dict[FollowedRun, asyncio.Task[None]] = {}
        self._over: deque[FollowedRun] = deque()
        self._finished_bytes = 0
        self._forget_timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._places = FairShares(max_followed)

    def start(
        self,
        asked: ParsedCalls,
        request: CallRequest,
        complete: Completion,
    ) -> FollowedRun:
        """Run a payload in a task; raise Invalid if it cannot be run, Unavailable if the user follows too many.

        `complete` is called when all calls have ended, and returns the fields of the event `complete`.
        """
        caller = request.caller
        self.check_capacity(caller)
        continues = check_idempotency_key(request.key) is not None
        followed = FollowedRun(self._payloads, asked, caller, continues=continues, register=self._known.__setitem__)
        running = self._payloads.run(asked, request, followed)
        self._running[followed] = asyncio.create_task(running, name=f"pegboard-followed-{followed.id}")
        whole = self._complete_run(followed, asked, complete)
        self._tasks[followed] = asyncio.create_task(whole, name=f"pegboard-following-{followed.id}")
        self._places.take(caller.user_id)
        self._start_grace_timer(followed)
        return followed

    def check_capacity(self, caller: Caller) -> None:
        """Raise Unavailable if no more payloads of this caller can be followed now."""
        if self._is_closed:
            raise Unavailable("The board is shutting down", retry_after_ms=1000)
        if not self._places.has_free_slot(caller.user_id):
            why = self._places.refusal_text(caller.user_id, "payloads that are followed (PEGBOARD_MAX_FOLLOWED_CALLS)")
            raise Unavailable(f"{why}; nothing ran, try again shortly", retry_after_ms=1000)

    @property
    def running_count(self) -> int:
        """Number of payloads that are running."""
        return len(self._running)

    def find(self, run_id: str) -> FollowedRun | None:
        """Return the payload with this id or with a call of this id; the caller must check who owns it."""
        return self._known.get(run_id)

    @contextmanager
    def reading(self, followed: FollowedRun) -> Iterator[EventLog]:
        """Return the events of a payload as a context; it may be abandoned if the last reader leaves before its end."""
        followed.readers += 1
        followed.cancel_grace_timer()
        try:
            yield followed.events
        finally:
            followed.readers -= 1
            self._start_grace_timer(followed)

    async def close(self) -> None:
        """Cancel all followed payloads and send their readers a last event."""
        self._is_closed = True
        if self._forget_timer is not None:
            self._forget_timer.cancel()
        for followed in self._running:
            followed.cancel_grace_timer()
        tasks = [*self._tasks.values(), *self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for followed in list(self._tasks):  # tasks that were cancelled before they began
            self._end_run(followed)

    def _start_grace_timer(self, followed: FollowedRun) -> None:
        if not followed.readers and followed in self._running and not self._is_closed:
            followed.grace_timer = asyncio.get_running_loop().call_later(self._grace, self._abandon, followed)

    def _abandon(self, followed: FollowedRun) -> None:
        followed.grace_timer = None
        if (running := self._running.get(followed)) is not None:
            running.cancel()

    async def _complete_run(
        self,
        followed: FollowedRun,
        asked: ParsedCalls,
        complete: Completion,
    ) -> None:
        try:
            followed.complete(await complete(AnsweredCalls(asked, await self._answers(followed))))
        except Exception:
            log.exception("following_broke", run_id=followed.id)
            followed.fail(UNEXPECTED_ERROR_MESSAGE, "internal_error")
        finally:
            self._end_run(followed)

    async def _answers(self, followed: FollowedRun) -> list[Answer]:
        running = self._running[followed]
        await asyncio.wait({running})
        if running.cancelled():
            return await followed.wait_for_detached()
        return list(running.result().answers)

    def _end_run(self, followed: FollowedRun) -> None:
        followed.fail(_SHUT_DOWN_MESSAGE, "unavailable")  # no effect if it was completed
        del self._tasks[followed], self._running[followed]
        self._places.give_back(followed.caller.user_id)
        followed.cancel_grace_timer()
        self._over.append(followed)
        self._finished_bytes += followed.size
        while self._finished_bytes > self._retention_bytes and len(self._over) > 1:
            self._forget_oldest()
        if self._forget_timer is None and not self._is_closed:
            self._forget_later(self._retention_seconds)

    def _forget_later(self, seconds: float) -> None:
        self._forget_timer = asyncio.get_running_loop().call_later(seconds, self._forget_old)

    def _forget_old(self) -> None:
        self._forget_timer = None
        oldest = time.monotonic() - self._retention_seconds
        while self._over and self._over[0].ended_at <= oldest:
            self._forget_oldest()
        if self._over:
            self._forget_later(max(0.01, self._over[0].ended_at - oldest))

    def _forget_oldest(self) -> None:
        followed = self._over.popleft()
        self._finished_bytes -= followed.size
        for run_id in (followed.id, *followed.run_ids.values()):
            self._known.pop(run_id, None)
