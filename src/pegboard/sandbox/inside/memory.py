"""How much memory the processes of one call take together."""

from __future__ import annotations

import os
from collections.abc import Iterable

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SHARED_FAIRLY = (b"Pss_Anon:", b"Pss_Shmem:")
_SHARED_TWICE = (b"RssAnon:", b"RssShmem:")


def is_over(pids: Iterable[int], limit: int) -> bool:
    """Whether these processes together have more bytes of memory in use than the limit, files aside."""
    pids = list(pids)
    # Cheap, and never too low: most calls need no closer look.
    if sum(map(_resident, pids)) <= limit:
        return False
    return sum(map(_own, pids)) > limit


def _resident(pid: int) -> int:
    return int(_read(f"/proc/{pid}/statm", b"0 0").split()[1]) * _PAGE


def _own(pid: int) -> int:
    """Bytes of memory of a process, a page that several share divided between them."""
    fairly = _read(f"/proc/{pid}/smaps_rollup", b"")
    if fairly:
        return _sum(fairly, _SHARED_FAIRLY)
    # A process that nobody may look into still has its status read.
    return _sum(_read(f"/proc/{pid}/status", b""), _SHARED_TWICE)


def _sum(text: bytes, names: tuple[bytes, ...]) -> int:
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(names))


def _read(path: str, otherwise: bytes) -> bytes:
    """What a file says, or something else where the process it is about has ended or hides."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return otherwise
    try:
        return os.read(descriptor, 65536) or otherwise
    except OSError:
        return otherwise
    finally:
        os.close(descriptor)
