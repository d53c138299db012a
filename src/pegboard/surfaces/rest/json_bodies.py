"""Parse JSON bodies: small ones directly, large ones in OS threads, none with too many objects and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException

from pegboard.stages.large_reads import LARGE_BYTES

T = TypeVar("T")

# The parser holds the GIL until it is done, and an object or list costs far more time than its bytes.
MAX_CONTAINERS = 250_000
# For the routes that accept larger bodies.
MAX_DOCUMENT_CONTAINERS = 1_000_000
_MAX_THREADS = 2


class JsonBodyParser:
    """Parses the bodies of one application; its OS threads are limited, so that they never use all processors."""

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(_MAX_THREADS)

    async def parse(self, body: bytes, parse: Callable[[bytes], T], most: int = MAX_CONTAINERS) -> T:
        """Return `parse(body)`; raise HTTPException 413 if the body has more objects and lists than `most`."""
        if len(body) <= LARGE_BYTES:
            return parse(body)
        # Brackets in strings are counted too: to exclude them would take longer than parsing.
        if body.count(b"{") + body.count(b"[") > most:
            raise HTTPException(413, f"The body has more than {most:,} objects and lists; send fewer at a time")
        return await run_sync(parse, body, limiter=self._threads)
