"""One payload that is being run, as the events that tell of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import orjson

from pegboard.core.call import Caller, Malformed, OnProgress, Progress
from pegboard.core.ids import new_id
from pegboard.dialects.asked import Asked, AskedCall
from pegboard.dialects.base import Answer
from pegboard.live.events import Events
from pegboard.live.telling import Telling
from pegboard.payloads import Answered, Payloads
from pegboard.store.types import json_text

# What is kept of the progress of one payload's calls, at its latest.
_MOST_PROGRESS = 200
_MOST_PROGRESS_BYTES = 512 * 1024


class Feed:
    """One payload that is being run, or was a while ago, as the events that tell of it."""

    def __init__(self, payloads: Payloads, asked: Asked, caller: Caller, *, goes_on: bool) -> None:
        self.id = new_id()
        self.owner_id = caller.user_id
        self.events = Events(most=_MOST_PROGRESS, most_bytes=_MOST_PROGRESS_BYTES)
        # What it is known by: an id of its own and those of its calls.
        self.run_ids = [self.id]
        self.running: asyncio.Task[Answered] | None = None
        self.readers = 0
        self.ended_at = 0.0
        self.calls: Sequence[AskedCall] = payloads.open_calls(asked)
        # Those that nobody can abandon.
        self._lasting = {place for place, call in enumerate(self.calls) if goes_on or payloads.detaches(call)}
        self.answers: dict[int, Answer] = {}
        self._payloads = payloads
        self._caller = caller
        self._ids: dict[int, str] = {}
        self._telling: dict[int, Telling] = {}
        self._told = 0
        self._news = asyncio.Event()

    def began(self, position: int, call: AskedCall, run_id: str) -> OnProgress:
        """Tell that a call is used, and then how far it has come."""
        self._ids[position] = identity = call.id or f"call_{run_id.replace('-', '')}"
        self.run_ids.append(run_id)
        name = self._payloads.display_name(call, self._caller)
        self.tell(
            "tool_use",
            {
                "run_id": run_id,
                "id": identity,
                "name": call.name,
                "display_name": name,
                "message": f"🔧 Using {name}...",
                "summary": self._payloads.summary(call, self._caller),
            },
        )

        def on_progress(progress: Progress) -> None:
            told = {"total": progress.total, "message": progress.message, "partial": progress.partial}
            said = {key: value for key, value in told.items() if value is not None}
            self.tell("tool_progress", {"id": identity, "progress": progress.progress, **said}, passes=True)

        self._telling[position] = telling = Telling(on_progress)
        return telling

    def ended(self, position: int, answer: Answer) -> None:
        """Tell how a call ended, once those before it have."""
        self._telling[position].end()
        self.answers[position] = answer
        if position > self._told:
            done = {"id": self._ids[position], "progress": 1, "total": 1, "message": "Done; told in order"}
            self.tell("tool_progress", done, passes=True)
        while (next_one := self.answers.get(self._told)) is not None:
            self._tell_result(self._told, next_one)
            self._told += 1
        self._news.set()

    def tell(self, name: str, data: Any, *, passes: bool = False) -> None:
        """Tell of something."""
        if not self.events.is_over:
            self.events.add(name, _json(data), passes=passes)

    async def lasting_ended(self) -> None:
        """Wait for the calls that go on without their caller."""
        while not self._lasting <= self.answers.keys():
            self._news.clear()
            await self._news.wait()

    def tell_left(self) -> None:
        """Tell of what was cancelled before, or behind, those that have ended."""
        for telling in self._telling.values():
            telling.end()
        for position in range(self._told, len(self.calls)):
            answer = self.answers.get(position)
            if answer is not None:
                self._tell_result(position, answer)
            elif position in self._ids:
                gone = {"id": self._ids[position], "name": self.calls[position].name}
                self.tell("tool_result", gone | {"error": "The caller went away", "code": "cancelled"})
        self._told = len(self.calls)

    def complete(self, told: dict[str, Any]) -> None:
        """Tell that all calls have ended; it is the last thing told."""
        used = [
            {"id": self._ids.get(position) or call.id, "name": call.name, "args": _arguments(call)}
            for position, call in enumerate(self.calls)
        ]
        self.tell("complete", {"tool_calls": used, **told})
        self.close()

    def close(self) -> None:
        """Keep what was told, and nothing else."""
        self.events.close()
        self.ended_at = time.monotonic()
        self.answers, self._telling = {}, {}

    def _tell_result(self, position: int, answer: Answer) -> None:
        result = answer.result
        told: dict[str, Any] = {"run_id": answer.run_id, "id": self._ids[position], "name": answer.name}
        if result.problem is None:
            told["result"] = orjson.Fragment(result.output_json)
        else:
            told |= {"error": result.problem.message, "code": result.problem.code}
        told |= {"execution_time_ms": result.elapsed_ms, "summary": self._payloads.outcome(answer, self._caller)}
        self.tell("tool_result", told)


def _arguments(call: AskedCall) -> Any:
    """The arguments, or the text of those that cannot be read."""
    return call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments


def _json(data: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(data)
    except TypeError:  # integers past 64 bits
        return json_text({key: _plain(value) for key, value in data.items()}).encode()


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if isinstance(value, orjson.Fragment) else value
