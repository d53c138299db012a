"""Parsing JSON bodies: small ones at once, large ones in threads, and none with too many values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException

from pegboard.stages.large_reads import LARGE

T = TypeVar("T")

# The parser holds the interpreter until it is done, and each object or list costs it far more than its bytes do.
MAX_CONTAINERS = 250_000
# For the routes that take larger bodies than others.
MAX_DOCUMENT_CONTAINERS = 1_000_000
_THREADS = 2


class JsonBodies:
    """Parses the bodies of one application; few at a time, so that they never take all processors."""

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def parse(self, body: bytes, parse: Callable[[bytes], T], most: int = MAX_CONTAINERS) -> T:
        """What `parse` returns; raises 413 if the body holds more objects and lists than `most`."""
        if len(body) <= LARGE:
            return parse(body)
        # Those in strings are counted too: telling them apart would take longer than parsing.
        if body.count(b"{") + body.count(b"[") > most:
            raise HTTPException(413, f"The body has more than {most:,} objects and lists; send fewer at a time")
        return await run_sync(parse, body, limiter=self._threads)
