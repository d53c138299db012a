"""The confined process of a call, as its supervisor knows it, and where such processes come from."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple, Protocol

from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.streams import Streams

# How many of the dead are let go of at once: as fast as they are, new ones may come.
_MOST_REAPED = 2000


class Ended(NamedTuple):
    """How a process ended: its status as the kernel has it, and the processor time it took."""

    status: int
    cpu_seconds: float


class Child(Protocol):
    """A process that waits for orders."""

    # Bytes of memory that it has from what it is a copy of, and that are not for its call to answer for.
    inherited: int

    def arrive(self) -> None:
        """Wait until it is where its supervisor is; raises StepFailed where it cannot be."""

    def fileno(self) -> int:
        """A descriptor that has something to say once it has ended."""

    def ended(self) -> Ended | None:
        """How it ended, if it has; its orphans that have ended are let go of."""

    def close(self) -> None:
        """Hold nothing of it any more."""


class Source(Protocol):
    """What confined processes are copies of."""

    # All descriptors from this one on are of no use to a supervisor.
    closed_from: int
    # Whether confined processes have nothing of their supervisors, so that these may have had calls before.
    is_lasting: bool

    def start(self, place: Place, folder: str | None, port: int | None, streams: Streams) -> Child:
        """A copy that waits for orders, for the supervisor that this is."""

    def is_gone(self) -> bool:
        """Whether there can be no more copies."""

    def close(self) -> None:
        """Need no more copies."""


def reaped(child: int) -> Ended | None:
    """How this child ended, if it has; all others that have ended are let go of."""
    with suppress(ChildProcessError):
        for _ in range(_MOST_REAPED):
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == child:
                return Ended(status, used.ru_utime + used.ru_stime)
            if pid == 0:
                break
    return None
