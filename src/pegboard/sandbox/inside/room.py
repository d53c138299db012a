"""A place for calls inside a house: each has its own user, files, processes and network."""

from __future__ import annotations

import errno
import os
import signal
import socket
from contextlib import suppress

from pegboard.sandbox.inside import identity, mounts, network, syscalls
from pegboard.sandbox.inside.first import life
from pegboard.sandbox.inside.house import OWN_FILES, OWN_PLACES, House, shown_among_own
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.place import all_reaped, has_ended
from pegboard.sandbox.inside.steps import step

_PROC_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
# A file takes at least this much of the folder's share, be it empty.
_BYTES_A_FILE = 4096
_FEWEST_FILES = 64
_OWN = syscalls.NEWUSER | syscalls.NEWPID | syscalls.NEWNS | syscalls.NEWIPC | syscalls.NEWUTS


class Room:
    """Namespaces of the call's own, whose first process the kernel ends all others with; its supervisor is outside."""

    def __init__(self, house: House) -> None:
        # The first process, what it lives by, and the namespaces of files that the call has and this process came from.
        self.first = self._held = self._inside = self._outside = -1
        self._life = life()
        self._user, self._group = os.getuid(), os.getgid()
        self._shown = shown_among_own(house)
        # Where no filter keeps sockets from calls, no two calls share a network, be it an empty one.
        self._own_network = "seccomp" in house.without

    def open(self, *, network: bool) -> str:
        """Begin the first process of new namespaces."""
        with step("making namespaces"):
            # However this process ends, the kernel closes its end of this.
            reading, self._held = os.pipe()
            first = self._life.begin(self._namespaces(network), reading, self._held)
            os.close(reading)
            self.first = syscalls.pidfd_open(first)
        return OWN_PLACES[0]

    def lead(self, first: int) -> None:
        """Have children in the namespace of processes, the only one that nobody can move to later."""
        syscalls.join(first, syscalls.NEWPID)

    def follow(self, first: int, *, network: bool) -> None:
        """Move to the other namespaces too, and mount the call's own files there."""
        with step("joining namespaces"):
            syscalls.join(first, self._namespaces(network) & ~syscalls.NEWPID)
        with step("naming the user of a namespace"):
            identity.map_users(self._user, self._group)
        with step("naming the machine"):
            socket.sethostname("tool")
        _mount_own_files(self._shown)
        with step("showing the call's own processes"):
            _mount_proc()

    def hide(self) -> None:
        """Have nobody look into this process and the first; the call's files this process will see all the same."""
        # Through itself: in the call's own /proc it is not, and in others the first may have another number.
        myself = os.open("/proc/self", os.O_PATH | os.O_CLOEXEC)
        self._outside = os.open("ns/mnt", os.O_RDONLY | os.O_CLOEXEC, dir_fd=myself)
        syscalls.join(self.first, syscalls.NEWNS)
        self._inside = os.open("ns/mnt", os.O_RDONLY | os.O_CLOEXEC, dir_fd=myself)
        syscalls.join(self._outside, syscalls.NEWNS)
        os.close(myself)
        syscalls.set_dumpable(False)
        self._life.hide(self._held)

    def listen(self) -> socket.socket:
        """A socket on the loopback device of the call's own network, where this process stays."""
        with step("opening the call's own network"):
            syscalls.join(self.first, syscalls.NEWNET)
            return network.listen()

    def furnish(self, job: Job) -> str:
        """Give the call's own files the room that the job allows, and see them and its processes from now on."""
        with step("joining namespaces"):
            syscalls.join(self._inside, syscalls.NEWNS)
        disk = job.bounds.disk
        files = max(_FEWEST_FILES, disk // _BYTES_A_FILE)
        mounts.resize(OWN_PLACES[0], size=disk, files=files)
        return OWN_PLACES[0]

    def most_processes(self, job: Job) -> int:
        """What the job allows, and the first one, which is of the same namespace and so counted."""
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
        """Kill the first process, and the kernel all others."""
        if self.first >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)

    def is_empty(self, within: float) -> bool:
        """Whether the first process has ended: it does when all others are reaped, be it by this process."""
        all_reaped()
        return self.first < 0 or has_ended(self.first, within)

    def close(self, job: Job | None) -> None:
        """Leave these namespaces: the kernel takes their files with the last process."""
        if self._outside >= 0:
            syscalls.join(self._outside, syscalls.NEWNS)
        if self.first >= 0:
            with suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, self.first, os.WEXITED | os.WNOHANG)
        for descriptor in (self._outside, self._inside, self._held, self.first):
            if descriptor >= 0:
                os.close(descriptor)
        self._outside = self._inside = self._held = self.first = -1

    def _namespaces(self, network: bool) -> int:
        """All kinds; but calls without network share an empty one, which none of them can make a socket for."""
        return _OWN | syscalls.NEWNET if network or self._own_network else _OWN


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
