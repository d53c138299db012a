"""Isolates each call in its own user, mount, pid, IPC, UTS and, if needed, network namespace."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import struct
from contextlib import suppress

from pegboard.sandbox.child import rootfs, syscalls, user_identity
from pegboard.sandbox.child.isolation import has_ended, reap_children
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.pid1 import Pid1
from pegboard.sandbox.child.rootfs import CALL_FILES_MOUNT, CALL_FOLDERS, ZygoteSpec, list_binds_in_call_folders
from pegboard.sandbox.child.setup_steps import step

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_LISTEN_BACKLOG = 64


def open_loopback_listener() -> socket.socket:
    """Return a listening socket on the loopback device of this network namespace, after enabling the device."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name, flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16s16x", b"lo")))
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", name, flags | _IFF_UP))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(_LISTEN_BACKLOG)
    return listener


_PROC_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
# Every file counts at least this much against the folder's limit, even if it is empty.
_BYTES_PER_FILE = 4096
_MIN_FILES = 64
_CALL_NAMESPACES = syscalls.NEWUSER | syscalls.NEWPID | syscalls.NEWNS | syscalls.NEWIPC | syscalls.NEWUTS


class NamespaceIsolation:
    """The namespaces of a call; when pid 1 ends, the kernel kills all other processes. The supervisor stays outside."""

    def __init__(self, spec: ZygoteSpec) -> None:
        self.first = -1
        self._pid1: Pid1 | None = None
        self._user, self._group = os.getuid(), os.getgid()
        self._shown = list_binds_in_call_folders(spec)
        # Without the seccomp filter calls can create sockets, so each call gets its own network namespace.
        self._has_own_network = "seccomp" in spec.without

    def open(self, *, network: bool) -> str:
        """Start pid 1 of new namespaces."""
        with step("creating namespaces"):
            self._pid1 = Pid1(self._select_namespaces(network))
            self.first = os.pidfd_open(self._pid1.pid)
        return CALL_FOLDERS[0]

    def enter_for_children(self, first: int) -> None:
        """Put future children in the pid namespace, which a running process cannot enter itself."""
        syscalls.join_namespaces(first, syscalls.NEWPID)

    def follow(self, first: int, *, network: bool) -> None:
        """Enter the other namespaces, and mount the call's own files there."""
        with step("joining namespaces"):
            syscalls.join_namespaces(first, self._select_namespaces(network) & ~syscalls.NEWPID)
        with step("writing the id maps of the user namespace"):
            user_identity.write_id_maps(self._user, self._group)
        with step("setting the host name"):
            socket.sethostname("tool")
        _mount_call_files(self._shown)
        with step("mounting the call's own /proc"):
            _mount_proc()

    def hide_process(self) -> None:
        """Enter the mount namespace of the call, and make this process and pid 1 unreadable to others."""
        syscalls.join_namespaces(self.first, syscalls.NEWNS)
        syscalls.set_dumpable(False)
        if self._pid1 is not None:
            self._pid1.hide()

    def listen(self) -> socket.socket:
        """Return a socket on the loopback device of the call's network namespace, in which this process stays."""
        with step("opening the call's network"):
            syscalls.join_namespaces(self.first, syscalls.NEWNET)
            return open_loopback_listener()

    def prepare_folder(self, job: Job) -> None:
        """Set the size limits of the call's files to those of the job."""
        disk = job.bounds.disk
        files = max(_MIN_FILES, disk // _BYTES_PER_FILE)
        rootfs.resize_tmpfs(CALL_FOLDERS[0], size=disk, files=files)

    def max_processes(self, job: Job) -> int:
        """Return the limit of the job plus one for pid 1, which counts in the same namespace."""
        return job.bounds.processes + 1

    def settle(self) -> None:
        """Drop the capabilities over these namespaces."""
        with step("dropping capabilities"):
            syscalls.drop_capabilities()

    def processes(self) -> list[int]:
        """Return every pid of this namespace except 1."""
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdecimal() and entry.name != "1"]

    def kill_all(self) -> None:
        """Kill pid 1; the kernel kills all others."""
        if self.first >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)

    def is_empty(self, within: float) -> bool:
        """Return True if pid 1 has ended, which it does after all other processes are reaped, some by this process."""
        reap_children()
        return self.first < 0 or has_ended(self.first, within)

    def remove_files(self, job: Job) -> None:
        """Do nothing: the kernel removes the files with the last process of the namespaces."""

    def _select_namespaces(self, network: bool) -> int:
        """Return the namespaces to create; calls without network share an empty network namespace without sockets."""
        return _CALL_NAMESPACES | syscalls.NEWNET if network or self._has_own_network else _CALL_NAMESPACES


def _mount_call_files(shown: list[str]) -> None:
    """Mount one folder for each of CALL_FOLDERS, with a common size limit; keep binds of the environment in them."""
    rootfs.mount_tmpfs(CALL_FILES_MOUNT, size=_MIN_FILES * _BYTES_PER_FILE, files=_MIN_FILES, mode="700")
    with step(f"opening {', '.join(shown)}"):
        kept = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in shown if path not in CALL_FOLDERS}
    for place in CALL_FOLDERS:
        if place in shown:
            continue  # a working_dir such as /tmp: the call's own files are in the other folders
        part = f"{CALL_FILES_MOUNT}/{place.replace('/', '.')}"
        with step(f"creating '{part}'"):
            os.mkdir(part, 0o700)
        rootfs.bind_recursive(part, place)
    with step(f"unmounting '{CALL_FILES_MOUNT}'"):
        syscalls.unmount(CALL_FILES_MOUNT)
    for path, descriptor in kept.items():
        source = f"/proc/self/fd/{descriptor}"
        rootfs.create_mount_point(source, path)
        rootfs.bind_recursive(source, path)
        os.close(descriptor)


def _mount_proc() -> None:
    for options in ("subset=pid", None):
        try:
            syscalls.mount("proc", "/proc", "proc", _PROC_FLAGS, options)
        except PermissionError:
            break
        except OSError as error:
            # Kernels before 5.8 do not support the option subset=pid.
            if options is None or error.errno != errno.EINVAL:
                raise
        else:
            return
    # Parts of the host's /proc are masked, as in a container, so the kernel does not allow a new mount of it.
    rootfs.hide_path("/proc")
    rootfs.make_read_only("/proc")
