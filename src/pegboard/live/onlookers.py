"""Those who watch the whole board: what begins, how far it has come, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pegboard.core.call import Caller, Execution, OnProgress, Progress, ToolCall
from pegboard.live.events import Events, as_json
from pegboard.live.telling import Telling

# What is kept for onlookers that are slow, or come back after their connection broke.
_MOST_EVENTS = 5000
_MOST_BYTES = 4 * 2**20
# How often onlookers hear of news: what happens in between reaches all of them in one piece.
_PAUSE = 0.03
# What an event leaves out of a row: it may be large, and is there to be read in the journal.
_LEFT_OUT = frozenset({"arguments", "result", "printed"})


class Onlookers:
    """Tells of every call while somebody watches; a call that nobody watches pays for one look at a flag."""

    def __init__(self) -> None:
        self.events = Events(most=_MOST_EVENTS, most_bytes=_MOST_BYTES, pause=_PAUSE)
        self.are_there = False
        self.count = 0
        # Told whenever the first has come, and the last has gone.
        self.on_attention: Callable[[bool], None] = lambda _are_there: None
        self._telling: dict[str, Telling] = {}

    @contextmanager
    def watching(self) -> Iterator[Events]:
        """The events, told of for as long as somebody is in here."""
        self.count += 1
        if not self.are_there:
            self.are_there = True
            self.on_attention(True)
        try:
            yield self.events
        finally:
            self.count -= 1
            self.are_there = self.count > 0
            if not self.are_there:
                for telling in self._telling.values():
                    telling.end()
                self._telling.clear()
                self.on_attention(False)

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
        self._tell("started", told, caller.user_id, call.name)
        self._telling[run_id] = telling = Telling(self._progress_of(call, caller, run_id))
        return call._replace(on_progress=_also(call.on_progress, telling))

    def ended(self, execution: Execution) -> None:
        """Tell of a call that has ended and is recorded."""
        if (telling := self._telling.pop(execution.id, None)) is not None:
            telling.end()
        told = {name: value for name, value in execution._asdict().items() if name not in _LEFT_OUT}
        self._tell("finished", told, execution.caller_id, execution.tool_name)

    def close(self) -> None:
        """Tell that nothing more will be told, and end those who watch."""
        message = "The board is shutting down; connect again to watch on"
        self._tell("error", {"message": message, "code": "unavailable"}, "", "")
        self.events.close()

    def missed(self, calls: int) -> None:
        """Tell that so many calls have ended that are not told of."""
        self._tell("gap", {"missed": calls}, "", "")

    def _progress_of(self, call: ToolCall, caller: Caller, run_id: str) -> OnProgress:
        def on_progress(progress: Progress) -> None:
            # Neither message nor partial output: they are between the tool and its caller.
            if self.are_there:
                told = {"run_id": run_id, "tool_name": call.name[:255]}
                how_far = {"progress": progress.progress, "total": progress.total}
                self._tell("progress", told | how_far, caller.user_id, call.name)

        return on_progress

    def _tell(self, name: str, told: dict[str, Any], owner_id: str, tool_name: str) -> None:
        self.events.add(name, as_json(told), owner_id=owner_id, tool_name=tool_name, passes=True)


def _also(first: OnProgress | None, second: OnProgress) -> OnProgress:
    if first is None:
        return second

    def both(progress: Progress) -> None:
        first(progress)
        second(progress)

    return both
