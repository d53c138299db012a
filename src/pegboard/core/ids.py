"""Identifiers that sort by the time they were made."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# How far the ids of a process may run ahead of its clock, so that they increase although it was set back a little.
AHEAD = timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _maker(clock: Callable[[], int] = time.time_ns) -> Callable[[], str]:
    last = 0
    # In 4096ths of a millisecond: 48 bits of milliseconds and 12 finer ones, so that ids of one process increase.
    ahead = int(AHEAD / timedelta(milliseconds=1)) << 12
    bits = random.Random().getrandbits  # noqa: S311 -- unique, not secret: keys come from `secrets`

    def new_id() -> str:
        """A UUID of version 7, later than any this process made before unless its clock was set back by more."""
        nonlocal last
        stamp = (clock() << 12) // 1_000_000
        # A clock that jumped is followed: an id must never be far from its time, and chance keeps it unique.
        if stamp <= last <= stamp + ahead:
            stamp = last + 1
        last = stamp
        text = f"{stamp >> 12:012x}7{stamp & 0xFFF:03x}{1 << 63 | bits(62):016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    return new_id


new_id = _maker()


def first_id(moment: datetime) -> str:
    """The id that no id made at this moment or later comes before."""
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1)
    text = f"{min(max(milliseconds, 0), 2**48 - 1):012x}"
    return f"{text[:8]}-{text[8:]}-7000-8000-000000000000"
