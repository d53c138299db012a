"""System calls that the standard library does not provide; each function raises OSError if the kernel refuses."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8

_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS = 1, 4, 8
_PR_SET_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAPABILITY_VERSION = 0x20080522
# These have the same number on all machines.
_CLOSE_RANGE, _MOUNT_SETATTR = 436, 442
# These have different numbers on some machines; machines without an entry use the generic numbers.
_CLONE, _PIVOT_ROOT = {"x86_64": (56, 155)}.get(os.uname().machine, (220, 41))

libc = ctypes.CDLL(None, use_errno=True)
# Keeps the GIL: the child of a clone must return holding it.
_libc_with_gil = ctypes.PyDLL(None, use_errno=True)
libc.syscall.restype = _libc_with_gil.syscall.restype = ctypes.c_long
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
# Declared once, so that ctypes does not look them up in each call.
libc.setns.argtypes = [ctypes.c_int, ctypes.c_int]
libc.capset.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount `source` on `target`."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    check_syscall(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]))


def restrict_mount(target: str, attributes: int, *, below: bool = True) -> None:
    """Add attributes to the mount at `target`, and with `below` to all mounts below it; keep existing attributes."""
    wanted = _MountAttributes(set=attributes)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    path = ctypes.c_char_p(os.fsencode(target))
    flags = ctypes.c_uint(_AT_RECURSIVE if below else 0)
    check_syscall(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, ctypes.byref(wanted), size))


def unmount(target: str) -> None:
    """Detach the mount at `target` and all mounts below it."""
    check_syscall(libc.umount2(os.fsencode(target), _MNT_DETACH))


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of the file system, and mount the old root at `old`."""
    check_syscall(libc.syscall(_PIVOT_ROOT, ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old))))


def unshare(flags: int) -> None:
    """Move this process to new namespaces."""
    check_syscall(libc.unshare(flags))


def clone(flags: int) -> int:
    """Fork into new namespaces: return 0 in the child, the pid of the child in the parent.

    Fork handlers of Python and its libraries are not run: they are for processes with threads, and would write to
    hundreds of pages. A child that runs any code but Pegboard's is forked by os.fork().
    """
    pid = int(_libc_with_gil.syscall(_CLONE, ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None))
    if pid < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return pid


def join_namespaces(process: int, namespaces: int) -> None:
    """Enter these namespaces of the process of this pidfd; a pid namespace applies only to future children."""
    check_syscall(libc.setns(process, namespaces))


def close_fds_from(first: int) -> None:
    """Close every file descriptor from this one on."""
    check_syscall(libc.syscall(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(2**32 - 1), 0))


def write_file(path: str, text: str) -> None:
    """Write a file of /proc; without a file object, which would write to far more memory pages."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def read_file(path: str) -> bytes:
    """Return the content of a file of /proc."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while piece := os.read(descriptor, 2**16):
            content += piece
        return content
    finally:
        os.close(descriptor)


def rename_process(name: str) -> None:
    """Overwrite the command line of this process with a name."""
    start, end = map(int, read_file("/proc/self/stat").rpartition(b")")[2].split()[45:47])
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, name.encode(), min(len(name), end - start))
    sys.argv[:] = sys.orig_argv[:] = [name]


def set_dumpable(dumpable: bool) -> None:
    """Set whether processes of the same user may inspect this one."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def die_with_parent(ending: bool = True) -> None:
    """Make the kernel kill this process when its parent ends, until the next change of user; or disable that."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if ending else 0)


def become_subreaper() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Set no_new_privs: no program that this process executes can gain privileges."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def keep_capabilities() -> None:
    """Keep the permitted capabilities at the next change of user."""
    _prctl(_PR_SET_KEEPCAPS, 1)


def drop_capabilities(*kept: int) -> None:
    """Drop every capability except these, which executed programs inherit."""
    bits = sum(1 << capability for capability in kept)
    header = struct.pack("=2I", _CAPABILITY_VERSION, 0)
    # Effective, permitted and inheritable: the low 32 bits of each, then the high 32 bits.
    check_syscall(libc.capset(header, struct.pack("=6I", bits, bits, bits, 0, 0, 0)))
    for capability in kept:
        check_syscall(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0))


def _prctl(option: int, value: int) -> None:
    check_syscall(libc.prctl(option, value, 0, 0, 0))


def check_syscall(result: int) -> int:
    """Return the result of a C library function; raise OSError if it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
