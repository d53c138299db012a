"""How much memory the processes of one call take together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pegboard.sandbox.inside import syscalls

_TABLE_FIELDS = (b"VmPTE:",)
_RSS_FIELDS = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
_PSS_FIELDS = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
# The kernel divides pages by walking all of a process's page tables, which nothing can stop: neither many of them nor
# many processes may take long. Whoever has more of them is counted as if it shared nothing.
_LARGE_TABLES = 16 * 2**20
_CLOSE_LOOK_SECONDS = 1.0
# After a close look, so many times what it took is rested, but no longer than a second.
_REST = 10
_MOST_REST_SECONDS = 1.0


# What a socket may hold for its peer, unless asked for more; a process that has few descriptors is not charged for any.
_BUFFER = 208 * 1024
_FREE_DESCRIPTORS = 16


class _Taken(NamedTuple):
    """Bytes of a process: its page tables, what its sockets may hold, and its pages with those that others share."""

    tables: int
    buffers: int
    pages: int

    @property
    def own(self) -> int:
        """What is shared with no other process."""
        return self.tables + self.buffers


class Meter:
    """Tells, time after time, whether the processes of a call have more memory in use than they may, files aside."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rested = 0.0

    def is_over(self, pids: Iterable[int], is_done: Callable[[], bool]) -> bool:
        """Whether they have more bytes than the limit; no where `is_done` says that nobody needs to know any more."""
        taken = {pid: _taken(pid) for pid in pids}
        # Cheap, waits for no process, and is never too low: most calls need no closer look.
        if sum(one.own + one.pages for one in taken.values()) <= self._most:
            return False
        if sum(one.own for one in taken.values()) > self._most:
            return True
        start = time.monotonic()
        if start < self._rested:
            return False
        over = self._is_over_by_shares(taken, start + _CLOSE_LOOK_SECONDS, is_done)
        now = time.monotonic()
        self._rested = now + min(_MOST_REST_SECONDS, _REST * (now - start))
        return over

    def _is_over_by_shares(self, taken: dict[int, _Taken], give_up: float, is_done: Callable[[], bool]) -> bool:
        total = 0
        for pid, one in taken.items():
            if is_done():
                return False
            is_short = one.tables <= _LARGE_TABLES and time.monotonic() < give_up
            total += one.own + (_share(pid) if is_short else one.pages)
        return total > self._most


def _taken(pid: int) -> _Taken:
    status = _read(f"/proc/{pid}/status")
    return _Taken(_sum(status, _TABLE_FIELDS), _buffers(pid), _sum(status, _RSS_FIELDS))


def _buffers(pid: int) -> int:
    try:
        # Since Linux 6.2 the size of this folder is the number of descriptors; before, nothing is known of them.
        descriptors = os.stat(f"/proc/{pid}/fd").st_size
    except OSError:
        return 0
    return max(0, descriptors - _FREE_DESCRIPTORS) * _BUFFER


def _share(pid: int) -> int:
    """Bytes of a process's pages, each that several share divided between them."""
    fairly = _read(f"/proc/{pid}/smaps_rollup")
    # A process that nobody may look into still has its status read.
    return _sum(fairly, _PSS_FIELDS) if fairly else _taken(pid).pages


def _sum(text: bytes, names: tuple[bytes, ...]) -> int:
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(names))


def _read(path: str) -> bytes:
    """What a file says: nothing where the process it is about has ended or hides."""
    try:
        return syscalls.read(path)
    except OSError:
        return b""
