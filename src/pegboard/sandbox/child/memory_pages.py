"""Records the memory pages that forks of this process write to, and populates them in a fork all at once.

They are nearly the same in all forks. Otherwise the kernel copies them one by one on the first write, mostly while a
call waits.
"""

from __future__ import annotations

import os
import resource
import struct
from collections.abc import Iterable, Iterator, Sequence

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.syscalls import MemoryRange

_PRESENT, _OF_A_FILE, _OF_ONE_PROCESS = 1 << 63, 1 << 61, 1 << 56
_PAGE = resource.getpagesize()
_FLAGS = struct.Struct("=Q")
_RANGE = struct.Struct("@PN")


class Pages:
    """The ranges of those pages; empty if they are unknown."""

    def __init__(self, ranges: bytes = b"") -> None:
        self._ranges = ranges

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def take(self) -> bool:
        """Populate the pages as private copies of this process; False if that is impossible or there are none."""
        try:
            syscalls.populate_pages(self._ranges)
        except OSError:
            # Before Linux 6.13, a process cannot populate several ranges with one call.
            return False
        return bool(self)


def pages_of(copy: int, areas: Sequence[MemoryRange]) -> Pages:
    """Return the pages in these ranges that are private to this fork; raise OSError if its pagemap cannot be read."""
    pagemap = os.open(f"/proc/{copy}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Read all flags first: pages that this process writes to in between look as if they were private to the fork.
        seen = [os.pread(pagemap, *_place_of(area)) for area in areas]
    finally:
        os.close(pagemap)
    return Pages(b"".join(_RANGE.pack(start, end - start) for start, end in _joined(_own(areas, seen))))


def _place_of(area: MemoryRange) -> tuple[int, int]:
    """Return length and offset of the range in the pagemap."""
    start, end = (address // _PAGE * _FLAGS.size for address in area)
    return end - start, start


def _own(areas: Sequence[MemoryRange], seen: Sequence[bytes]) -> Iterator[int]:
    for (start, _end), flags in zip(areas, seen, strict=True):
        for number, (page,) in enumerate(_FLAGS.iter_unpack(flags)):
            if page & _PRESENT and page & _OF_ONE_PROCESS and not page & _OF_A_FILE:
                yield start + number * _PAGE


def _joined(pages: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each contiguous run of pages."""
    start = end = 0
    for page in pages:
        if page != end:
            if end:
                yield start, end
            start = page
        end = page + _PAGE
    if end:
        yield start, end
