"""Ids that sort by the time of their creation."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# How far ids may be ahead of the clock, so that they increase although the clock was set back a little.
MAX_CLOCK_LEAD = timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def make_id_factory(clock: Callable[[], int] = time.time_ns) -> Callable[[], str]:
    """Return a function that creates ids at the time of `clock`, in nanoseconds since 1970."""
    last = 0
    # In units of 1/4096 ms: 48 bits of milliseconds and 12 bits of fraction, so that the ids of one process increase.
    ahead = int(MAX_CLOCK_LEAD / timedelta(milliseconds=1)) << 12
    bits = random.Random().getrandbits  # noqa: S311 -- unique, not secret: keys come from `secrets`

    def new_id() -> str:
        """Return a UUID version 7, greater than all earlier ones unless the clock was set back by more."""
        nonlocal last
        stamp = (clock() << 12) // 1_000_000
        # After a larger clock change follow the clock: an id must be near its time, and random bits keep it unique.
        if stamp <= last <= stamp + ahead:
            stamp = last + 1
        last = stamp
        text = f"{stamp >> 12:012x}7{stamp & 0xFFF:03x}{1 << 63 | bits(62):016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    return new_id


new_id = make_id_factory()


def make_call_id(run_id: str) -> str:
    """Return the id of a call that its model gave no id, in the form that providers use."""
    return f"call_{run_id.replace('-', '')}"


def make_lowest_id(moment: datetime) -> str:
    """Return the lowest id that can be created at this moment or later."""
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1)
    text = f"{min(max(milliseconds, 0), 2**48 - 1):012x}"
    return f"{text[:8]}-{text[8:]}-7000-8000-000000000000"
