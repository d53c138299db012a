"""Leaving an upstream alone that keeps failing."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from pegboard.core.errors import CircuitOpen

_SOON_MS = 1000


class Breaker:
    """Keeps calls from an upstream that failed several times in a row, then lets one at a time try it again."""

    def __init__(self, origin: str, *, clock: Callable[[], float], failures: int, seconds: float) -> None:
        self._origin = origin
        self._clock = clock
        self._most = failures
        self._seconds = seconds
        self._failures = 0
        self._closed_until = 0.0
        self._probing = False

    def admit(self) -> None:
        """Let a call through; CircuitOpen says how long none is let through."""
        if self._failures < self._most:
            return
        now = self._clock()
        if now < self._closed_until:
            raise self._refusal(self._closed_until - now)
        # A probe that never says how it ended must not hold its place for good.
        self._closed_until = now + self._seconds
        self._probing = True

    def succeeded(self) -> None:
        """The upstream answered: everybody is let through."""
        self._failures = 0
        self._probing = False

    def failed(self) -> None:
        """The upstream did not answer, or could not."""
        self._failures += 1
        if self._failures >= self._most:
            self._closed_until = self._clock() + self._seconds
            self._probing = False

    def abandoned(self) -> None:
        """The call was given up before it could tell anything: if it was the probe, the next call is."""
        if self._probing:
            self._probing = False
            self._closed_until = self._clock()

    def _refusal(self, left: float) -> CircuitOpen:
        if self._probing:
            return CircuitOpen(
                f"{self._origin} failed {self._most} times in a row; another call is trying it just now. "
                "Try again in a moment",
                retry_after_ms=_SOON_MS,
            )
        return CircuitOpen(
            f"{self._origin} failed {self._most} times in a row and is left alone for {self._seconds:g} s. "
            f"Try again in {math.ceil(left)} s",
            retry_after_ms=math.ceil(left * 1000),
        )


class Breakers:
    """A breaker for each upstream of each caller, so that what one person provokes shuts nobody else out."""

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
        self._breakers: OrderedDict[tuple[str, str], Breaker] = OrderedDict()

    def of(self, user_id: str, origin: str) -> Breaker:
        """The breaker of this user's calls to this origin; the one unused for longest makes room for a new one."""
        key = (user_id, origin)
        breaker = self._breakers.get(key)
        if breaker is None:
            breaker = Breaker(origin, clock=self._clock, failures=self._failures, seconds=self._seconds)
            self._breakers[key] = breaker
            if len(self._breakers) > self._most:
                self._breakers.popitem(last=False)
        else:
            self._breakers.move_to_end(key)
        return breaker
