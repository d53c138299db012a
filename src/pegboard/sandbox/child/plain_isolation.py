"""Isolation of calls without namespaces, among the processes and files of the host.

Files are then confined by Landlock alone, and the size of the work folder is limited only per file.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterable
from contextlib import suppress

from pegboard.sandbox.child import syscalls, user_identity
from pegboard.sandbox.child.isolation import reap_children
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.rootfs import ZygoteSpec, list_hidden, list_readable
from pegboard.sandbox.child.setup_steps import StepFailed, step


class PlainIsolation:
    """A subreaper: all orphans of the call become its children, so that none can escape."""

    first = -1

    def __init__(self, spec: ZygoteSpec) -> None:
        shown = list_hidden(spec)
        if shown:
            raise StepFailed(f"hiding '{shown[0]}', which belongs to the board: only namespaces can hide a folder")
        self._supervisor_pid = 0
        self._user = user = user_identity.find_tool_uid()
        # Another user may be unable to read an interpreter in root's home; then it may read any file, and Landlock
        # restricts it.
        self._can_read_anything = user is not None and not user_identity.can_read_folders(user, list_readable(spec))
        if self._can_read_anything and "landlock" in spec.without:
            raise StepFailed(
                f"reading the interpreter's files as the user {user}, as whom tools run: they are root's alone, and "
                f"without namespaces or Landlock that user cannot be given them without giving it all other files"
            )

    def open(self, *, network: bool) -> None:
        """Become a subreaper, and choose a user that no other call has."""
        with step("becoming the parent of orphans"):
            syscalls.become_subreaper()
        self._supervisor_pid = os.getpid()
        self._user = user_identity.find_tool_uid(os.getpid())

    def enter_for_children(self, first: int) -> None:
        """Do nothing: children are where this process is."""

    def follow(self, first: int, *, network: bool) -> None:
        """Do nothing: the server has prepared the folder."""

    def hide_process(self) -> None:
        """Make this process unreadable to others."""
        syscalls.set_dumpable(False)

    def listen(self) -> socket.socket:
        """Raise StepFailed: every process of the host could connect to a listening socket."""
        raise StepFailed("opening the call's network: only namespaces can separate it from the machine's")

    def prepare_folder(self, job: Job) -> None:
        """Give the folder that the server created to the user of the call; raise StepFailed if it named none."""
        if job.folder is None:
            raise StepFailed("changing to the work folder: without namespaces the server has to name one")
        if self._user is not None:
            with step("changing the owner of the work folder"):
                os.chown(job.folder, self._user, self._user)

    def max_processes(self, job: Job) -> int:
        """Return the limit of the job, plus the user's other threads if the call runs as the board's own user."""
        return job.bounds.processes + (user_identity.count_threads(os.getuid()) if self._user is None else 0)

    def settle(self) -> None:
        """Switch to the user of the call if this is root, and die with the supervisor."""
        with step("dropping privileges"):
            if self._user is None:
                syscalls.drop_capabilities()
            else:
                user_identity.switch_user(self._user, reading_anything=self._can_read_anything)
        with step("setting the parent death signal"):
            syscalls.die_with_parent()
            if os.getppid() != self._supervisor_pid:
                raise StepFailed("setting the parent death signal: the supervisor has ended")

    def processes(self) -> list[int]:
        """Return every living descendant of the supervisor."""
        return _find_descendants()

    def kill_all(self) -> None:
        """Kill every descendant."""
        # Stopped first, so that none can fork while the others are killed.
        stopped: set[int] = set()
        while new := set(_find_descendants()) - stopped:
            _send_signal(new, signal.SIGSTOP)
            stopped |= new
        _send_signal(stopped, signal.SIGKILL)

    def is_empty(self, within: float) -> bool:
        """Return True if all children are reaped; orphans of the call are children of this process."""
        if not reap_children():
            time.sleep(within)
        return reap_children()

    def remove_files(self, job: Job) -> None:
        """Remove the work folder; what cannot be removed here is left to the server."""
        import shutil

        shutil.rmtree(job.folder or "", ignore_errors=True)


def _find_descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for process in os.listdir("/proc"):
        if not process.isdecimal():
            continue
        try:
            # The program name, in parentheses, may contain any character.
            state, parent = syscalls.read_file(f"/proc/{process}/stat").rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # the process has ended
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


def _send_signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
