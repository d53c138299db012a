"""Circuit breakers for upstreams that fail repeatedly.

Not a library: the number of breakers, one per user and upstream, is bounded, and a cancelled call is no outcome.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pegboard.model.call_errors import CircuitOpen, UpstreamFailed

_PROBE_RETRY_MS = 1000


@dataclass(frozen=True, slots=True)
class UpstreamFailure:
    """When an upstream failed, and the error code of the call."""

    at: datetime
    code: str


@dataclass(frozen=True, slots=True)
class OriginHealth:
    """How many users' calls to an origin are refused now, and its last failure."""

    open_circuits: int = 0
    last_failure: UpstreamFailure | None = None


class CircuitBreaker:
    """Refuses calls to an upstream that failed several times in a row, then admits one call at a time as a probe."""

    def __init__(self, origin: str, *, clock: Callable[[], float], failures: int, seconds: float) -> None:
        self._origin = origin
        self._clock = clock
        self._most = failures
        self._seconds = seconds
        self._failures = 0
        self._open_until = 0.0
        self._is_probing = False
        self.last_failure: UpstreamFailure | None = None

    def admit(self) -> None:
        """Admit a call; raise CircuitOpen, with the time to wait, if the circuit is open."""
        if self._failures < self._most:
            return
        now = self._clock()
        if now < self._open_until:
            raise self._refusal(self._open_until - now)
        # A probe whose outcome is never reported must not block the circuit forever.
        self._open_until = now + self._seconds
        self._is_probing = True

    @property
    def is_open(self) -> bool:
        """True if calls are refused now."""
        return self._failures >= self._most and self._clock() < self._open_until

    def record_success(self) -> None:
        """Close the circuit: the upstream answered."""
        self._failures = 0
        self._is_probing = False

    def record_failure(self, code: str = UpstreamFailed.code) -> None:
        """Count a failure of the upstream with this error code, and open the circuit at the limit."""
        self._failures += 1
        self.last_failure = UpstreamFailure(datetime.now(UTC), code)
        if self._failures >= self._most:
            self._open_until = self._clock() + self._seconds
            self._is_probing = False

    def record_cancellation(self) -> None:
        """Handle a call that was cancelled without an outcome: if it was the probe, the next call is the probe."""
        if self._is_probing:
            self._is_probing = False
            self._open_until = self._clock()

    def _refusal(self, left: float) -> CircuitOpen:
        if self._is_probing:
            return CircuitOpen(
                f"{self._origin} failed {self._most} times in a row; another call is trying it just now. "
                "Try again in a moment",
                retry_after_ms=_PROBE_RETRY_MS,
            )
        return CircuitOpen(
            f"{self._origin} failed {self._most} times in a row and is left alone for {self._seconds:g} s. "
            f"Try again in {math.ceil(left)} s",
            retry_after_ms=math.ceil(left * 1000),
        )


class CircuitBreakers:
    """One circuit breaker for each user and upstream, so that one user's failed calls do not affect other users."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        failures: int = 5,
        seconds: float = 30.0,
        most: int = 10_000,
    ) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._most = most
        self._breakers: OrderedDict[tuple[str, str], CircuitBreaker] = OrderedDict()

    def is_open(self, user_id: str, origin: str) -> bool:
        """Return True if calls of this user to this origin are refused now."""
        breaker = self._breakers.get((user_id, origin))
        return breaker is not None and breaker.is_open

    def read_health(self, user_id: str | None) -> dict[str, OriginHealth]:
        """Return the health of each origin as calls of this user, or of all users, have found it."""
        found: dict[str, OriginHealth] = {}
        for (owner_id, origin), breaker in self._breakers.items():
            if user_id not in (None, owner_id):
                continue
            before = found.get(origin, OriginHealth())
            failures = [each for each in (before.last_failure, breaker.last_failure) if each is not None]
            last = max(failures, key=lambda failure: failure.at, default=None)
            found[origin] = OriginHealth(before.open_circuits + breaker.is_open, last)
        return found

    def of(self, user_id: str, origin: str) -> CircuitBreaker:
        """Return the breaker of this user and origin; above the limit, the least recently used breaker is dropped."""
        key = (user_id, origin)
        breaker = self._breakers.get(key)
        if breaker is None:
            breaker = CircuitBreaker(origin, clock=self._clock, failures=self._failures, seconds=self._seconds)
            self._breakers[key] = breaker
            if len(self._breakers) > self._most:
                self._breakers.popitem(last=False)
        else:
            self._breakers.move_to_end(key)
        return breaker
