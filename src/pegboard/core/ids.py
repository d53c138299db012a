"""Identifiers that sort by the time they were made."""

from __future__ import annotations

import random
import time
from collections.abc import Callable


def _maker() -> Callable[[], str]:
    last = 0
    bits = random.Random().getrandbits  # noqa: S311 -- unique, not secret: keys come from `secrets`

    def new_id() -> str:
        """A UUID of version 7, later than any this process made before."""
        nonlocal last
        # 48 bits of milliseconds and 12 of a finer clock, so that ids of one process strictly increase.
        stamp = (time.time_ns() << 12) // 1_000_000
        last = stamp = stamp if stamp > last else last + 1
        text = f"{stamp >> 12:012x}7{stamp & 0xFFF:03x}{1 << 63 | bits(62):016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    return new_id


new_id = _maker()
