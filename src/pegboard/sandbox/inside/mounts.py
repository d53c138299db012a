"""Mounts, as the house and each call need them."""

from __future__ import annotations

import os
import stat

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.steps import step

_GUARDED = syscalls.ATTR_NOSUID | syscalls.ATTR_NODEV


def bind(source: str, target: str, *, writable: bool = False) -> None:
    """Show `source`, a file or a folder, at `target`: read-only unless writable, without set-uid bits or devices."""
    with step(f"showing '{target}'"):
        _mount_bind(source, target)
        syscalls.restrict_mount(target, _GUARDED if writable else _GUARDED | syscalls.ATTR_RDONLY)


def bind_device(source: str, target: str) -> None:
    """Show the device `source` at `target`, to be read and written but not changed itself."""
    with step(f"showing '{target}'"):
        _mount_bind(source, target)
        syscalls.restrict_mount(target, syscalls.ATTR_NOSUID | syscalls.ATTR_NOEXEC | syscalls.ATTR_RDONLY)


def bind_as_is(source: str, target: str) -> None:
    """Show `source` at `target` with all that is mounted in it."""
    with step(f"showing '{target}'"):
        syscalls.mount(source, target, None, syscalls.MS_BIND | syscalls.MS_REC)


def scratch(target: str, size: int, files: int, mode: str) -> None:
    """Mount an empty folder that holds at most so many bytes and files, in memory."""
    with step(f"mounting an empty folder at '{target}'"):
        options = f"mode={mode},size={size},nr_inodes={files}"
        syscalls.mount("tmpfs", target, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, options)


def resize(target: str, size: int, files: int) -> None:
    """Change how many bytes and files the folder in memory at `target` may hold."""
    with step(f"giving '{target}' {size} bytes"):
        flags = syscalls.MS_REMOUNT | syscalls.MS_NOSUID | syscalls.MS_NODEV
        syscalls.mount("tmpfs", target, None, flags, f"size={size},nr_inodes={files}")


def cover(target: str) -> None:
    """Hide what is at `target` behind something empty, a folder of which is still to be sealed."""
    if os.path.isdir(target):
        scratch(target, size=2**16, files=64, mode="755")
    else:
        bind_device("/dev/null", target)


def seal(target: str) -> None:
    """Make the mount at `target`, and only that one, read-only."""
    with step(f"making '{target}' read-only"):
        syscalls.restrict_mount(target, _GUARDED | syscalls.ATTR_RDONLY, below=False)


def make_place(source: str, target: str) -> None:
    """An empty file or folder at `target`, as `source` is one, for it to be mounted on."""
    with step(f"making a place for '{target}'"):
        if stat.S_ISDIR(os.stat(source).st_mode):
            os.makedirs(target, exist_ok=True)
        elif not os.path.lexists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o666))


def _mount_bind(source: str, target: str) -> None:
    syscalls.mount(source, target, None, syscalls.MS_BIND | syscalls.MS_REC)
