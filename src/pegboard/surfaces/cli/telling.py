"""What a call that is followed tells people on its way: on standard error, since the result is all that is printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pegboard.surfaces.cli.events import Event
from pegboard.surfaces.cli.output import one_line, say, say_part

# How often a log is told how far a call has come.
_PAUSE = 1.0

Tell = Callable[[Event], None]


@contextmanager
def telling() -> Iterator[Tell]:
    """A bar where standard error is a terminal, now and then a line where it is not; partial output as it comes."""
    if sys.stderr.isatty():
        from pegboard.surfaces.cli.bar import Bar  # noqa: PLC0415 -- start-up time

        bar = Bar()
        try:
            yield bar.tell
        finally:
            bar.stop()
        return
    lines = Lines()
    try:
        yield lines.tell
    finally:
        lines.end_line()


class Lines:
    """Tells in lines, for logs and pipes."""

    def __init__(self) -> None:
        self._next = 0.0
        self._is_within = False

    def tell(self, event: Event) -> None:
        """Say what an event says that is new to people."""
        if event.name == "tool_use":
            say(str(event.data["message"]))
        elif event.name == "tool_progress":
            if partial := event.data.get("partial"):
                say_part(partial)
                self._is_within = not partial.endswith("\n")
            if (how := how_far(event.data)) and time.monotonic() >= self._next:
                self._next = time.monotonic() + _PAUSE
                self.end_line()
                say(f"  {how}")

    def end_line(self) -> None:
        """End the line that partial output has begun, if it has."""
        if self._is_within:
            say("")
            self._is_within = False


def how_far(data: Mapping[str, Any]) -> str:
    """How far a call has come, in one line; nothing where that is not said."""
    done, total = data.get("progress"), data.get("total")
    parts = [] if done is None else [_number(done) if total is None else f"{_number(done)}/{_number(total)}"]
    return " ".join([*parts, *([one_line(data["message"])] if data.get("message") else [])])


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
