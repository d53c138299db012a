"""Parses large payloads in one OS thread, so that the event loop stays responsive, and serves users in turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

from pegboard.concurrency.fair_queue import FairQueue
from pegboard.concurrency.handler_threads import ThreadWorkers
from pegboard.model.api_errors import TooManyRequests
from pegboard.model.call import Caller
from pegboard.model.call_errors import RateLimited, Unavailable
from pegboard.model.tool import RateLimit
from pegboard.stages.rate_limit import Limiter, check_key_limit

T = TypeVar("T")

# Payloads with more bytes than this are parsed in the thread.
LARGE_BYTES = 64 * 1024
# How many large payloads of one user may wait; each holds its body in memory.
MAX_WAITING = 4


class LargePayloadReader:
    """Parses large payloads one at a time.

    Parsing is Python code and holds the GIL: more threads would take it from the event loop more often and would not be
    faster. Waiting users are served round-robin.
    """

    def __init__(self, limiter: Limiter, flood: RateLimit | None) -> None:
        self._limiter = limiter
        self._flood = flood
        self._places = FairQueue(1, most_waiting=MAX_WAITING)
        self._threads = ThreadWorkers(1)
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """Number of large payloads that wait to be parsed."""
        return self._places.waiting

    async def run(self, read: Callable[[], T], size: int, caller: Caller) -> T:
        """Call `read`, which parses a payload of `size` bytes: inline if it is small, in the thread if it is large.

        A large payload counts as one call against the key's rate limit. Raises TooManyRequests if that is used up or if
        too many payloads of this user are waiting.
        """
        if size <= LARGE_BYTES:
            return read()
        try:
            await check_key_limit(self._limiter, caller, self._flood)
        except RateLimited as error:
            raise TooManyRequests(error.message) from None
        try:
            place = await self._places.acquire(caller.user_id, math.inf)
        except Unavailable:
            if self._is_closed:
                raise
            raise TooManyRequests(
                f"{MAX_WAITING} payloads of this user that are larger than {LARGE_BYTES // 1024} KiB wait to be read; "
                "try again in a second"
            ) from None
        try:
            return cast(T, await self._threads.run(read))
        finally:
            place.leave()

    def close(self) -> None:
        """Stop the thread after the payload that it is parsing."""
        self._is_closed = True
        self._places.close()
        self._threads.close()
