from __future__ import annotations

import asyncio

import pytest

from pegboard.stages.deadlines import Deadlines


async def forever(deadlines: Deadlines, seconds: float) -> str:
    with deadlines.within(seconds) as attempt:
        await asyncio.Event().wait()
    assert attempt.is_up
    return "up"


async def test_what_takes_longer_is_ended_and_nothing_else() -> None:
    deadlines = Deadlines()
    late = asyncio.create_task(forever(deadlines, 30))
    with deadlines.within(30) as quick:
        assert await forever(deadlines, 0.01) == "up"
    assert not quick.is_up
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late


async def test_each_ends_at_its_own_time_whatever_the_order_they_came_in() -> None:
    deadlines = Deadlines()
    ended: list[float] = []

    async def one(seconds: float) -> None:
        await forever(deadlines, seconds)
        ended.append(seconds)

    await asyncio.gather(*(one(seconds) for seconds in (0.06, 0.02, 0.04, 0.0, -1.0)))
    assert ended[2:] == [0.02, 0.04, 0.06]
    assert set(ended[:2]) == {0.0, -1.0}


async def test_the_task_goes_on_afterwards_as_if_no_one_had_cancelled_it() -> None:
    deadlines = Deadlines()
    assert await forever(deadlines, 0.0) == "up"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_a_cancellation_of_another_users_goes_on_even_if_time_is_up_too() -> None:
    deadlines = Deadlines()
    running = asyncio.create_task(forever(deadlines, 0.0))
    await asyncio.sleep(0)  # it has begun
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_what_ignores_its_cancellation_and_returns_keeps_what_it_returns() -> None:
    deadlines = Deadlines()

    async def stubborn() -> str:
        with deadlines.within(0.0):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "done all the same"
        raise AssertionError

    assert await stubborn() == "done all the same"


async def test_an_error_that_comes_of_being_cancelled_is_the_error() -> None:
    deadlines = Deadlines()

    async def failing() -> None:
        with deadlines.within(0.0):
            try:
                await asyncio.Event().wait()
            finally:
                raise ValueError("could not clean up")

    with pytest.raises(ValueError, match="clean up"):
        await failing()


async def test_one_deadline_within_another() -> None:
    deadlines = Deadlines()
    with deadlines.within(30) as outer:
        assert await forever(deadlines, 0.0) == "up"
    assert not outer.is_up
    with deadlines.within(0.01) as outer:
        await forever(deadlines, 30)
    assert outer.is_up


async def test_one_timer_serves_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    timers: list[float] = []
    call_later = loop.call_later

    def counted(delay: float, *rest: object, **more: object) -> object:
        timers.append(delay)
        return call_later(delay, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "call_later", counted)
    deadlines = Deadlines()
    for _ in range(100):
        with deadlines.within(30):
            pass
    assert len(timers) == 1
