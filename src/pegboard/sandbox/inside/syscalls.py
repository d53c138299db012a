"""What the kernel offers and the standard library does not; each raises OSError where the kernel refuses."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import struct
import sys
from collections.abc import Collection
from contextlib import suppress

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8

_MNT_DETACH = 2
_MADV_POPULATE_WRITE, _MADV_COLLAPSE, _HUGE = 23, 25, 2**21
# The most ranges of memory that the kernel takes at once, and the size of one.
_IOV_MAX, _IOVEC = 1024, 16
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS = 1, 4, 8
_PR_SET_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAPABILITY_VERSION = 0x20080522
# These have the same number everywhere.
_PIDFD_OPEN, _CLOSE_RANGE, _PROCESS_MADVISE, _MOUNT_SETATTR = 434, 436, 440, 442
# These have numbers of their own on each machine; those without an entry share the generic ones.
_CLONE, _PIVOT_ROOT, _SCHED_SETATTR = {"x86_64": (56, 155, 314)}.get(os.uname().machine, (220, 41, 274))
# Who asks for a turn as long as this is interrupted by whoever asks for less, as all do that ask for nothing.
_TURN_NANOSECONDS = 20_000_000

libc = ctypes.CDLL(None, use_errno=True)
# Does not let go of the interpreter's lock: the child of a clone must come back holding it.
_held = ctypes.PyDLL(None, use_errno=True)
libc.syscall.restype = _held.syscall.restype = ctypes.c_long
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
# What is named here is looked up once, and not in each call.
libc.setns.argtypes = [ctypes.c_int, ctypes.c_int]
libc.capset.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


# Where it begins and ends.
Area = tuple[int, int]


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount `source` on `target`."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    check(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]))


def restrict_mount(target: str, attributes: int, *, below: bool = True) -> None:
    """Add attributes to the mount at `target`, and to all below it; those it has already stay."""
    wanted = _MountAttributes(set=attributes)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    path = ctypes.c_char_p(os.fsencode(target))
    flags = ctypes.c_uint(_AT_RECURSIVE if below else 0)
    check(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, ctypes.byref(wanted), size))


def unmount(target: str) -> None:
    """Take the mount at `target` and all below it out of sight."""
    check(libc.umount2(os.fsencode(target), _MNT_DETACH))


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of the file system; the former one is found at `old`."""
    check(libc.syscall(_PIVOT_ROOT, ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old))))


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    check(libc.unshare(flags))


def clone(flags: int) -> int:
    """Fork into new namespaces: 0 in the child, the child's process id in the parent.

    What Python and its libraries do after a fork is left out: it is for processes with threads, and would write to
    hundreds of pages. A child that is to run anything but code of ours is forked by os.fork().
    """
    pid = int(_held.syscall(_CLONE, ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None))
    if pid < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return pid


def fork() -> int:
    """Fork as the C library does: 0 in the child, the child's process id in the parent.

    What Python does after a fork is left out, and so this is for processes without threads.
    """
    return check(_held.fork())


def join(process: int, namespaces: int) -> None:
    """Move into these namespaces of the process that the descriptor names; only children do so for those of pids."""
    check(libc.setns(process, namespaces))


def pidfd_open(pid: int) -> int:
    """A descriptor that has something to say once that process has ended."""
    return check(libc.syscall(_PIDFD_OPEN, pid, 0))


def close_from(first: int) -> None:
    """Close every descriptor from this one on."""
    check(libc.syscall(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(2**32 - 1), 0))


def write(path: str, text: str) -> None:
    """Tell the kernel something through one of its files; a file object would touch much more of memory."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def read(path: str) -> bytes:
    """What one of the kernel's files says."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        said = b""
        while piece := os.read(descriptor, 2**16):
            said += piece
        return said
    finally:
        os.close(descriptor)


def lower_priority(steps: int) -> None:
    """Be nicer by so many steps; from Linux 6.12 on, nor do others have to wait until its turn is over."""
    wanted = struct.pack("=IIQiIQQQ", 48, os.sched_getscheduler(0), 0, os.nice(steps), 0, _TURN_NANOSECONDS, 0, 0)
    libc.syscall(_SCHED_SETATTR, 0, ctypes.c_char_p(wanted), 0)


def run_on(processors: Collection[int]) -> None:
    """Run on these processors, and on no others; where they are taken away, on those that the kernel chose instead."""
    with suppress(OSError):
        if os.sched_getaffinity(0) != set(processors):
            os.sched_setaffinity(0, processors)


def freeze() -> None:
    """Have Python leave what is in memory as it is, and the kernel keep that in large pages."""
    gc.collect()
    gc.freeze()
    enlarge_pages()


def enlarge_pages() -> None:
    """Have memory in few large pages instead of many small ones where the kernel is willing to.

    A fork copies a table with an entry for each; a page that is written to while others share it is split again.
    """
    for start, end in writable_memory():
        for place in range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
            libc.madvise(place, _HUGE, _MADV_COLLAPSE)


def writable_memory() -> list[Area]:
    """The areas of memory that this process may write to, unseen by others."""
    areas = []
    for line in read("/proc/self/maps").splitlines():
        where, rights, *_others = line.split()
        if rights == b"rw-p":
            start, end = (int(address, 16) for address in where.split(b"-"))
            areas.append((start, end))
    return areas


def populate(ranges: bytes) -> None:
    """Have pages of its own for this process in these ranges of memory, as if it had written to them."""
    myself = os.pidfd_open(os.getpid())
    try:
        for first in range(0, len(ranges), _IOV_MAX * _IOVEC):
            some = ranges[first : first + _IOV_MAX * _IOVEC]
            count = ctypes.c_size_t(len(some) // _IOVEC)
            check(libc.syscall(_PROCESS_MADVISE, myself, ctypes.c_char_p(some), count, _MADV_POPULATE_WRITE, 0))
    finally:
        os.close(myself)


def rename(name: str) -> None:
    """Put a name in the place of this process's arguments."""
    start, end = map(int, read("/proc/self/stat").rpartition(b")")[2].split()[45:47])
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, name.encode(), min(len(name), end - start))
    sys.argv[:] = sys.orig_argv[:] = [name]


def set_dumpable(dumpable: bool) -> None:
    """Say whether processes of the same user may look into this one."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def end_with_parent(ending: bool = True) -> None:
    """Have the kernel kill this process when its parent ends, until the next change of user, or no longer."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if ending else 0)


def become_subreaper() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Make sure that nothing this process executes can gain privileges."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def keep_capabilities() -> None:
    """Let the next change of user leave the capabilities that are permitted."""
    _prctl(_PR_SET_KEEPCAPS, 1)


def drop_capabilities(*kept: int) -> None:
    """Give up every capability but these, which programs that are executed get too."""
    bits = sum(1 << capability for capability in kept)
    header = struct.pack("=2I", _CAPABILITY_VERSION, 0)
    # Effective, permitted and inheritable ones, the first 32 of each and then the rest.
    check(libc.capset(header, struct.pack("=6I", bits, bits, bits, 0, 0, 0)))
    for capability in kept:
        check(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0))


def _prctl(option: int, value: int) -> None:
    check(libc.prctl(option, value, 0, 0, 0))


def check(result: int) -> int:
    """What a function of the C library gave; raises OSError where that says that it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
