"""Shared by kinds that call other servers: the board's services for that, and limits per user and per attempt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from pegboard.http_client.circuit_breaker import CircuitBreaker, CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.http_client.host_limits import HostLimiter
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import Drifted, RateLimited, TimedOut, Unavailable, UpstreamFailed, UpstreamUnreachable
from pegboard.model.tool import Tool

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OutboundServices:
    """The board's services for connections to other servers, one object of each."""

    outbound: GuardedClient
    breakers: CircuitBreakers
    hosts: HostLimiter
    max_bytes: int

    async def close(self) -> None:
        """Close all connections."""
        await self.outbound.close()


MAX_CALLS_PER_USER = 500
# Parsing a larger response would block the event loop noticeably.
LARGE_ANSWER_BYTES = 256 * 1024
_RETRY_AFTER_MS = 1000
_READER_THREADS = 2
# The timer that ends an attempt starts slightly before this clock is read.
_DEADLINE_MARGIN_SECONDS = 0.01


def get_attempt_seconds(tool: Tool, default_timeout: float) -> float:
    """Return the timeout of one attempt of a call of this tool in seconds."""
    one: float | None = tool.config.get("timeout")
    tries = tool.retry.max_attempts if tool.retry is not None and "timeout" in tool.retry.on else 1
    return one or (tool.timeout or default_timeout) / tries


def compute_attempt_deadline(call: ReadyCall, seconds: float) -> float:
    """Return the time from which the cancellation of an attempt that starts now counts as a timeout."""
    return min(time.monotonic() + seconds, call.deadline) - _DEADLINE_MARGIN_SECONDS


class UserCallLimit:
    """Limits the concurrent calls of one user, so that no user takes all connections."""

    __slots__ = ("_most", "_taken")

    def __init__(self, most: int = MAX_CALLS_PER_USER) -> None:
        self._most = most
        self._taken: dict[str, int] = {}

    def take(self, user_id: str) -> None:
        """Take a slot, to be returned with give_back; raise Unavailable if all slots of the user are taken."""
        taken = self._taken.get(user_id, 0)
        if taken >= self._most:
            refusal = Unavailable(
                f"You have {self._most} calls waiting for other servers already, and no more are made at once; "
                "the call did not run, try again in a moment",
                retry_after_ms=_RETRY_AFTER_MS,
            )
            refusal.did_run = False
            raise refusal
        self._taken[user_id] = taken + 1

    def give_back(self, user_id: str) -> None:
        """Return the slot."""
        left = self._taken[user_id] - 1
        if left:
            self._taken[user_id] = left
        else:
            del self._taken[user_id]


class UpstreamCalls:
    """Shared by all calls of one executor: circuit breakers, limits, and threads that read large responses."""

    def __init__(self, breakers: CircuitBreakers, hosts: HostLimiter, *, most_at_once: int, threads_name: str) -> None:
        self.breakers = breakers
        self.hosts = hosts
        self.user_limit = UserCallLimit(most_at_once)
        # Separate threads, so that other work does not wait for large responses; they start on demand.
        self._readers = ThreadPoolExecutor(_READER_THREADS, threads_name)

    async def run_in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the result of the function, called in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, function, *arguments)

    def close(self) -> None:
        """Shut down the threads; the owners of the connections close them."""
        self._readers.shutdown(wait=False, cancel_futures=True)


class BreakerAttempt:
    """A context manager around one attempt: asks the breaker for admission and reports the result to it."""

    __slots__ = ("_breaker", "_ends", "has_failed")

    def __init__(self, breaker: CircuitBreaker, ends: float) -> None:
        self._breaker = breaker
        self._ends = ends
        # Set by the caller if the response means a failure.
        self.has_failed = False

    def put_off(self, seconds: float) -> None:
        """Extend the attempt by this time, in which its caller was asked."""
        self._ends += seconds

    def __enter__(self) -> BreakerAttempt:
        self._breaker.admit()
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        code = UpstreamFailed.code
        if kind is None:
            failed = self.has_failed
        elif issubclass(kind, UpstreamUnreachable | TimedOut):
            failed, code = True, kind.code
        elif issubclass(kind, UpstreamFailed | RateLimited | Drifted):
            failed = False  # the upstream is available, whatever the response
        elif issubclass(kind, asyncio.CancelledError) and time.monotonic() >= self._ends:
            failed, code = True, TimedOut.code
        else:
            # The upstream was not called, or the call was cancelled.
            self._breaker.record_cancellation()
            return
        if failed:
            self._breaker.record_failure(code)
        else:
            self._breaker.record_success()
