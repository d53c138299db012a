"""A bar that shows how far a call has come, for terminals.

What a call that is followed tells people on its way: on standard error, since the result is all that is printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from pegboard.surfaces.cli.output import escape_control_characters, to_single_line, write_message, write_partial_message
from pegboard.surfaces.cli.server_events import ServerEvent

_MAX_MESSAGE_CHARS = 40


class ProgressBar:
    """Shows a running call: a progress bar at the bottom, and the partial output above it."""

    def __init__(self) -> None:
        self._shown = _OutputProgress()
        self._task = self._shown.add_task("", total=None)

    def tell(self, event: ServerEvent) -> None:
        """Show an event."""
        if event.name == "tool_use":
            write_message(str(event.data["message"]))
            self._shown.start()
        elif event.name == "tool_progress":
            if partial := event.data.get("partial"):
                self._shown.put(escape_control_characters(partial.replace("\r\n", "\n")))
            if event.data.get("progress") is not None:
                total = event.data.get("total")
                self._shown.update(self._task, completed=event.data["progress"], total=total)
            if event.data.get("message"):
                self._shown.update(
                    self._task,
                    description=escape_control_characters(to_single_line(event.data["message"], _MAX_MESSAGE_CHARS)),
                )

    def stop(self) -> None:
        """Remove the bar; the partial output stays."""
        self._shown.stop()
        self._shown.put_unfinished_line()


class _OutputProgress(Progress):
    """A progress bar below the unfinished line of output."""

    def __init__(self) -> None:
        # Must exist before the base class renders for the first time.
        self._begun = ""
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True, highlight=False, soft_wrap=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def put(self, text: str) -> None:
        """Print the complete lines, and show the last, unfinished line above the bar."""
        *whole, self._begun = (self._begun + text).split("\n")
        width = max(1, self.console.width)
        while len(self._begun) > width:
            whole.append(self._begun[:width])
            self._begun = self._begun[width:]
        if whole:
            self.console.print(Text("\n".join(whole)))
        self.refresh()

    def put_unfinished_line(self) -> None:
        """Print the unfinished line."""
        if self._begun:
            self.console.print(Text(self._begun))
            self._begun = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the unfinished line and the bar."""
        if self._begun:
            yield Text(self._begun)
        yield self.make_tasks_table(self.tasks)


# The minimum interval between two progress lines in a log.
_LINE_INTERVAL_SECONDS = 1.0

EventHandler = Callable[[ServerEvent], None]


@contextmanager
def open_live_output() -> Iterator[EventHandler]:
    """Yield an event handler that shows a bar if standard error is a terminal, else lines at intervals."""
    if sys.stderr.isatty():
        bar = ProgressBar()
        try:
            yield bar.tell
        finally:
            bar.stop()
        return
    lines = LineOutput()
    try:
        yield lines.tell
    finally:
        lines.end_line()


class LineOutput:
    """Writes events as lines, for logs and pipes."""

    def __init__(self) -> None:
        self._next = 0.0
        self._is_line_open = False

    def tell(self, event: ServerEvent) -> None:
        """Write an event."""
        if event.name == "tool_use":
            write_message(str(event.data["message"]))
        elif event.name == "tool_progress":
            if partial := event.data.get("partial"):
                write_partial_message(partial)
                self._is_line_open = not partial.endswith("\n")
            if (how := format_progress(event.data)) and time.monotonic() >= self._next:
                self._next = time.monotonic() + _LINE_INTERVAL_SECONDS
                self.end_line()
                write_message(f"  {how}")

    def end_line(self) -> None:
        """End the line of partial output if it is unfinished."""
        if self._is_line_open:
            write_message("")
            self._is_line_open = False


def format_progress(data: Mapping[str, Any]) -> str:
    """Return the progress and message of a call as one line; empty if there are none."""
    done, total = data.get("progress"), data.get("total")
    parts = (
        []
        if done is None
        else [_format_number(done) if total is None else f"{_format_number(done)}/{_format_number(total)}"]
    )
    return " ".join([*parts, *([to_single_line(data["message"])] if data.get("message") else [])])


def _format_number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
