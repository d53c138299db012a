"""Attempts to reach an upstream: how many at once, how long each may take, and what a breaker learns of it."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

from pegboard.core.call import ReadyCall
from pegboard.core.configs import default_timeout
from pegboard.core.errors import Drifted, RateLimited, TimedOut, Unavailable, UpstreamFailed, UpstreamUnreachable
from pegboard.core.tool import Tool
from pegboard.egress.breaker import Breaker

MOST_AT_ONCE = 500
# Reading an answer of more bytes than this takes so long that others would notice.
LARGE_ANSWER = 256 * 1024
_SOON_MS = 1000
# The clock that ends an attempt starts a little before the one here.
_EARLY_SECONDS = 0.01


def attempt_seconds(tool: Tool) -> float:
    """How long one attempt of a call of this tool may take."""
    one: float | None = tool.config.get("timeout")
    tries = tool.retry.max_attempts if tool.retry is not None and "timeout" in tool.retry.on else 1
    return one or (tool.timeout or default_timeout(tool.tool_type)) / tries


def end_of(call: ReadyCall, seconds: float) -> float:
    """The moment from which an attempt that begins now, and is cancelled, is one whose time was up."""
    return min(time.monotonic() + seconds, call.deadline) - _EARLY_SECONDS


class Places:
    """Bounds how many calls of one user are on their way at once, so that nobody takes every connection."""

    __slots__ = ("_most", "_taken")

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = most
        self._taken: dict[str, int] = {}

    def take(self, user_id: str) -> None:
        """Take a place, to be given back; raises Unavailable where all of the user's are taken."""
        taken = self._taken.get(user_id, 0)
        if taken >= self._most:
            refusal = Unavailable(
                f"You have {self._most} calls waiting for other servers already, and no more are made at once; "
                "the call did not run, try again in a moment",
                retry_after_ms=_SOON_MS,
            )
            refusal.did_run = False
            raise refusal
        self._taken[user_id] = taken + 1

    def give_back(self, user_id: str) -> None:
        """Leave the place to the next call."""
        left = self._taken[user_id] - 1
        if left:
            self._taken[user_id] = left
        else:
            del self._taken[user_id]


class Attempt:
    """Entered where the breaker lets a call through, and left with the breaker told how it went."""

    __slots__ = ("_breaker", "_ends", "has_failed")

    def __init__(self, breaker: Breaker, ends: float) -> None:
        self._breaker = breaker
        self._ends = ends
        # Set by who finds that an answer, although there is one, stands for a failure.
        self.has_failed = False

    def __enter__(self) -> Attempt:
        self._breaker.admit()
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if kind is None:
            failed = self.has_failed
        elif issubclass(kind, UpstreamUnreachable | TimedOut):
            failed = True
        elif issubclass(kind, UpstreamFailed | RateLimited | Drifted):
            failed = False  # it is there, whatever it said
        elif issubclass(kind, asyncio.CancelledError) and time.monotonic() >= self._ends:
            failed = True
        else:
            # Nobody asked it, or nobody wants the answer any more.
            self._breaker.abandoned()
            return
        if failed:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
