"""How far a long piece of work has come, for people at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the increment, and with the new total if it has changed.
Advance = Callable[..., None]


@contextmanager
def show_progress(what: str, total: float | None = None) -> Iterator[Advance]:
    """Show a bar on standard error if that is a terminal; yield a function that advances it."""
    if not sys.stderr.isatty():
        yield _ignore_progress
        return
    from rich.console import Console  # noqa: PLC0415 -- start-up time
    from rich.progress import Progress  # noqa: PLC0415 -- start-up time

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total)

        def advance(some: float, total: float | None = None) -> None:
            if total is not None:
                shown.update(task, total=total)
            shown.advance(task, some)

        yield advance


def _ignore_progress(some: float, total: float | None = None) -> None:
    """Do nothing."""
