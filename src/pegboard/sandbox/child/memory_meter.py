"""Measures how much memory the processes of one call use together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pegboard.sandbox.child import syscalls

_PAGE_TABLE_FIELDS = (b"VmPTE:",)
_RSS_FIELDS = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
_PSS_FIELDS = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
# To compute the PSS, the kernel walks all page tables of a process and cannot be interrupted: neither large tables nor
# many processes may take long. Beyond these limits a process is counted as if it shared nothing.
LARGE_TABLE_BYTES = 16 * 2**20
MAX_PSS_SECONDS = 1.0
# After a PSS measurement, pause for this many times its duration, but at most a second.
REST_FACTOR = 10
MAX_REST_SECONDS = 1.0


# What a socket may buffer for its peer by default; a process with few file descriptors is not charged for any.
_SOCKET_BUFFER_BYTES = 208 * 1024
_UNCHARGED_FDS = 16


class _MemoryUse(NamedTuple):
    """Memory of a process in bytes: page tables, estimated socket buffers, and its pages including shared ones."""

    tables: int
    buffers: int
    pages: int

    @property
    def own(self) -> int:
        """Memory that is not shared with other processes."""
        return self.tables + self.buffers


class MemoryMeter:
    """Checks repeatedly whether the processes of a call use more memory than the limit, without file-backed pages."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rested = 0.0

    def is_over(self, pids: Iterable[int], is_done: Callable[[], bool]) -> bool:
        """Return True if the processes exceed the limit; False if `is_done` returns True before that is known."""
        taken = {pid: _measure_process(pid) for pid in pids}
        # This sum is cheap, waits for no process, and is never too low: most calls need no exact measurement.
        if sum(one.own + one.pages for one in taken.values()) <= self._most:
            return False
        if sum(one.own for one in taken.values()) > self._most:
            return True
        start = time.monotonic()
        if start < self._rested:
            return False
        over = self._is_over_by_pss(taken, start + MAX_PSS_SECONDS, is_done)
        now = time.monotonic()
        self._rested = now + min(MAX_REST_SECONDS, REST_FACTOR * (now - start))
        return over

    def _is_over_by_pss(self, taken: dict[int, _MemoryUse], give_up: float, is_done: Callable[[], bool]) -> bool:
        total = 0
        for pid, one in taken.items():
            if is_done():
                return False
            is_short = one.tables <= LARGE_TABLE_BYTES and time.monotonic() < give_up
            total += one.own + (_measure_pss(pid) if is_short else one.pages)
        return total > self._most


def _measure_process(pid: int) -> _MemoryUse:
    status = _read_proc_file(f"/proc/{pid}/status")
    return _MemoryUse(
        _sum_fields(status, _PAGE_TABLE_FIELDS), _estimate_socket_buffers(pid), _sum_fields(status, _RSS_FIELDS)
    )


def _estimate_socket_buffers(pid: int) -> int:
    try:
        # Since Linux 6.2 the size of this folder is the number of file descriptors; before, the size is 0.
        descriptors = os.stat(f"/proc/{pid}/fd").st_size
    except OSError:
        return 0
    return max(0, descriptors - _UNCHARGED_FDS) * _SOCKET_BUFFER_BYTES


def _measure_pss(pid: int) -> int:
    """Return the PSS of a process in bytes: shared pages are divided between the processes that share them."""
    fairly = _read_proc_file(f"/proc/{pid}/smaps_rollup")
    # The status of a process that is not dumpable can still be read.
    return _sum_fields(fairly, _PSS_FIELDS) if fairly else _measure_process(pid).pages


def _sum_fields(text: bytes, names: tuple[bytes, ...]) -> int:
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(names))


def _read_proc_file(path: str) -> bytes:
    """Return the content of a file in /proc; empty if the process has ended or the file cannot be read."""
    try:
        return syscalls.read_file(path)
    except OSError:
        return b""
