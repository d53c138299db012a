"""Builds the read-only root file system of an environment, which contains only the named files, once for a zygote."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pegboard.sandbox.child import syscalls, user_identity
from pegboard.sandbox.child.job import WORK_FOLDER
from pegboard.sandbox.child.setup_steps import StepFailed, step

_NOSUID_NODEV = syscalls.ATTR_NOSUID | syscalls.ATTR_NODEV


def bind_mount(source: str, target: str, *, writable: bool = False) -> None:
    """Bind-mount the file or folder `source` at `target`: read-only unless writable, no set-uid bits or devices."""
    bind_recursive(source, target)
    with step(f"mounting '{target}'"):
        syscalls.restrict_mount(target, _NOSUID_NODEV if writable else _NOSUID_NODEV | syscalls.ATTR_RDONLY)


def bind_device(source: str, target: str) -> None:
    """Bind-mount the device `source` at `target`; it can be read and written, but its inode cannot be changed."""
    bind_recursive(source, target)
    with step(f"mounting '{target}'"):
        syscalls.restrict_mount(target, syscalls.ATTR_NOSUID | syscalls.ATTR_NOEXEC | syscalls.ATTR_RDONLY)


def bind_recursive(source: str, target: str) -> None:
    """Bind-mount `source` at `target` with all mounts below it."""
    with step(f"mounting '{target}'"):
        syscalls.mount(source, target, None, syscalls.MS_BIND | syscalls.MS_REC)


def mount_tmpfs(target: str, size: int, files: int, mode: str) -> None:
    """Mount a tmpfs that holds at most this many bytes and files."""
    with step(f"mounting an empty folder at '{target}'"):
        options = f"mode={mode},size={size},nr_inodes={files}"
        syscalls.mount("tmpfs", target, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, options)


def resize_tmpfs(target: str, size: int, files: int) -> None:
    """Change the limits of bytes and files of the tmpfs at `target`."""
    with step(f"resizing the tmpfs at '{target}' to {size} bytes"):
        flags = syscalls.MS_REMOUNT | syscalls.MS_NOSUID | syscalls.MS_NODEV
        syscalls.mount("tmpfs", target, None, flags, f"size={size},nr_inodes={files}")


def hide_path(target: str) -> None:
    """Hide `target` behind an empty folder or /dev/null; a folder must still be made read-only."""
    if os.path.isdir(target):
        mount_tmpfs(target, size=2**16, files=64, mode="755")
    else:
        bind_device("/dev/null", target)


def make_read_only(target: str) -> None:
    """Make the mount at `target` read-only, without the mounts below it."""
    with step(f"making '{target}' read-only"):
        syscalls.restrict_mount(target, _NOSUID_NODEV | syscalls.ATTR_RDONLY, below=False)


def create_mount_point(source: str, target: str) -> None:
    """Create an empty file or folder at `target`, of the same kind as `source`, as its mount point."""
    with step(f"creating the mount point '{target}'"):
        if stat.S_ISDIR(os.stat(source).st_mode):
            os.makedirs(target, exist_ok=True)
        elif not os.path.lexists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o666))


# Folders that each call has for itself; the first is its work folder.
CALL_FOLDERS = (WORK_FOLDER, "/tmp", "/dev/shm")  # noqa: S108 -- mounts of the call's own, which no other can reach
# Where these are mounted together temporarily.
CALL_FILES_MOUNT = "/.own"
# By their names in a call. The host's /dev/zero can be mapped as shared memory, which is not counted; /dev/full also
# reads as zeros.
DEVICES = {"null": "null", "zero": "full", "full": "full", "random": "random", "urandom": "urandom"}

_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
_ETC_FILES = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "ca-certificates",
    "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/tls/certs", "pki/tls/cert.pem", "pki/ca-trust/extracted",
)  # fmt: skip
_DEV_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
# CAP_SYS_CHROOT and CAP_SYS_ADMIN: needed in the own user namespace to join other namespaces.
_JOIN_CAPABILITIES = (18, 21)
# Where the old root is mounted while the new one is built.
_OLD_ROOT = "/.old"


class BindMount(NamedTuple):
    """A file or folder of the host, and its path in calls."""

    source: str
    target: str
    writable: bool


class ZygoteSpec(NamedTuple):
    """The environment that the calls of one zygote share, as sent by the server."""

    binds: Sequence[BindMount]
    masked: Sequence[str]
    python: bool
    modules: Sequence[str]
    allowed: Sequence[str]
    without: Sequence[str]
    prefixes: Sequence[str]

    @classmethod
    def read(cls, text: str) -> ZygoteSpec:
        """Parse the JSON spec."""
        fields: dict[str, Any] = json.loads(text)
        return cls(**fields)._replace(binds=[BindMount(*bind) for bind in fields["binds"]])

    def drop_masks(self) -> ZygoteSpec:
        """Return the spec without the hidden paths, which are not needed after the file system is built."""
        return self._replace(masked=())

    @property
    def namespaces(self) -> bool:
        """True if calls run in their own namespaces."""
        return "namespaces" not in self.without

    @property
    def has_template(self) -> bool:
        """True if a template process loads Python and its libraries, and forks itself into the namespaces of calls."""
        return self.namespaces and self.python


def build_rootfs(spec: ZygoteSpec) -> None:
    """Move this process to the namespaces, file system and user of the environment; raise StepFailed if that fails."""
    binds = _list_binds(spec)
    covered = list_hidden(spec)
    user = _create_namespaces()
    os.umask(0o022)
    _enter_new_root()
    _create_base_files(os.getuid() if user is None else user)
    _mount_all(binds, covered)
    with step("unmounting the former root"):
        syscalls.unmount(_OLD_ROOT)
        os.rmdir(_OLD_ROOT)
    make_read_only("/")
    if user is not None:
        with step(f"switching to the user {user}"):
            user_identity.switch_user(user)
        # Joining and leaving the namespaces of a call requires capabilities in both user namespaces.
        _create_user_namespace(syscalls.NEWNS)
        with step("dropping capabilities"):
            syscalls.drop_capabilities(*_JOIN_CAPABILITIES)
    _check_access(spec.binds)


def list_readable(spec: ZygoteSpec) -> tuple[str, ...]:
    """Return every path that calls may read from and execute."""
    shown = [bind.target for bind in _list_binds(spec)]
    if not spec.namespaces:
        return ("/proc/self", *(f"/dev/{name}" for name in sorted(set(DEVICES.values()))), *shown)
    whole = ("/etc", "/proc", "/dev")
    return (*whole, *(path for path in shown if not any(is_within(path, place) for place in whole)))


def list_writable(spec: ZygoteSpec) -> tuple[str, ...]:
    """Return every path that calls may write to, except their work folder."""
    own = CALL_FOLDERS[1:] if spec.namespaces else ()
    return (*own, "/dev/null", *(bind.target for bind in spec.binds if bind.writable))


def list_hidden(spec: ZygoteSpec) -> list[str]:
    """Return every path where files of the board would be visible; raise StepFailed if that is a whole bind mount."""
    needed = [os.path.realpath(path) for path in (os.path.dirname(os.__file__), *spec.prefixes)]
    found: set[str] = set()
    for masked in {os.path.realpath(path) for path in spec.masked if os.path.exists(path)}:
        for bind in _list_binds(spec):
            if is_within(masked, bind.source):
                found.add(bind.target + masked[len(bind.source) :])
            elif is_within(bind.source, masked) and not any(is_within(path, bind.source) for path in needed):
                raise StepFailed(f"mounting '{bind.target}': it is inside '{masked}', which belongs to the board")
    # A path inside another hidden path is hidden already.
    return [path for path in sorted(found) if not any(is_within(path, other) for other in found if other != path)]


def _create_namespaces() -> int | None:
    """Move this process to new namespaces; return the user to switch to after the file system is built, or None."""
    user = user_identity.find_tool_uid()
    shared = syscalls.NEWNS | syscalls.NEWNET
    if user is not None:
        try:
            syscalls.unshare(shared)
        except PermissionError:
            # This root lacks capabilities (as in a container), but can do what an ordinary user can.
            with step(f"switching to the user {user}"):
                user_identity.switch_user(user)
            user = None
    if user is None:
        _create_user_namespace(shared)
    with step("making mounts private to this process"):
        syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    return user


def _create_user_namespace(others: int = 0) -> None:
    """Create a user namespace, with other namespaces, in which this process has all capabilities."""
    own, group = os.getuid(), os.getgid()
    with step("creating namespaces"):
        syscalls.unshare(syscalls.NEWUSER | others)
    with step("writing the id maps of the user namespace"):
        user_identity.write_id_maps(own, group)


def _enter_new_root() -> None:
    # The mount point is free again once the root has changed; /proc exists everywhere.
    place = "/proc"
    mount_tmpfs(place, size=2**20, files=4096, mode="755")
    with step("changing the root"):
        os.mkdir(place + _OLD_ROOT)
        syscalls.pivot_root(place, place + _OLD_ROOT)
        os.chdir("/")


def _create_base_files(user: int) -> None:
    """Create the files of every environment: mount points for calls, devices, and the user database."""
    with step("creating the environment's own files"):
        for place in ("/proc", "/dev", "/etc", CALL_FILES_MOUNT, *CALL_FOLDERS):
            os.mkdir(place)
        for name, target in _DEV_LINKS.items():
            os.symlink(target, f"/dev/{name}")
        texts = {
            "passwd": f"root:x:0:0::/:/bin/false\ntool:x:{user}:{user}::{CALL_FOLDERS[0]}:/bin/sh\n",
            "group": f"root:x:0:\ntool:x:{user}:\n",
            "hosts": "127.0.0.1 localhost\n::1 localhost\n",
            "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        }
        for name, text in texts.items():
            with open(f"/etc/{name}", "w") as file:
                file.write(text)
        for link in _SYSTEM_FOLDERS:
            if os.path.islink(_OLD_ROOT + link):
                os.symlink(os.readlink(_OLD_ROOT + link), link)
    for name, device in DEVICES.items():
        create_mount_point(f"{_OLD_ROOT}/dev/{device}", "/dev/" + name)
        bind_device(f"{_OLD_ROOT}/dev/{device}", "/dev/" + name)
    bind_recursive(_OLD_ROOT + "/proc", "/proc")


def _mount_all(binds: Iterable[BindMount], covered: Iterable[str]) -> None:
    """Mount all paths, outer folders first, so that a bind mount inside a hidden folder stays visible."""
    places = [(_split_path(bind.target), 0, bind) for bind in binds] + [
        (_split_path(path), 1, path) for path in covered
    ]
    for _parts_of_it, _order, place in sorted(places, key=lambda place: place[:2]):
        if isinstance(place, BindMount):
            create_mount_point(_OLD_ROOT + place.source, place.target)
            bind_mount(_OLD_ROOT + place.source, place.target, writable=place.writable)
        else:
            hide_path(place)
    for path in covered:
        make_read_only(path)


def list_binds_in_call_folders(spec: ZygoteSpec) -> list[str]:
    """Return the bind mounts inside the folders that each call has for itself; their mounts must keep these visible."""
    return [bind.target for bind in spec.binds if any(is_within(bind.target, own) for own in CALL_FOLDERS)]


def _list_binds(spec: ZygoteSpec) -> list[BindMount]:
    """Return the bind mounts of the environment, and of the system's programs, libraries and their settings."""
    programs = [path for path in _SYSTEM_FOLDERS if os.path.isdir(path) and not os.path.islink(path)]
    settings = [path for path in (f"/etc/{name}" for name in _ETC_FILES) if os.path.exists(path)]
    named = {bind.target for bind in spec.binds}
    system = [BindMount(path, path, False) for path in (*programs, *settings) if path not in named]
    return [bind._replace(source=os.path.realpath(bind.source)) for bind in (*system, *spec.binds)]


def _check_access(binds: Iterable[BindMount]) -> None:
    for bind in binds:
        wanted, verb = (os.W_OK, "written to") if bind.writable else (os.R_OK, "read")
        if os.path.isdir(bind.target) and not os.access(bind.target, wanted | os.X_OK):
            raise StepFailed(
                f"'{bind.target}' cannot be {verb} by the user {os.getuid()}, as whom tools run: "
                f"{os.strerror(errno.EACCES)}; change its owner or its mode"
            )


def _split_path(path: str) -> tuple[str, ...]:
    return tuple(os.path.normpath(path).split("/"))


def is_within(path: str, folder: str) -> bool:
    """Return True if the path is the folder or inside it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
