"""A bounded number of calls at once, shared evenly between users; some places are kept for users who have none."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict

from pegboard.core.errors import Unavailable

MOST_WAITING = 1000

# How much the latest call counts in the average that waiting times are estimated from.
_LATEST = 0.2
_SOONEST_MS = 100
_LATEST_MS = 60_000

_Waiter = asyncio.Future["Place | None"]


class Place:
    """The right to run one call, held until `leave`."""

    __slots__ = ("_admission", "_user", "since")

    def __init__(self, admission: Admission, user: str) -> None:
        self._admission: Admission | None = admission
        self._user = user
        self.since = time.monotonic()

    def leave(self) -> None:
        """Give the place to whoever is next; doing so again does nothing."""
        admission, self._admission = self._admission, None
        if admission is not None:
            admission._left(self._user, self.since)


class Admission:
    """Places for calls, given to the waiting user who has the fewest, and in turns between those who have as few.

    The last quarter of the places goes only to users who have none, so that nobody's long calls keep others out.
    """

    def __init__(
        self,
        places: int,
        *,
        wanted: str = "a place to run in",
        named: str = "places",
        setting: str | None = None,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._places = places
        # For messages: what a call waits for, what all of them are called, and the setting that bounds them.
        self._wanted = wanted
        self._named = named
        self._setting = "" if setting is None else f" ({setting})"
        self._most_waiting = most_waiting
        self._free = places
        self._kept = max(1, places // 4) if places > 1 else 0
        self._running: dict[str, int] = {}
        self._waiting: dict[str, OrderedDict[_Waiter, None]] = {}
        # Users with calls waiting, by how many they have running, in the order in which they are served. Turns alone
        # would let a user of long calls end up with every place, however often the others are served.
        self._turns: dict[int, OrderedDict[str, None]] = {}
        self._waiters = 0
        self._seconds = 1.0
        # The moments since which places are held, in all.
        self._since = 0.0
        self._closed = False

    @property
    def running(self) -> int:
        """How many places are held."""
        return self._places - self._free

    @property
    def waiting(self) -> int:
        """How many calls wait for a place."""
        return self._waiters

    async def enter(self, user: str, deadline: float) -> Place:
        """A place, at the latest at `deadline` (of time.monotonic); raises Unavailable where there is none by then."""
        if self._closed:
            raise self._refused("the board is shutting down", None)
        if self._has_place(self._running.get(user, 0)):
            # Places are handed on as they are left, so where one is free for this user nobody waits whose turn it is.
            return self._take(user)
        if len(self._waiting.get(user, ())) >= self._most_waiting:
            raise self._refused(f"{self._most_waiting} calls of this user wait already", self._soon())
        loop = asyncio.get_running_loop()
        waiter: _Waiter = loop.create_future()
        self._queue(user, waiter)
        timer = None
        if deadline < math.inf:
            timer = loop.call_later(max(0.0, deadline - time.monotonic()), self._give_up, user, waiter)
        try:
            place = await waiter
        except asyncio.CancelledError:
            # It may have been given a place just before, or it has to leave the queue.
            given = waiter.result() if waiter.done() and not waiter.cancelled() else None
            if given is not None:
                given.leave()
            else:
                self._withdraw(user, waiter)
            raise
        finally:
            if timer is not None:
                timer.cancel()
        if place is not None:
            return place
        if self._closed:
            raise self._refused("the board is shutting down", None)
        but = f" but {self._free}, kept for users who have no call running," if self._free else ""
        raise self._refused(
            f"all {self._places} {self._named}{but} were taken until its deadline{self._setting}, "
            f"and {self._waiters} other calls wait",
            self._soon(),
        )

    def close(self) -> None:
        """Refuse whoever waits, and whoever comes from now on."""
        self._closed = True
        for user, waiters in list(self._waiting.items()):
            for waiter in list(waiters):
                self._give_up(user, waiter)

    def _has_place(self, running: int) -> bool:
        """Whether there is a place for a user who has so many."""
        return self._free > (self._kept if running else 0)

    def _take(self, user: str) -> Place:
        self._free -= 1
        self._count(user, 1)
        place = Place(self, user)
        self._since += place.since
        return place

    def _left(self, user: str, since: float) -> None:
        self._seconds += _LATEST * (time.monotonic() - since - self._seconds)
        self._free += 1
        self._since = self._since - since if self._free < self._places else 0.0
        self._count(user, -1)
        while self._waiters:
            fewest = min(self._turns)
            if not self._has_place(fewest):
                return
            first = next(iter(self._turns[fewest]))
            waiter = next(iter(self._waiting[first]))
            self._withdraw(first, waiter)
            if not waiter.done():
                waiter.set_result(self._take(first))

    def _count(self, user: str, change: int) -> None:
        """Note that the user has one more or one less running; with that they come last among their new equals."""
        before = self._running.get(user, 0)
        now = before + change
        if now:
            self._running[user] = now
        else:
            del self._running[user]
        if user in self._waiting:
            self._end_turn(before, user)
            self._add_turn(now, user)

    def _queue(self, user: str, waiter: _Waiter) -> None:
        if user not in self._waiting:
            self._waiting[user] = OrderedDict()
            self._add_turn(self._running.get(user, 0), user)
        self._waiting[user][waiter] = None
        self._waiters += 1

    def _withdraw(self, user: str, waiter: _Waiter) -> None:
        waiters = self._waiting.get(user)
        if waiters is None or waiter not in waiters:
            return
        del waiters[waiter]
        self._waiters -= 1
        if not waiters:
            del self._waiting[user]
            self._end_turn(self._running.get(user, 0), user)

    def _add_turn(self, running: int, user: str) -> None:
        """Serve this user last among those who have as many calls running."""
        self._turns.setdefault(running, OrderedDict())[user] = None

    def _end_turn(self, running: int, user: str) -> None:
        turns = self._turns[running]
        del turns[user]
        if not turns:
            del self._turns[running]

    def _give_up(self, user: str, waiter: _Waiter) -> None:
        self._withdraw(user, waiter)
        if not waiter.done():
            waiter.set_result(None)

    def _soon(self) -> int:
        """Milliseconds until whoever waits now has probably been served."""
        # Calls that have run for long so far will probably run for as long again.
        so_far = time.monotonic() - self._since / self.running if self.running else 0.0
        likely = 1000 * max(self._seconds, so_far) * (self._waiters + 1) / self._places
        return int(min(max(likely, _SOONEST_MS), _LATEST_MS))

    def _refused(self, why: str, retry_after_ms: int | None) -> Unavailable:
        refusal = Unavailable(f"The call did not get {self._wanted}: {why}", retry_after_ms=retry_after_ms)
        refusal.did_run = False
        return refusal
