"""The interface of the isolation of a call, as used by its supervisor and its confined process."""

from __future__ import annotations

import os
import select
import socket
import time
from contextlib import suppress
from typing import Protocol

from pegboard.sandbox.child.job import Job

# A process that the kernel has not killed by then hangs in the kernel.
_KILL_SECONDS = 2.0
# Interval at which ended children are reaped while waiting.
_POLL_SECONDS = 0.002


class Isolation(Protocol):
    """Where calls run: in their own namespaces, or among the other processes of the host."""

    # The pidfd of pid 1 of the call, on which all its other processes depend; -1 if there is none.
    first: int

    def open(self, *, network: bool) -> str | None:
        """Create the isolation of a call for this supervisor; return the folder of the call if it is known already."""

    def enter_for_children(self, first: int) -> None:
        """Make children that are forked from now on belong to the processes of the call."""

    def follow(self, first: int, *, network: bool) -> None:
        """Enter the isolation of the call in such a child, and prepare its file system."""

    def hide_process(self) -> None:
        """Make this process and pid 1 unreadable to others, once all processes have joined."""

    def listen(self) -> socket.socket:
        """Return a listening socket that only this call can connect to, for the server."""

    def prepare_folder(self, job: Job) -> None:
        """Prepare the work folder of the call."""

    def max_processes(self, job: Job) -> int:
        """Return the RLIMIT_NPROC of the call."""

    def settle(self) -> None:
        """Drop the privileges of this process, and run as the user of tools."""

    def processes(self) -> list[int]:
        """Return the pids of the call, without those of Pegboard."""

    def kill_all(self) -> None:
        """Kill all processes of the call, whatever they did to survive."""

    def is_empty(self, within: float) -> bool:
        """Return True if all processes have ended and are reaped, after waiting at most `within` seconds."""

    def remove_files(self, job: Job) -> None:
        """Remove the files of the call, after all its processes have ended."""


def kill_and_reap(place: Isolation) -> bool:
    """Kill and reap the processes of the call until none is left; return False if some are left after the timeout."""
    give_up = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < give_up:
        place.kill_all()
        if place.is_empty(_POLL_SECONDS):
            return True
    return False


def has_ended(process: int, within: float) -> bool:
    """Return True if the process of this pidfd ends within this many seconds."""
    poller = select.poll()
    poller.register(process, select.POLLIN)
    return bool(poller.poll(within * 1000))


def reap_children() -> bool:
    """Reap ended children; return True if this process has no children left."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return True
