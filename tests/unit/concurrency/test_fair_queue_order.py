"""Slots for confined calls, with events in any order: the next call to be served, and no slot lost."""

from __future__ import annotations

import asyncio
from collections import deque

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pegboard.concurrency.fair_queue import CallSlot, FairQueue
from pegboard.model.call_errors import Unavailable
from tests.unit.concurrency.test_fair_queue import later
from tests.user_references import KeptUsers


class QueueEvents(RuleBasedStateMachine):
    """Calls that arrive, leave, are cancelled and expire in any order, compared with a plain model of the order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.places = 3
        self.admission = FairQueue(self.places, most_waiting=4)
        self.users = KeptUsers("abcd")
        self.tasks: dict[asyncio.Task[CallSlot], str] = {}
        self.held: list[tuple[str, CallSlot]] = []
        self.waiting: dict[str, deque[asyncio.Task[CallSlot]]] = {}

    def turn(self) -> None:
        """Let every task run that can."""
        for _ in range(4):
            self.loop.run_until_complete(asyncio.sleep(0))

    def count(self, user: str) -> int:
        return sum(1 for holder, _ in self.held if holder == user)

    def has_place(self, user: str) -> bool:
        """Return True if this user can get a slot: the last one is reserved for a user without a running call."""
        return self.places - len(self.held) > (1 if self.count(user) else 0)

    def settle(self) -> None:
        """Check that each served call belongs to a user with the fewest slots, in the order of that user's calls."""
        self.turn()
        served = [task for queue in self.waiting.values() for task in queue if task.done()]
        for task in served:
            user = self.tasks.pop(task)
            assert self.waiting[user][0] is task, "calls of one user are served in their order"
            fewest = min(self.count(other) for other, queue in self.waiting.items() if queue)
            assert self.count(user) == fewest, "whoever has the fewest places comes first"
            assert self.has_place(user), "the last place is kept for a user who has none"
            self.waiting[user].popleft()
            self.held.append((user, task.result()))

    @rule(user=st.sampled_from("abcd"), calls=st.integers(1, 3))
    def come(self, user: str, calls: int) -> None:
        for _ in range(calls):
            self.come_once(user)

    def come_once(self, user: str) -> None:
        queue = self.waiting.setdefault(user, deque())
        task = self.loop.create_task(self.admission.acquire(self.users[user], later()))
        self.turn()
        if self.has_place(user):
            self.held.append((user, task.result()))
        elif len(queue) == 4:
            assert isinstance(task.exception(), Unavailable)
        else:
            self.tasks[task] = user
            queue.append(task)

    @rule(which=st.integers(0, 100))
    def leave(self, which: int) -> None:
        if self.held:
            self.held.pop(which % len(self.held))[1].leave()
        self.settle()

    @rule(which=st.integers(0, 100), leaves_as_well=st.booleans())
    def cancel(self, which: int, leaves_as_well: bool) -> None:
        if not self.tasks:
            return
        task = list(self.tasks)[which % len(self.tasks)]
        if leaves_as_well:
            self.held.pop(which % len(self.held))[1].leave()
        task.cancel()
        self.turn()
        assert task.cancelled()
        self.waiting[self.tasks.pop(task)].remove(task)
        if leaves_as_well:
            # The cancelled caller may have got the slot and passed it on: other tests check fairness.
            for other in [other for other in self.tasks if other.done()]:
                user = self.tasks.pop(other)
                self.waiting[user].remove(other)
                self.held.append((user, other.result()))

    @rule(user=st.sampled_from("abcd"))
    def come_too_late(self, user: str) -> None:
        if self.has_place(user) or len(self.waiting.get(user, ())) == 4:
            return
        task = self.loop.create_task(self.admission.acquire(self.users[user], later(-1)))
        self.loop.run_until_complete(asyncio.wait([task], timeout=5))
        assert isinstance(task.exception(), Unavailable)

    @invariant()
    def no_one_waits_beside_a_place_that_is_free_for_them(self) -> None:
        assert self.admission.running == len(self.held) <= self.places
        assert self.admission.waiting == len(self.tasks)
        assert not any(self.has_place(user) for user in self.tasks.values())

    @invariant()
    def no_one_has_every_place(self) -> None:
        assert all(self.count(user) < self.places for user in "abcd")

    def teardown(self) -> None:
        while self.tasks:
            self.tasks.popitem()[0].cancel()
        while self.held:
            self.held.pop()[1].leave()
        self.waiting.clear()
        self.turn()
        assert (self.admission.running, self.admission.waiting) == (0, 0)
        assert self.users.forget() == set(), "nothing is kept of users who have gone"
        self.loop.close()


TestComings = QueueEvents.TestCase
TestComings.settings = settings(stateful_step_count=40, deadline=None, database=None)
