"""Confined processes that are forked by their supervisors, which have in memory all that calls need."""

from __future__ import annotations

import os

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.become import become
from pegboard.sandbox.inside.call import Terms
from pegboard.sandbox.inside.children import Ended, reaped
from pegboard.sandbox.inside.house import House
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.streams import Streams
from pegboard.sandbox.inside.work import Given, Work


class Forked:
    """A child of the supervisor."""

    inherited = 0

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._descriptor = syscalls.pidfd_open(pid)

    def arrive(self) -> None:
        """It always was here."""

    def fileno(self) -> int:
        """A descriptor that has something to say once it has ended."""
        return self._descriptor

    def ended(self) -> Ended | None:
        """How it ended, if it has; its orphans that have ended are let go of."""
        return reaped(self._pid)


class Forking:
    """The zygote itself, and so each supervisor."""

    closed_from = 4

    def __init__(self, work: Work, house: House) -> None:
        syscalls.freeze()
        self._work = work
        self._terms = Terms.of(house)

    def start(self, place: Place, folder: str | None, port: int | None, streams: Streams) -> Forked:
        """A copy that waits for orders, for the supervisor that this is."""
        pid = os.fork()
        if pid == 0:
            become(self._work, self._terms, place, Given(folder, port, streams.other_ends))
        return Forked(pid)

    def is_gone(self) -> bool:
        """Never: whoever asks is it."""
        return False

    def close(self) -> None:
        """Nothing is held."""
