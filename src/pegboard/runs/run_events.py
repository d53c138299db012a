"""One followed payload and its events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from pegboard.dialect_calls import PayloadRunner
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls
from pegboard.model.call import Caller, Malformed, OnProgress, Progress, ToolResult
from pegboard.model.call_errors import Cancelled
from pegboard.model.ids import make_call_id, new_id
from pegboard.progress.event_log import EventLog, encode_event_json
from pegboard.progress.throttle import ProgressThrottle

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
