"""Slots for confined calls: limited, shared evenly, never lost."""

from __future__ import annotations

import asyncio
import time

import anyio
import pytest

from pegboard.concurrency.fair_queue import CallSlot, FairQueue
from pegboard.model.call_errors import Unavailable

FAR = 60.0


def later(seconds: float = FAR) -> float:
    return time.monotonic() + seconds


async def queued(admission: FairQueue, user: str, deadline: float | None = None) -> asyncio.Task[CallSlot]:
    """Start a call and return it when it waits."""
    before = admission.waiting
    task = asyncio.create_task(admission.acquire(user, later() if deadline is None else deadline))
    while admission.waiting == before:  # noqa: ASYNC110 -- it is a turn of the loop away
        await asyncio.sleep(0)
    return task


async def test_as_many_calls_as_there_are_places_run_at_once_and_the_next_waits() -> None:
    admission = FairQueue(2)
    first, _ = await admission.acquire("ann", later()), await admission.acquire("bob", later())
    third = await queued(admission, "cid")
    assert (admission.running, admission.waiting) == (2, 1)
    first.leave()
    await third
    assert (admission.running, admission.waiting) == (2, 0)


async def test_one_place_is_given_to_users_in_turns_however_many_calls_one_of_them_has_waiting() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later())
    served: list[str] = []
    tasks = {await queued(admission, "ann"): "ann" for _ in range(5)}
    tasks |= {await queued(admission, user): user for user in ("bob", "bob", "cid")}
    while tasks:
        place.leave()
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=5)
        (task,) = done
        served.append(tasks.pop(task))
        place = await task
    assert served == ["bob", "cid", "ann", "bob", "ann", "ann", "ann", "ann"]


async def test_calls_of_one_user_are_served_in_the_order_in_which_they_came() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later())
    tasks = [await queued(admission, "ann") for _ in range(5)]
    for number, task in enumerate(tasks):
        place.leave()
        place = await task
        assert [other.done() for other in tasks] == [True] * (number + 1) + [False] * (4 - number)


async def test_a_user_of_long_calls_does_not_come_to_hold_every_place() -> None:
    admission = FairQueue(5)
    long = [await admission.acquire("ann", later()) for _ in range(2)]
    short = [await admission.acquire("bob", later()) for _ in range(2)]
    waiting = [await queued(admission, user) for _ in range(3) for user in ("ann", "bob")]
    for _ in range(3):
        short.pop().leave()
        done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=5)
        waiting = list(pending)
        short += [await task for task in done]
    # Each slot that one of bob's short calls released went to his next call: ann's two are half of all but the
    # reserved.
    assert len(waiting) == 3
    for place in long:
        place.leave()
    for place in short:
        place.leave()
    while waiting:
        done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=5)
        waiting = list(pending)
        for task in done:
            (await task).leave()
    assert (admission.running, admission.waiting) == (0, 0)


@pytest.mark.parametrize(("places", "kept"), [(1, 0), (2, 1), (4, 1), (7, 1), (8, 2), (100, 25)])
async def test_the_last_quarter_of_the_places_is_for_users_who_have_none(places: int, kept: int) -> None:
    admission = FairQueue(places)
    held = [await admission.acquire("ann", later()) for _ in range(places - kept)]
    waits = await queued(admission, "ann")
    others = [await admission.acquire(f"user {number}", later()) for number in range(kept)]
    assert admission.running == places
    if kept:
        others.pop().leave()
        with pytest.raises(Unavailable, match=rf"all {places} places but 1, kept for users who have no call running,"):
            await admission.acquire("ann", later(-1))
        others.append(await admission.acquire("late", later()))
    assert not waits.done()
    for place in others:
        place.leave()
    held.pop().leave()
    held.append(await waits)
    for place in held:
        place.leave()
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_waiting_user_gets_a_reserved_slot_after_their_last_call_ended() -> None:
    admission = FairQueue(2)
    place = await admission.acquire("ann", later())
    waits = await queued(admission, "ann")
    place.leave()
    (await waits).leave()
    assert (admission.running, admission.waiting) == (0, 0)


