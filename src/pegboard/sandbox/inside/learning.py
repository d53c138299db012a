"""What copies of this process write to in memory, learnt from one that no call is for."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NoReturn

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.pages import Pages, pages_of
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.streams import Streams
from pegboard.sandbox.inside.work import RESULT, Given, Work


class Rehearsed:
    """Work that is rehearsed and never done; that it was rehearsed is told through the pipe for results."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def rehearse(self, _is_called: Callable[[float], bool], *, is_ready: bool) -> None:
        """Rehearse what calls usually do, as if one came when there would be time for what only some do."""
        self._work.rehearse(lambda within: within > 0, is_ready=is_ready)
        os.write(RESULT, b".")

    def run(self, _call: Call, _env: dict[str, str]) -> None:
        """Nothing: there is no call."""


def learn(fork: Callable[[], int], become: Callable[[Given], NoReturn], place: Place) -> Pages:
    """The pages that a copy writes to until it has rehearsed; pipes may be left open."""
    try:
        return _learnt(fork, become, place)
    except OSError:
        # Such as for want of descriptors, or of /proc; calls do without.
        return Pages()


def _learnt(fork: Callable[[], int], become: Callable[[Given], NoReturn], place: Place) -> Pages:
    areas = syscalls.writable_memory()
    streams = Streams()
    streams.orders.announce()
    os.set_blocking(streams.result.fd, True)
    pid = fork()
    if pid == 0:
        become(Given(place.enter(), None, streams.other_ends))
    try:
        os.close(streams.result.other_end)
        # Where it ends instead there is nothing to learn: those that are for calls will tell why.
        return pages_of(pid, areas) if os.read(streams.result.fd, 1) else Pages()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
