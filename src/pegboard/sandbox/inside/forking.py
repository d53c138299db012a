"""Confined processes that are forked by their supervisors, which have in memory all that calls need."""

from __future__ import annotations

import os
import signal

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.become import become
from pegboard.sandbox.inside.call import Terms
from pegboard.sandbox.inside.children import Ended, reaped
from pegboard.sandbox.inside.frames import Gone
from pegboard.sandbox.inside.house import House
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.steps import StepFailed
from pegboard.sandbox.inside.streams import Streams
from pegboard.sandbox.inside.work import CANNOT_START, Given, Work, end

_HERE = b"."


class Forked:
    """A child of the supervisor."""

    inherited = 0

    def __init__(self, pid: int, told: int) -> None:
        self._pid = pid
        self._told = told
        self._descriptor = syscalls.pidfd_open(pid)

    def arrive(self) -> None:
        """Wait until it is where its supervisor is; raises StepFailed where it cannot be, Gone where it is no more."""
        with os.fdopen(self._told, "rb") as told:
            words = told.read()
        if not words:
            raise Gone
        if words != _HERE:
            raise StepFailed(words.decode("utf-8", "replace"))

    def fileno(self) -> int:
        """A descriptor that has something to say once it has ended."""
        return self._descriptor

    def ended(self) -> Ended | None:
        """How it ended, if it has; its orphans that have ended are let go of."""
        return reaped(self._pid)

    def close(self) -> None:
        """Nothing is held beyond the end of its supervisor."""


class Forking:
    """The zygote itself, and so each supervisor."""

    closed_from = 4
    # Each would inherit what this process had of the one before.
    is_lasting = False

    def __init__(self, work: Work, house: House) -> None:
        syscalls.freeze()
        self._work = work
        self._terms = Terms.of(house)

    def start(self, place: Place, folder: str | None, port: int | None, streams: Streams) -> Forked:
        """A copy that waits for orders, for the supervisor that this is."""
        # How it ended is asked for here.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        told, telling = os.pipe()
        place.lead(place.first)
        pid = os.fork()
        if pid == 0:
            _follow(place, telling, network=port is not None)
            become(self._work, self._terms, place, Given(folder, port, streams.other_ends))
        os.close(telling)
        return Forked(pid, told)

    def is_gone(self) -> bool:
        """Never: whoever asks is it."""
        return False

    def close(self) -> None:
        """Nothing is held."""


def _follow(place: Place, telling: int, *, network: bool) -> None:
    try:
        place.follow(place.first, network=network)
        os.write(telling, _HERE)
    except StepFailed as error:
        os.write(telling, str(error).encode())
        end(CANNOT_START)
    finally:
        os.close(telling)
