"""A place for calls inside a house: each has its own user, files, processes and network."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
from contextlib import suppress

from pegboard.sandbox.inside import identity, mounts, rlimits, syscalls
from pegboard.sandbox.inside.house import OWN_FILES, OWN_PLACES, House, shown_among_own
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.place import repeat_until_gone
from pegboard.sandbox.inside.steps import step

_PROC_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
# A file takes at least this much of the folder's share, be it empty.
_BYTES_A_FILE = 4096
_FEWEST_FILES = 64


class Room:
    """Namespaces of the call's own, whose first process is the supervisor: the kernel ends all when that one ends."""

    def __init__(self, house: House) -> None:
        self._user, self._group = os.getuid(), os.getgid()
        self._shown = shown_among_own(house)

    def enter(self) -> None:
        """Take possession of the namespaces that this process was started in, and see only what is in them."""
        with step("naming the user of a namespace"):
            identity.map_users(self._user, self._group)
        with step("naming the machine"):
            socket.sethostname("tool")
        with step("showing the call's own processes"):
            _mount_proc()

    def furnish(self, job: Job) -> str:
        """Mount the work folder and its like, which share the room that there is."""
        disk = job.bounds.disk
        mounts.scratch(OWN_FILES, size=disk, files=max(_FEWEST_FILES, disk // _BYTES_A_FILE), mode="700")
        shown = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in self._shown}
        for place in OWN_PLACES:
            part = OWN_FILES + "/" + os.path.basename(place)  # noqa: PTH119 -- in the way of every call
            os.mkdir(part, 0o700)  # noqa: PTH102 -- the same
            mounts.bind_as_is(part, place)
        with step(f"leaving '{OWN_FILES}'"):
            syscalls.unmount(OWN_FILES)
        for path, descriptor in shown.items():
            source = f"/proc/self/fd/{descriptor}"
            mounts.make_place(source, path)
            mounts.bind_as_is(source, path)
            os.close(descriptor)
        return OWN_PLACES[0]

    def settle(self, job: Job) -> None:
        """Give up the rights over these namespaces."""
        with step("giving up capabilities"):
            syscalls.drop_capabilities()
        with step("limiting the number of processes"):
            # The supervisor is of the same namespace, and so counted.
            rlimits.lower(resource.RLIMIT_NPROC, job.bounds.processes + 1)

    def processes(self) -> list[int]:
        """Every process of this namespace but the first."""
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdecimal() and entry.name != "1"]

    def end_all(self) -> None:
        """End every process of this namespace but the first."""
        repeat_until_gone(_kill_all)

    def leave(self, job: Job) -> None:
        """Nothing is left to do: the kernel takes a namespace's files with its last process."""


def _mount_proc() -> None:
    for options in ("subset=pid", None):
        try:
            syscalls.mount("proc", "/proc", "proc", _PROC_FLAGS, options)
        except PermissionError:
            break
        except OSError as error:
            # Kernels before 5.8 do not know how to leave out what is not about processes.
            if options is None or error.errno != errno.EINVAL:
                raise
        else:
            return
    # Parts of the machine's own /proc are hidden, as in a container, and so the kernel does not show it anew.
    mounts.cover("/proc")
    mounts.seal("/proc")


def _kill_all() -> None:
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
