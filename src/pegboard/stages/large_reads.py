"""Reading of large payloads: in one thread, so that the event loop stays free, and in turns between users."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

from pegboard.core.admission import Admission
from pegboard.core.call import Caller
from pegboard.core.errors import RateLimited, Unavailable
from pegboard.core.refusals import TooManyRequests
from pegboard.core.tool import RateLimit
from pegboard.executors.threads import Threads
from pegboard.stages.limit import Limiter, limit_key

T = TypeVar("T")

# Payloads of more bytes than this are read in the thread.
LARGE = 64 * 1024
# How many large payloads of one user may wait. Each holds its body in memory.
MOST_WAITING = 4


class LargeReads:
    """Reads large payloads one at a time.

    Reading is Python code, which holds the interpreter lock: more threads would take the lock from the event loop more
    often, and would not read faster. The users who wait are served in turns.
    """

    def __init__(self, limiter: Limiter, flood: RateLimit | None) -> None:
        self._limiter = limiter
        self._flood = flood
        self._places = Admission(1, most_waiting=MOST_WAITING)
        self._threads = Threads(1)
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """How many large payloads wait to be read."""
        return self._places.waiting

    async def run(self, read: Callable[[], T], size: int, caller: Caller) -> T:
        """Call `read`, which reads a payload of `size` bytes: here if it is small, in the thread if it is large.

        A large payload counts as one call in the rate of its key. Raises TooManyRequests if that is used up, or if too
        many payloads of this user wait already.
        """
        if size <= LARGE:
            return read()
        try:
            await limit_key(self._limiter, caller, self._flood)
        except RateLimited as error:
            raise TooManyRequests(error.message) from None
        try:
            place = await self._places.enter(caller.user_id, math.inf)
        except Unavailable:
            if self._is_closed:
                raise
            raise TooManyRequests(
                f"{MOST_WAITING} payloads of this user that are larger than {LARGE // 1024} KiB wait to be read; "
                "try again in a second"
            ) from None
        try:
            return cast(T, await self._threads.run(read))
        finally:
            place.leave()

    def close(self) -> None:
        """End the thread after what it reads now."""
        self._is_closed = True
        self._places.close()
        self._threads.close()