async def test_calls_that_have_run_for_long_let_no_one_be_asked_to_come_again_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    admission = FairQueue(4)
    places = [await admission.acquire(user, clock + 1) for user in "abcd"]
    clock += 40.0
    assert await wait_named(admission, clock) == 10_000
    places.pop().leave()
    places.append(await admission.acquire("e", clock + 1))
    assert await wait_named(admission, clock) > 5_000
    for place in places:
        place.leave()
    for place in [await admission.acquire(user, clock + 1) for user in "abcd"]:
        places.append(place)
    clock += 100.0
    assert await wait_named(admission, clock) == 25_000, "calls that are over are not counted any more"
    for place in places:
        place.leave()


async def wait_named(admission: FairQueue, clock: float) -> int:
    """Return the time after which a refused user should try again."""
    with pytest.raises(Unavailable) as refused:
        await admission.acquire("hasty", clock - 1)
    assert refused.value.retry_after_ms is not None
    return refused.value.retry_after_ms


async def test_a_call_without_slot_at_its_deadline_gets_the_queue_length_and_a_retry_time() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later())
    other = await queued(admission, "bob")
    with pytest.raises(Unavailable, match=r"all 1 places .* and 1 other calls wait") as refused:
        await admission.acquire("cid", later(0.02))
    assert refused.value.did_run is False
    assert refused.value.retry_after_ms is not None
    assert 100 <= refused.value.retry_after_ms <= 60_000
    place.leave()
    (await other).leave()
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_deadline_in_the_past_refuses_only_calls_that_would_wait() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later(-1))
    with pytest.raises(Unavailable):
        await admission.acquire("ann", later(-1))
    place.leave()
    assert admission.running == 0


async def test_a_full_queue_refuses_its_own_user_at_once_and_no_other_user() -> None:
    admission = FairQueue(1, most_waiting=2)
    await admission.acquire("ann", later())
    tasks = [await queued(admission, "ann") for _ in range(2)]
    with pytest.raises(Unavailable, match="2 calls of this user wait already") as refused:
        await admission.acquire("ann", later())
    assert refused.value.did_run is False
    tasks.append(await queued(admission, "bob"))
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert admission.waiting == 0


async def test_a_call_cancelled_in_the_very_moment_it_gets_its_place_gives_it_to_the_next() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later())
    unlucky = await queued(admission, "bob")
    next_one = await queued(admission, "cid")
    place.leave()
    unlucky.cancel()  # it has the slot, and has not run since
    with anyio.fail_after(30):
        (await next_one).leave()
    assert unlucky.cancelled()
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_place_goes_past_calls_that_were_cancelled_just_before_it_was_left() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later())
    unlucky = await queued(admission, "bob")
    next_one = await queued(admission, "cid")
    unlucky.cancel()  # it is still in the queue
    place.leave()
    with anyio.fail_after(30):
        (await next_one).leave()
    await asyncio.wait([unlucky])
    assert (admission.running, admission.waiting) == (0, 0)


async def test_leaving_twice_frees_one_place() -> None:
    admission = FairQueue(2)
    first, _ = await admission.acquire("ann", later()), await admission.acquire("bob", later())
    first.leave()
    first.leave()
    assert admission.running == 1


async def test_closing_refuses_waiting_and_new_calls() -> None:
    admission = FairQueue(1)
    place = await admission.acquire("ann", later())
    waiting = await queued(admission, "ann")
    admission.close()
    for attempt in (waiting, admission.acquire("bob", later())):
        with pytest.raises(Unavailable, match="shutting down") as refused:
            await attempt
        assert refused.value.did_run is False
    place.leave()
    assert (admission.running, admission.waiting) == (0, 0)
