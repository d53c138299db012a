"""A bar that shows how far a call has come, for terminals."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from pegboard.surfaces.cli.events import Event
from pegboard.surfaces.cli.output import one_line, plain, say

_WIDEST = 40


class Bar:
    """Shows a call: how far it has come at the bottom, and above that what it puts out."""

    def __init__(self) -> None:
        self._shown = _Shown()
        self._task = self._shown.add_task("", total=None)

    def tell(self, event: Event) -> None:
        """Show what an event says that is new to people."""
        if event.name == "tool_use":
            say(str(event.data["message"]))
            self._shown.start()
        elif event.name == "tool_progress":
            if partial := event.data.get("partial"):
                self._shown.put(plain(partial.replace("\r\n", "\n")))
            if event.data.get("progress") is not None:
                total = event.data.get("total")
                self._shown.update(self._task, completed=event.data["progress"], total=total)
            if event.data.get("message"):
                self._shown.update(self._task, description=plain(one_line(event.data["message"], _WIDEST)))

    def stop(self) -> None:
        """Take the bar away; what was put out stays."""
        self._shown.stop()
        self._shown.put_rest()


class _Shown(Progress):
    """A bar below the line that has been begun and not ended."""

    def __init__(self) -> None:
        # Before anything is shown for the first time.
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
        """Put out the lines that are whole; the last one is shown until it is."""
        *whole, self._begun = (self._begun + text).split("\n")
        width = max(1, self.console.width)
        while len(self._begun) > width:
            whole.append(self._begun[:width])
            self._begun = self._begun[width:]
        if whole:
            self.console.print(Text("\n".join(whole)))
        self.refresh()

    def put_rest(self) -> None:
        """Put out the line that was never ended."""
        if self._begun:
            self.console.print(Text(self._begun))
            self._begun = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """What is at the bottom."""
        if self._begun:
            yield Text(self._begun)
        yield self.make_tasks_table(self.tasks)
