"""What a supervisor and its confined process need to know of where their call takes place."""

from __future__ import annotations

import os
import select
import socket
import time
from contextlib import suppress
from typing import Protocol

from pegboard.sandbox.inside.job import Job

# A process that the kernel cannot end by then hangs in the kernel itself.
_ENDING_SECONDS = 2.0
# As often as that, those who are this process's children are reaped meanwhile.
_LOOK_SECONDS = 0.002


class Place(Protocol):
    """Where calls take place: in namespaces of their own, or else among the machine's other processes."""

    # A descriptor of the process that all others of a call depend on, as long as there is a call.
    first: int

    def open(self, *, network: bool) -> str | None:
        """Make a place for a call, whose supervisor this process is; the call's folder if it is known by now."""

    def lead(self, first: int) -> None:
        """Have children that this process forks from now on be among the processes of the call."""

    def follow(self, first: int, *, network: bool) -> None:
        """Be where the call takes place, as such a child, and make ready what it will see of files."""

    def hide(self) -> None:
        """Have nobody look into this process and the first, now that all who have to be are there."""

    def listen(self) -> socket.socket:
        """A socket on which only this call can connect, for the server to listen on."""

    def furnish(self, job: Job) -> str:
        """The call's own folder, made ready for it."""

    def most_processes(self, job: Job) -> int:
        """The limit that bounds the number of the call's processes."""

    def settle(self) -> None:
        """Make this process, the call's first, one without privileges, of the user that tools run as."""

    def processes(self) -> list[int]:
        """The processes of this call but for those that are ours."""

    def kill_all(self) -> None:
        """Kill the processes of this call, whatever they did to stay."""

    def is_empty(self, within: float) -> bool:
        """Whether there are none any more, those that have ended reaped, after no more than so many seconds."""

    def close(self, job: Job | None) -> None:
        """Leave nothing of the call behind; there may be another then."""


def end_all(place: Place) -> bool:
    """Kill the processes of this call and reap them, as often as it takes until there are none; whether there are."""
    give_up = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < give_up:
        place.kill_all()
        if place.is_empty(_LOOK_SECONDS):
            return True
    return False


def has_ended(process: int, within: float) -> bool:
    """Whether the process that the descriptor names ends within so many seconds."""
    poller = select.poll()
    poller.register(process, select.POLLIN)
    return bool(poller.poll(within * 1000))


def all_reaped() -> bool:
    """Whether this process has no children any more; those that have ended are let go of."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return True
