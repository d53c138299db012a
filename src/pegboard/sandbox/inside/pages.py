"""The pages of memory that copies of this process write to, and how such a copy gets its own all at once.

They are much the same for all copies. The kernel would otherwise copy them one by one, each when it is first written
to, and so most of them while a call waits.
"""

from __future__ import annotations

import os
import resource
import struct
from collections.abc import Iterable, Iterator, Sequence

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.syscalls import Area

_PRESENT, _OF_A_FILE, _OF_ONE_PROCESS = 1 << 63, 1 << 61, 1 << 56
_PAGE = resource.getpagesize()
_FLAGS = struct.Struct("=Q")
_RANGE = struct.Struct("@PN")


class Pages:
    """Those pages; none where nothing is known of them."""

    def __init__(self, ranges: bytes = b"") -> None:
        self._ranges = ranges

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def take(self) -> bool:
        """Have them as this process's own, in the place of those that it shares; whether they were to be had."""
        try:
            syscalls.populate(self._ranges)
        except OSError:
            # Before Linux 6.13 no process could ask for many at once.
            return False
        return bool(self)


def pages_of(copy: int, areas: Sequence[Area]) -> Pages:
    """Those in these areas that a copy of this process has as its own by now; raises OSError where nobody may know."""
    pagemap = os.open(f"/proc/{copy}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    try:
        # All are looked at first: what this process writes to meanwhile looks as if it were the copy's.
        seen = [os.pread(pagemap, *_place_of(area)) for area in areas]
    finally:
        os.close(pagemap)
    return Pages(b"".join(_RANGE.pack(start, end - start) for start, end in _joined(_own(areas, seen))))


def _place_of(area: Area) -> tuple[int, int]:
    """How much the page map says of it, and where."""
    start, end = (address // _PAGE * _FLAGS.size for address in area)
    return end - start, start


def _own(areas: Sequence[Area], seen: Sequence[bytes]) -> Iterator[int]:
    for (start, _end), flags in zip(areas, seen, strict=True):
        for number, (page,) in enumerate(_FLAGS.iter_unpack(flags)):
            if page & _PRESENT and page & _OF_ONE_PROCESS and not page & _OF_A_FILE:
                yield start + number * _PAGE


def _joined(pages: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Where pages without a gap between them begin and end."""
    start = end = 0
    for page in pages:
        if page != end:
            if end:
                yield start, end
            start = page
        end = page + _PAGE
    if end:
        yield start, end
