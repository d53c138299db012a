"""Events of all calls on the board for its subscribers: start, progress and end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pegboard.model.call import Caller, Execution, OnProgress, Progress, ToolCall
from pegboard.model.journal_row import LARGE_FIELDS
from pegboard.progress.event_log import EventLog, encode_event_json
from pegboard.progress.throttle import ProgressThrottle

# Events kept for slow subscribers and for those that reconnect.
_MAX_EVENTS = 5000
_MAX_EVENT_BYTES = 4 * 2**20
# Minimum interval between wake-ups of subscribers: events in between reach them in one batch.
_PAUSE_SECONDS = 0.03


class BoardWatchers:
    """Publishes an event for every call while there are subscribers; otherwise a call only checks one flag."""

    def __init__(self) -> None:
        self.events = EventLog(most=_MAX_EVENTS, most_bytes=_MAX_EVENT_BYTES, pause=_PAUSE_SECONDS)
        self.is_watched = False
        self.count = 0
        # Called with True when the first subscriber comes, and with False when the last one leaves.
        self.on_watched_change: Callable[[bool], None] = lambda _are_there: None
        # Called when the board shuts down, for streams that have no events of calls.
        self.on_close: set[Callable[[], None]] = set()
        self._telling: dict[str, ProgressThrottle] = {}

    @contextmanager
    def watch(self) -> Iterator[EventLog]:
        """Return the event log, and publish events for as long as the context is open."""
        self.count += 1
        if not self.is_watched:
            self.is_watched = True
            self.on_watched_change(True)
        try:
            yield self.events
        finally:
            self.count -= 1
            self.is_watched = self.count > 0
            if not self.is_watched:
                for item in self._telling.values():
                    item.end()
                self._telling.clear()
                self.on_watched_change(False)

    def publish_start(self, call: ToolCall, caller: Caller, run_id: str) -> ToolCall:
        """Publish the start of a call, and return the call with a listener that publishes its progress."""
        values = {
            "run_id": run_id,
            "tool_name": call.name[:255],
            "caller_id": caller.user_id,
            "caller": caller.name,
            "surface": call.surface,
            "started_at": datetime.now(UTC),
        }
        self._publish("started", values, caller.user_id, call.name)
        self._telling[run_id] = throttle = ProgressThrottle(self._make_progress_listener(call, caller, run_id))
        return call._replace(on_progress=_combine_listeners(call.on_progress, throttle))

    def publish_end(self, execution: Execution) -> None:
        """Publish the end of a call that is recorded in the journal."""
        if (throttle := self._telling.pop(execution.id, None)) is not None:
            throttle.end()
        # Large columns can be read from the journal.
        values = {name: value for name, value in execution._asdict().items() if name not in LARGE_FIELDS}
        self._publish("finished", values, execution.caller_id, execution.tool_name)

    def close(self) -> None:
        """Publish the shutdown as the last event, and end all subscriptions."""
        message = "The board is shutting down; connect again to watch on"
        self._publish("error", {"message": message, "code": "unavailable"}, "", "")
        self.events.close()
        for close in tuple(self.on_close):
            close()

    def report_missed(self, calls: int) -> None:
        """Publish that this many calls ended without an event of their own."""
        self._publish("gap", {"missed": calls}, "", "")

    def _make_progress_listener(self, call: ToolCall, caller: Caller, run_id: str) -> OnProgress:
        def on_progress(progress: Progress) -> None:
            # Omit the message and the partial output: they are only for the caller of the tool.
            if self.is_watched:
                values = {"run_id": run_id, "tool_name": call.name[:255]}
                how_far = {"progress": progress.progress, "total": progress.total}
                self._publish("progress", values | how_far, caller.user_id, call.name)

        return on_progress

    def _publish(self, name: str, fields: dict[str, Any], owner_id: str, tool_name: str) -> None:
        self.events.add(name, encode_event_json(fields), owner_id=owner_id, tool_name=tool_name, passes=True)


def _combine_listeners(first: OnProgress | None, second: OnProgress) -> OnProgress:
    if first is None:
        return second

    def report_to_both(progress: Progress) -> None:
        first(progress)
        second(progress)

    return report_to_both
