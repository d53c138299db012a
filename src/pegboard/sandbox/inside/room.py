"""A place for calls inside a house: each has its own user, files, processes and network."""

from __future__ import annotations

import errno
import os
import signal
import socket
from contextlib import suppress

from pegboard.sandbox.inside import identity, mounts, network, syscalls
from pegboard.sandbox.inside.house import OWN_FILES, OWN_PLACES, House, shown_among_own
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.steps import step

_PROC_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
# A file takes at least this much of the folder's share, be it empty.
_BYTES_A_FILE = 4096
_FEWEST_FILES = 64
_OWN = syscalls.NEWUSER | syscalls.NEWPID | syscalls.NEWNS | syscalls.NEWIPC | syscalls.NEWUTS


class Room:
    """Namespaces of the call's own, whose first process is the supervisor: the kernel ends all when that one ends."""

    def __init__(self, house: House) -> None:
        self._user, self._group = os.getuid(), os.getgid()
        self._shown = shown_among_own(house)
        # Where no filter keeps sockets from calls, no two calls share a network, be it an empty one.
        self._own_network = "seccomp" in house.without

    def namespaces(self, *, network: bool) -> int:
        """All kinds; but calls without network share an empty one, which none of them can make a socket for."""
        return _OWN | syscalls.NEWNET if network or self._own_network else _OWN

    def enter(self) -> str:
        """Where the call will work; all else waits until there is a confined process, which would copy it too."""
        return OWN_PLACES[0]

    def build(self) -> None:
        """Take possession of the namespaces that this process was started in, and mount the call's own files."""
        with step("naming the user of a namespace"):
            identity.map_users(self._user, self._group)
        with step("naming the machine"):
            socket.sethostname("tool")
        _mount_own_files(self._shown)
        with step("showing the call's own processes"):
            _mount_proc()

    def listen(self) -> socket.socket:
        """A socket on the loopback device of the call's own network."""
        with step("opening the call's own network"):
            return network.listen()

    def furnish(self, job: Job) -> str:
        """Give the call's own files the room that the job allows."""
        disk = job.bounds.disk
        files = max(_FEWEST_FILES, disk // _BYTES_A_FILE)
        mounts.resize(OWN_PLACES[0], size=disk, files=files)
        return OWN_PLACES[0]

    def most_processes(self, job: Job) -> int:
        """What the job allows, and the supervisor, which is of the same namespace and so counted."""
        return job.bounds.processes + 1

    def settle(self) -> None:
        """Give up the rights over these namespaces."""
        with step("giving up capabilities"):
            syscalls.drop_capabilities()

    def processes(self) -> list[int]:
        """Every process of this namespace but the first."""
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdecimal() and entry.name != "1"]

    def kill_all(self) -> None:
        """Kill every process of this namespace but the first."""
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)

    def leave(self, job: Job) -> None:
        """Nothing is left to do: the kernel takes a namespace's files with its last process."""


def _mount_own_files(shown: list[str]) -> None:
    """One folder for each place, which share the room that there is; what the house shows among them stays."""
    mounts.scratch(OWN_FILES, size=_FEWEST_FILES * _BYTES_A_FILE, files=_FEWEST_FILES, mode="700")
    with step(f"keeping {', '.join(shown)}"):
        kept = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in shown if path not in OWN_PLACES}
    for place in OWN_PLACES:
        if place in shown:
            continue  # a working_dir such as /tmp: the call's own files are in the other places
        part = f"{OWN_FILES}/{place.replace('/', '.')}"
        with step(f"making '{part}'"):
            os.mkdir(part, 0o700)
        mounts.bind_as_is(part, place)
    with step(f"leaving '{OWN_FILES}'"):
        syscalls.unmount(OWN_FILES)
    for path, descriptor in kept.items():
        source = f"/proc/self/fd/{descriptor}"
        mounts.make_place(source, path)
        mounts.bind_as_is(source, path)
        os.close(descriptor)


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
