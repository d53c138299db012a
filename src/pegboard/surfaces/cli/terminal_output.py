"""Tables and progress bars on a terminal, made by rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from pegboard.surfaces.cli.api_client import ServerEvent
from pegboard.surfaces.cli.output import Advance, escape_control_characters, to_single_line, write_message

_MAX_MESSAGE_CHARS = 40
# The column that may be truncated, if it is the last.
_TRUNCATED_COLUMN = "DESCRIPTION"


def print_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Print a table on standard output, fitted to the terminal."""
    widths = [max(cell_len(row[place]) for row in [columns, *cells]) for place in range(len(columns))]
    whole = sum(widths) + 2 * len(widths)
    console = Console(highlight=False)
    if columns[-1] == _TRUNCATED_COLUMN:
        # Only the description may be truncated: a truncated id is useless, so lines may exceed the terminal width.
        widths[-1] = max(len(_TRUNCATED_COLUMN), widths[-1] - max(0, whole - console.width))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, width in zip(columns, widths, strict=True):
        table.add_column(name, width=width, no_wrap=True, overflow="ellipsis")
    for row in cells:
        table.add_row(*map(Text, row))
    Console(highlight=False, width=max(console.width, whole)).print(table, crop=False)


@contextmanager
def open_progress_bar(what: str, total: float | None) -> Iterator[Advance]:
    """Show a bar on standard error; yield a function that advances it."""
    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total)

        def advance(some: float, total: float | None = None) -> None:
            if total is not None:
                shown.update(task, total=total)
            shown.advance(task, some)

        yield advance


class ProgressBar:
    """Shows a running call: a progress bar at the bottom, and the partial output above it."""

    def __init__(self) -> None:
        self._shown = _OutputProgress()
        self._task = self._shown.add_task("", total=None)

    def show(self, event: ServerEvent) -> None:
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
                text = escape_control_characters(to_single_line(event.data["message"], _MAX_MESSAGE_CHARS))
                self._shown.update(self._task, description=text)

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
