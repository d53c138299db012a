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


class Place(Protocol):
    """Where calls take place: in namespaces of their own, or else among the machine's other processes."""

    def namespaces(self, *, network: bool) -> int:
        """The kinds of namespaces that a call has of its own, as the kernel numbers them."""

    def enter(self) -> str | None:
        """Make this process the one that all others of its call depend on; the call's folder if it is known by now."""

    def build(self) -> None:
        """Make ready what the call's processes will see of files; those that wait for it are there already."""

    def listen(self) -> socket.socket:
        """A socket on which only this call can connect, for the server to listen on."""

    def furnish(self, job: Job) -> str:
        """The call's own folder, made ready for it."""

    def most_processes(self, job: Job) -> int:
        """The limit that bounds the number of the call's processes."""

    def settle(self) -> None:
        """Make this process, the call's first, one without privileges, of the user that tools run as."""

    def processes(self) -> list[int]:
        """The processes of this call, its supervisor aside."""

    def kill_all(self) -> None:
        """Kill the processes of this call, whatever they did to stay."""

    def leave(self, job: Job) -> None:
        """Leave nothing of the call behind."""


def end_all(place: Place, first: int | None = None) -> None:
    """Kill the processes of this call and reap them, as often as it takes until there are none.

    The first of them may be for another to reap; this is then told by its descriptor.
    """
    give_up = time.monotonic() + _ENDING_SECONDS
    while (left := give_up - time.monotonic()) > 0:
        place.kill_all()
        # Once it has ended, its orphans are for this process to reap.
        if (first is None or has_ended(first, left)) and _all_reaped():
            return
        time.sleep(0.001)


def has_ended(process: int, within: float) -> bool:
    """Whether the process that the descriptor names ends within so many seconds."""
    poller = select.poll()
    poller.register(process, select.POLLIN)
    return bool(poller.poll(within * 1000))


def _all_reaped() -> bool:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return True
