"""Those who watch the whole board: what begins, how far it has come, how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import orjson

from pegboard.core.call import Caller, Execution, OnProgress, Progress, ToolCall
from pegboard.live.events import Events
from pegboard.live.telling import Telling

# What is kept for onlookers that are slow, or come back after their connection broke.
_MOST_EVENTS = 5000
_MOST_BYTES = 4 * 2**20
# What an event leaves out of a row: it may be large, and is there to be read in the journal.
_LEFT_OUT = frozenset({"arguments", "result", "printed"})


class Onlookers:
    """Tells of every call while somebody watches; a call that nobody watches pays for one look at a flag."""

    def __init__(self) -> None:
        self.events = Events(most=_MOST_EVENTS, most_bytes=_MOST_BYTES)
        self.are_there = False
        self._count = 0
        self._telling: dict[str, Telling] = {}

    @contextmanager
    def watching(self) -> Iterator[Events]:
        """The events, told of for as long as somebody is in here."""
        self._count += 1
        self.are_there = True
        try:
            yield self.events
        finally:
            self._count -= 1
            self.are_there = self._count > 0
            if not self.are_there:
                self._telling.clear()

    def began(self, call: ToolCall, caller: Caller, run_id: str) -> ToolCall:
        """Tell that a call begins; the call that is given back also tells how far it has come."""
        told = {
            "run_id": run_id,
            "tool_name": call.name[:255],
            "caller_id": caller.user_id,
            "caller": caller.name,
            "surface": call.surface,
            "started_at": datetime.now(UTC),
        }
        self._tell("started", told, caller.user_id)
        self._telling[run_id] = telling = Telling(self._progress_of(call, caller, run_id))
        return call._replace(on_progress=_also(call.on_progress, telling))

    def ended(self, execution: Execution) -> None:
        """Tell of a call that has ended and is recorded."""
        if (telling := self._telling.pop(execution.id, None)) is not None:
            telling.end()
        told = {name: value for name, value in execution._asdict().items() if name not in _LEFT_OUT}
        self._tell("finished", told, execution.caller_id)

    def _progress_of(self, call: ToolCall, caller: Caller, run_id: str) -> OnProgress:
        def on_progress(progress: Progress) -> None:
            # Neither message nor partial output: they are between the tool and its caller.
            if self.are_there:
                told = {"run_id": run_id, "tool_name": call.name[:255]}
                how_far = {"progress": progress.progress, "total": progress.total}
                self._tell("progress", told | how_far, caller.user_id)

        return on_progress

    def _tell(self, name: str, told: dict[str, Any], owner_id: str) -> None:
        self.events.add(name, orjson.dumps(told, default=str), owner_id=owner_id, passes=True)


def _also(first: OnProgress | None, second: OnProgress) -> OnProgress:
    if first is None:
        return second

    def both(progress: Progress) -> None:
        first(progress)
        second(progress)

    return both
