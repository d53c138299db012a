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
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls
from pegboard.model.api_errors import UNEXPECTED_ERROR_MESSAGE
from pegboard.model.call import Caller, CallRequest, Malformed, OnProgress, Progress, ToolResult
from pegboard.model.call_errors import Cancelled, Unavailable
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.model.ids import make_call_id, new_id
from pegboard.progress.event_log import EventLog, encode_event_json
from pegboard.progress.throttle import ProgressThrottle
from pegboard.telemetry.logs import get_logger

# Limits for the progress events that are kept for one payload; the latest are kept.
_MAX_PROGRESS_EVENTS = 200
_MAX_PROGRESS_BYTES = 512 * 1024
# Estimated memory of an ended payload without its events, and for each of its calls.
_RUN_OVERHEAD_BYTES, _CALL_OVERHEAD_BYTES = 5 * 1024, 1024


class FollowedRun:
    """One payload that is running or ended recently, and its events."""

    def __init__(
        self,
        payloads: PayloadRunner,
        asked: ParsedCalls,
        caller: Caller,
        *,
        continues: bool,
        register: Callable[[str, FollowedRun], None],
    ) -> None:
        self.id = new_id()
        self.caller = caller
        self.events = EventLog(most=_MAX_PROGRESS_EVENTS, most_bytes=_MAX_PROGRESS_BYTES)
        # The run ids of its calls by position.
        self.run_ids: dict[int, str] = {}
        self.readers = 0
        # Cancels its calls unless a reader connects again in time; runs while it has no reader.
        self.grace_timer: asyncio.TimerHandle | None = None
        # The reason if all of it was cancelled by another party than the caller.
        self.ended_because: str | None = None
        self.ended_at = 0.0
        self._calls = payloads.list_open_calls(asked)
        # Calls that continue without readers.
        self._detached_positions = {
            place for place, call in enumerate(self._calls) if continues or call.key or payloads.detaches(call)
        }
        self._payloads = payloads
        self._register_run_id = register
        self._answers: dict[int, Answer] = {}
        self._throttles: dict[int, ProgressThrottle] = {}
        self._emitted = 0
        self._changed = asyncio.Event()
        register(self.id, self)

    @property
    def size(self) -> int:
        """The approximate memory that it takes after its end, in bytes."""
        return self.events.size + _RUN_OVERHEAD_BYTES + _CALL_OVERHEAD_BYTES * len(self.run_ids)

    def cancel_grace_timer(self) -> None:
        """Let its calls continue: a reader has connected again, or they have ended."""
        if self.grace_timer is not None:
            self.grace_timer.cancel()
            self.grace_timer = None

    def on_start(self, position: int, call: AskedCall, run_id: str) -> OnProgress:
        """Emit `tool_use` and return the progress callback; raise Cancelled if the call must not begin."""
        if self.ended_because is not None or self.events.is_over:
            raise Cancelled(self.ended_because or "The board shut down before it began")
        self.run_ids[position] = run_id
        self._register_run_id(run_id, self)
        name = self._payloads.display_name(call, self.caller)
        self._emit(
            "tool_use",
            {
                "run_id": run_id,
                "id": self._id_of(position),
                "name": call.name,
                "display_name": name,
                "message": f"🔧 Using {name}...",
                "summary": self._payloads.summary(call, self.caller),
            },
        )

        def on_progress(progress: Progress) -> None:
            values = {"total": progress.total, "message": progress.message, "partial": progress.partial}
            self._emit_progress(position, progress.progress, **values)

        self._throttles[position] = throttle = ProgressThrottle(on_progress)
        return throttle

    def on_end(self, position: int, answer: Answer) -> None:
        """Emit the result of a call, once all calls before it have ended."""
        if position in self._throttles:
            self._throttles[position].end()
        if self.events.is_over:
            return
        self._answers[position] = answer
        if position > self._emitted:
            self._emit_progress(position, 1, total=1, message="Done; reported in order")
        while (next_one := self._answers.get(self._emitted)) is not None:
            self._emit_result(self._emitted, next_one)
            self._emitted += 1
        self._changed.set()

    def on_cancel(self, position: int) -> None:
        """Handle a call that was cancelled together with its caller."""
        self._detached_positions.discard(position)
        self._changed.set()

    async def wait_for_detached(self) -> list[Answer]:
        """Return the answers after the caller left: wait for detached calls and emit results for cancelled ones."""
        while not self._detached_positions <= self._answers.keys():
            self._changed.clear()
            await self._changed.wait()
        for position, call in enumerate(self._calls):
            if position not in self._answers:
                problem = Cancelled("The caller disconnected").problem
                run_id = self.run_ids.setdefault(position, new_id())
                result = ToolResult(call.name, False, problem=problem, call_id=call.id, run_id=run_id)
                self._answers[position] = Answer(call, result)
        for position in range(self._emitted, len(self._calls)):
            self._emit_result(position, self._answers[position])
        return [answer for _, answer in sorted(self._answers.items())]

    def complete(self, fields: dict[str, Any]) -> None:
        """Emit `complete`, the last event."""
        used = [
            {"id": self._id_of(position), "name": call.name, "args": _get_arguments_or_text(call)}
            for position, call in enumerate(self._calls)
        ]
        self._emit("complete", {"tool_calls": used, **fields})
        self._close()

    def fail(self, message: str, code: str) -> None:
        """Emit `error` as the last event, unless the payload has ended."""
        if not self.events.is_over:
            self._emit("error", {"message": message, "code": code})
            self._close()

    def _close(self) -> None:
        """Keep only the events."""
        for throttle in self._throttles.values():
            throttle.end()
        self.events.close()
        self.ended_at = time.monotonic()
        self._answers, self._throttles, self._calls = {}, {}, []

    def _id_of(self, position: int) -> str:
        run_id = self.run_ids.get(position, self.id)
        return self._calls[position].id or make_call_id(run_id)

    def _emit(self, name: str, data: dict[str, Any], result: bytes | None = None, *, passes: bool = False) -> None:
        text = encode_event_json(data)
        if result is not None:
            text = b'%s,"result":%s}' % (text[:-1], result)
        self.events.add(name, text, passes=passes)

    def _emit_progress(self, position: int, progress: float | None, **more: Any) -> None:
        values = {key: value for key, value in more.items() if value is not None}
        self._emit("tool_progress", {"id": self._id_of(position), "progress": progress, **values}, passes=True)

    def _emit_result(self, position: int, answer: Answer) -> None:
        result = answer.result
        values: dict[str, Any] = {"run_id": result.run_id, "id": self._id_of(position), "name": answer.name}
        if result.problem is not None:
            values |= {"error": result.problem.message, "code": result.problem.code}
        values |= {"execution_time_ms": result.elapsed_ms, "summary": self._payloads.outcome(answer, self.caller)}
        if (display := self._payloads.display(answer, self.caller)) is not None:
            values["display"] = display
        self._emit("tool_result", values, result.output_json if result.problem is None else None)


def _get_arguments_or_text(call: AskedCall) -> Any:
    """Return the arguments, or their text if they cannot be parsed."""
    return call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments


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
