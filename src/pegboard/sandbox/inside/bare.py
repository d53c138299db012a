"""A place for calls where there are no namespaces: among the machine's own processes and files.

Files are then confined by Landlock alone, and the number of bytes in the work folder only file by file.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterable
from contextlib import suppress

from pegboard.sandbox.inside import identity, syscalls
from pegboard.sandbox.inside.house import House, hidden, readable
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.place import all_reaped
from pegboard.sandbox.inside.steps import StepFailed, step


class Bare:
    """No more than a process that all orphans of the call become children of, so that none can get away."""

    first = -1

    def __init__(self, house: House) -> None:
        shown = hidden(house)
        if shown:
            raise StepFailed(f"hiding '{shown[0]}', which belongs to the board: only namespaces can hide a folder")
        self._supervisor = 0
        self._user = user = identity.other_user()
        # Another user may not reach an interpreter in root's home; Landlock then is what keeps it from all else.
        self._reads_anything = user is not None and not identity.can_reach(user, readable(house))
        if self._reads_anything and "landlock" in house.without:
            raise StepFailed(
                f"reading the interpreter's files as the user {user}, as whom tools run: they are root's alone, and "
                f"without namespaces or Landlock there is no way to give that user them and nothing else"
            )

    def open(self, *, network: bool) -> None:
        """Become the parent of all that lose theirs, and find a user that no other call has."""
        with step("becoming the parent of orphans"):
            syscalls.become_subreaper()
        self._supervisor = os.getpid()
        self._user = identity.other_user(os.getpid())

    def lead(self, first: int) -> None:
        """Wherever this process is, so are its children."""

    def follow(self, first: int, *, network: bool) -> None:
        """Nothing is to be made: the server has."""

    def hide(self) -> None:
        """Have nobody look into this process."""
        syscalls.set_dumpable(False)

    def listen(self) -> socket.socket:
        """None: what listens here, every process of the machine can connect to."""
        raise StepFailed("opening the call's own network: only namespaces can keep it apart from the machine's")

    def furnish(self, job: Job) -> str:
        """The folder that the server has made."""
        if job.folder is None:
            raise StepFailed("going to the work folder: without namespaces the server has to name one")
        if self._user is not None:
            with step("giving the work folder to the tool's user"):
                os.chown(job.folder, self._user, self._user)
        return os.path.realpath(job.folder)

    def most_processes(self, job: Job) -> int:
        """What the job allows, and an ordinary user's other processes, which are counted with those of the call."""
        return job.bounds.processes + (identity.tasks(os.getuid()) if self._user is None else 0)

    def settle(self) -> None:
        """Become the call's user, where this is root, and end when the supervisor does."""
        with step("giving up privileges"):
            if self._user is None:
                syscalls.drop_capabilities()
            else:
                identity.become(self._user, reading_anything=self._reads_anything)
        with step("ending with the supervisor"):
            syscalls.end_with_parent()
            if os.getppid() != self._supervisor:
                raise StepFailed("ending with the supervisor: it has ended")

    def processes(self) -> list[int]:
        """Every process whose ancestors lead to the supervisor, but for those that are dead already."""
        return _descendants()

    def kill_all(self) -> None:
        """Kill every descendant."""
        # Stopped first, so that none can start another while they are killed.
        stopped: set[int] = set()
        while new := set(_descendants()) - stopped:
            _signal(new, signal.SIGSTOP)
            stopped |= new
        _signal(stopped, signal.SIGKILL)

    def is_empty(self, within: float) -> bool:
        """Whether all are reaped: those that lose their parents are this process's."""
        if not all_reaped():
            time.sleep(within)
        return all_reaped()

    def close(self, job: Job | None) -> None:
        """Empty the work folder; what a tool has made hard to remove is left to the server."""
        import shutil

        if job is not None:
            shutil.rmtree(job.folder or "", ignore_errors=True)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for process in os.listdir("/proc"):
        if not process.isdecimal():
            continue
        try:
            # The program's name, in brackets, may hold anything.
            state, parent = syscalls.read(f"/proc/{process}/stat").rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # it has ended
        children.setdefault(int(parent), []).append(int(process))
        if state in (b"Z", b"X"):
            dead.add(int(process))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return [pid for pid in found if pid not in dead]


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
