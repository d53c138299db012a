"""One payload that is being run, as the events that tell of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from pegboard.core.call import Caller, Malformed, OnProgress, Progress, ToolResult
from pegboard.core.errors import Cancelled
from pegboard.core.ids import new_id
from pegboard.dialects.asked import Asked, AskedCall
from pegboard.dialects.base import Answer
from pegboard.live.events import Events, as_json
from pegboard.live.telling import Telling
from pegboard.payloads import Payloads

# What is kept of the progress of one payload's calls, at its latest.
_MOST_PROGRESS = 200
_MOST_PROGRESS_BYTES = 512 * 1024
# What one that has ended takes beside the text of its events, and for each of its calls.
_OWN_BYTES, _CALL_BYTES = 5 * 1024, 1024


class Feed:
    """One payload that is being run, or was a while ago, as the events that tell of it."""

    def __init__(
        self, payloads: Payloads, asked: Asked, caller: Caller, *, goes_on: bool, knows: Callable[[str, Feed], None]
    ) -> None:
        self.id = new_id()
        self.caller = caller
        self.events = Events(most=_MOST_PROGRESS, most_bytes=_MOST_PROGRESS_BYTES)
        # What its calls are known by, by their places.
        self.run_ids: dict[int, str] = {}
        self.readers = 0
        # Why somebody other than the caller has ended all of it.
        self.ended_because: str | None = None
        self.ended_at = 0.0
        self._calls = payloads.open_calls(asked)
        # Those that nobody can abandon.
        self._lasting = {
            place for place, call in enumerate(self._calls) if goes_on or call.key or payloads.detaches(call)
        }
        self._payloads = payloads
        self._knows = knows
        self._answers: dict[int, Answer] = {}
        self._telling: dict[int, Telling] = {}
        self._told = 0
        self._news = asyncio.Event()
        knows(self.id, self)

    @property
    def size(self) -> int:
        """About how much memory it takes once it has ended."""
        return self.events.size + _OWN_BYTES + _CALL_BYTES * len(self.run_ids)

    def began(self, position: int, call: AskedCall, run_id: str) -> OnProgress:
        """Tell that a call is used, and then how far it has come; raises Cancelled where it is not to begin."""
        if self.ended_because is not None or self.events.is_over:
            raise Cancelled(self.ended_because or "The board shut down before it began")
        self.run_ids[position] = run_id
        self._knows(run_id, self)
        name = self._payloads.display_name(call, self.caller)
        self._tell(
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
            told = {"total": progress.total, "message": progress.message, "partial": progress.partial}
            self._tell_progress(position, progress.progress, **told)

        self._telling[position] = telling = Telling(on_progress)
        return telling

    def ended(self, position: int, answer: Answer) -> None:
        """Tell how a call ended, once those before it have."""
        if position in self._telling:
            self._telling[position].end()
        if self.events.is_over:
            return
        self._answers[position] = answer
        if position > self._told:
            self._tell_progress(position, 1, total=1, message="Done; told in order")
        while (next_one := self._answers.get(self._told)) is not None:
            self._tell_result(self._told, next_one)
            self._told += 1
        self._news.set()

    def gone(self, position: int) -> None:
        """A call was cancelled with whoever asked for it."""
        self._lasting.discard(position)
        self._news.set()

    async def left(self) -> list[Answer]:
        """The answers when the caller went away: waits for calls that go on, and tells of those that were cancelled."""
        while not self._lasting <= self._answers.keys():
            self._news.clear()
            await self._news.wait()
        for position, call in enumerate(self._calls):
            if position not in self._answers:
                problem = Cancelled("The caller went away").problem
                run_id = self.run_ids.setdefault(position, new_id())
                result = ToolResult(call.name, False, problem=problem, call_id=call.id, run_id=run_id)
                self._answers[position] = Answer(call, result)
        for position in range(self._told, len(self._calls)):
            self._tell_result(position, self._answers[position])
        return [answer for _, answer in sorted(self._answers.items())]

    def complete(self, told: dict[str, Any]) -> None:
        """Tell that all calls have ended; it is the last thing told."""
        used = [
            {"id": self._id_of(position), "name": call.name, "args": _arguments(call)}
            for position, call in enumerate(self._calls)
        ]
        self._tell("complete", {"tool_calls": used, **told})
        self._close()

    def fail(self, message: str, code: str) -> None:
        """Tell what kept it from ending well, unless the end was told; it is the last thing told."""
        if not self.events.is_over:
            self._tell("error", {"message": message, "code": code})
            self._close()

    def _close(self) -> None:
        """Keep what was told, and nothing else."""
        for telling in self._telling.values():
            telling.end()
        self.events.close()
        self.ended_at = time.monotonic()
        self._answers, self._telling, self._calls = {}, {}, []

    def _id_of(self, position: int) -> str:
        run_id = self.run_ids.get(position, self.id)
        return self._calls[position].id or f"call_{run_id.replace('-', '')}"

    def _tell(self, name: str, data: dict[str, Any], result: bytes | None = None, *, passes: bool = False) -> None:
        text = as_json(data)
        if result is not None:
            text = b'%s,"result":%s}' % (text[:-1], result)
        self.events.add(name, text, passes=passes)

    def _tell_progress(self, position: int, progress: float | None, **more: Any) -> None:
        said = {key: value for key, value in more.items() if value is not None}
        self._tell("tool_progress", {"id": self._id_of(position), "progress": progress, **said}, passes=True)

    def _tell_result(self, position: int, answer: Answer) -> None:
        result = answer.result
        told: dict[str, Any] = {"run_id": result.run_id, "id": self._id_of(position), "name": answer.name}
        if result.problem is not None:
            told |= {"error": result.problem.message, "code": result.problem.code}
        told |= {"execution_time_ms": result.elapsed_ms, "summary": self._payloads.outcome(answer, self.caller)}
        if (display := self._payloads.display(answer, self.caller)) is not None:
            told["display"] = display
        self._tell("tool_result", told, result.output_json if result.problem is None else None)


def _arguments(call: AskedCall) -> Any:
    """The arguments, or the text of those that cannot be read."""
    return call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments
