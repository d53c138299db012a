"""What a supervisor needs to know of where its call takes place."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from pegboard.sandbox.inside.job import Job

# A process that the kernel cannot end by then hangs in the kernel itself.
_ENDING_SECONDS = 2.0


class Place(Protocol):
    """Where calls take place: in namespaces of their own, or else among the machine's other processes."""

    def enter(self) -> None:
        """Make this process, a call's supervisor, the one that all others of the call depend on."""

    def furnish(self, job: Job) -> str:
        """The call's own folder, made ready."""

    def settle(self, job: Job) -> None:
        """Make this process, the call's first, the user that tools run as, and bound the number of processes."""

    def processes(self) -> list[int]:
        """The processes of this call, its supervisor aside."""

    def end_all(self) -> None:
        """End the processes of this call, whatever they did to stay, and wait until they are gone."""

    def leave(self, job: Job) -> None:
        """Leave nothing of the call behind."""


def repeat_until_gone(end: Callable[[], None]) -> None:
    """End all and reap all, as often as it takes until this process has no children."""
    give_up = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < give_up:
        end()
        if _all_reaped():
            return
        time.sleep(0.001)


def _all_reaped() -> bool:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return True
