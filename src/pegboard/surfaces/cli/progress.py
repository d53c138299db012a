"""How far a long piece of work has come, for people at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# How many more are done, and how many there are in all where that has become known.
Advance = Callable[..., None]


@contextmanager
def progress(what: str, total: float | None = None) -> Iterator[Advance]:
    """A bar on standard error where that is a terminal; what is yielded moves it by some, of perhaps a new total."""
    if not sys.stderr.isatty():
        yield _nothing
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


def _nothing(some: float, total: float | None = None) -> None:
    """Show nothing."""
