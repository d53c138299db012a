"""Fair queue: limits concurrent calls, serves users evenly, and reserves slots for users without a running call.

Not `asyncio.Semaphore`: it serves calls in the order of arrival, behind a user who sends very many.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict

from pegboard.model.call_errors import Unavailable

MAX_WAITING_CALLS = 1000

# Weight of the latest call in the moving average of call durations, which wait times are estimated from.
_SMOOTHING_FACTOR = 0.2
_MIN_RETRY_AFTER_MS = 100
_MAX_RETRY_AFTER_MS = 60_000

_Waiter = asyncio.Future["CallSlot | None"]


class CallSlot:
    """The right to run one call, held until `leave`."""

    __slots__ = ("_admission", "_user", "since")

    def __init__(self, admission: FairQueue, user: str) -> None:
        self._admission: FairQueue | None = admission
        self._user = user
        self.since = time.monotonic()

    def leave(self) -> None:
        """Release the slot to the next waiting call; further calls do nothing."""
        admission, self._admission = self._admission, None
        if admission is not None:
            admission.release_slot(self._user, self.since)


class FairQueue:
    """Slots for calls. The waiting user with the fewest running calls is served first, and equal users in turn.

    The last quarter of the slots is reserved for users with no running call, so that long calls of one user do not
    block others.
    """

    def __init__(
        self,
        places: int,
        *,
        wanted: str = "a place to run in",
        named: str = "places",
        setting: str | None = None,
        most_waiting: int = MAX_WAITING_CALLS,
    ) -> None:
        self._places = places
        # For messages: the resource that a call waits for, its plural, and the setting that limits it.
        self._resource_name = wanted
        self._named = named
        self._setting_hint = "" if setting is None else f" ({setting})"
        self._max_waiting_calls = most_waiting
        self._free = places
        self._kept = max(1, places // 4) if places > 1 else 0
        self._running: dict[str, int] = {}
        self._waiting: dict[str, OrderedDict[_Waiter, None]] = {}
        # Users with waiting calls, by their number of running calls, in the order in which they are served. Round-robin
        # alone would let a user of long calls end up with every slot, however often the other users are served.
        self._turns: dict[int, OrderedDict[str, None]] = {}
        self._waiters = 0
        self._seconds = 1.0
        # Sum of the start times of all held slots, for the mean running time.
        self._since = 0.0
        self._closed = False

    @property
    def running(self) -> int:
        """Number of slots that are held."""
        return self._places - self._free

    @property
    def waiting(self) -> int:
        """Number of calls that wait for a slot."""
        return self._waiters

    async def acquire(self, user: str, deadline: float) -> CallSlot:
        """Return a slot; raise Unavailable if none is free by `deadline` (of time.monotonic)."""
        if self._closed:
            raise self._build_refusal("the board is shutting down", None)
        if self._has_slot(self._running.get(user, 0)):
            # Released slots are passed on at once, so a slot that is free for this user is not due to any waiting call.
            return self._take(user)
        if len(self._waiting.get(user, ())) >= self._max_waiting_calls:
            raise self._build_refusal(
                f"{self._max_waiting_calls} calls of this user wait already", self._estimate_wait_ms()
            )
        loop = asyncio.get_running_loop()
        waiter: _Waiter = loop.create_future()
        self._queue(user, waiter)
        timer = None
        if deadline < math.inf:
            timer = loop.call_later(max(0.0, deadline - time.monotonic()), self._give_up, user, waiter)
        try:
            place = await waiter
        except asyncio.CancelledError:
            # The waiter may have received a slot just before the cancellation; otherwise remove it from the queue.
            given = waiter.result() if waiter.done() and not waiter.cancelled() else None
            if given is not None:
                given.leave()
            else:
                self._remove_waiter(user, waiter)
            raise
        finally:
            if timer is not None:
                timer.cancel()
        if place is not None:
            return place
        if self._closed:
            raise self._build_refusal("the board is shutting down", None)
        but = f" but {self._free}, kept for users who have no call running," if self._free else ""
        raise self._build_refusal(
            f"all {self._places} {self._named}{but} were taken until its deadline{self._setting_hint}, "
            f"and {self._waiters} other calls wait",
            self._estimate_wait_ms(),
        )

    def close(self) -> None:
        """Refuse all waiting calls and all later ones."""
        self._closed = True
        for user, waiters in list(self._waiting.items()):
            for waiter in list(waiters):
                self._give_up(user, waiter)

    def _has_slot(self, running: int) -> bool:
        """Return True if a slot is available to a user with this many running calls."""
        return self._free > (self._kept if running else 0)

    def _take(self, user: str) -> CallSlot:
        self._free -= 1
        self._count(user, 1)
        place = CallSlot(self, user)
        self._since += place.since
        return place

    def release_slot(self, user: str, since: float) -> None:
        """Give a slot that was held since then to the next waiting call; for CallSlot."""
        self._seconds += _SMOOTHING_FACTOR * (time.monotonic() - since - self._seconds)
        self._free += 1
        self._since = self._since - since if self._free < self._places else 0.0
        self._count(user, -1)
        while self._waiters:
            fewest = min(self._turns)
            if not self._has_slot(fewest):
                return
            first = next(iter(self._turns[fewest]))
            waiter = next(iter(self._waiting[first]))
            self._remove_waiter(first, waiter)
            if not waiter.done():
                waiter.set_result(self._take(first))

    def _count(self, user: str, change: int) -> None:
        """Change the user's number of running calls.

        The user moves to the end of the order among users with that number.
        """
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

    def _remove_waiter(self, user: str, waiter: _Waiter) -> None:
        waiters = self._waiting.get(user)
        if waiters is None or waiter not in waiters:
            return
        del waiters[waiter]
        self._waiters -= 1
        if not waiters:
            del self._waiting[user]
            self._end_turn(self._running.get(user, 0), user)

    def _add_turn(self, running: int, user: str) -> None:
        """Add the user at the end of the order among users with this many running calls."""
        self._turns.setdefault(running, OrderedDict())[user] = None

    def _end_turn(self, running: int, user: str) -> None:
        turns = self._turns[running]
        del turns[user]
        if not turns:
            del self._turns[running]

    def _give_up(self, user: str, waiter: _Waiter) -> None:
        self._remove_waiter(user, waiter)
        if not waiter.done():
            waiter.set_result(None)

    def _estimate_wait_ms(self) -> int:
        """Return the estimated milliseconds until the calls that wait now have been served."""
        # A call that has already run for a long time will probably run for as long again.
        so_far = time.monotonic() - self._since / self.running if self.running else 0.0
        likely = 1000 * max(self._seconds, so_far) * (self._waiters + 1) / self._places
        return int(min(max(likely, _MIN_RETRY_AFTER_MS), _MAX_RETRY_AFTER_MS))

    def _build_refusal(self, why: str, retry_after_ms: int | None) -> Unavailable:
        refusal = Unavailable(f"The call did not get {self._resource_name}: {why}", retry_after_ms=retry_after_ms)
        refusal.did_run = False
        return refusal
