"""Threads for functions that are not async."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator

import pytest

from pegboard.concurrency.handler_threads import ThreadWorkers

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


@pytest.fixture
async def threads() -> AsyncIterator[ThreadWorkers]:
    made = ThreadWorkers(2)
    yield made
    made.close()


async def test_results_and_errors_return_and_the_context_goes_along(threads: ThreadWorkers) -> None:
    WHO.set("ada")
    assert await threads.run(WHO.get) == "ada"
    for error in (ValueError("v"), SystemExit(3), KeyboardInterrupt()):

        def fail(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)):
            await threads.run(fail)
    with pytest.raises(RuntimeError, match="The tool raised StopIteration"):
        await threads.run(_stop)


def _stop() -> None:
    raise StopIteration("x")


async def test_no_more_run_at_once_than_may(threads: ThreadWorkers) -> None:
    running, most = 0, 0
    lock = threading.Lock()
    both = threading.Barrier(2, timeout=10)

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1

    await asyncio.gather(*(threads.run(work) for _ in range(6)))
    assert most == 2


async def test_one_that_is_given_up_holds_its_place_until_it_ends(threads: ThreadWorkers) -> None:
    started, let_go = threading.Semaphore(0), threading.Event()

    def hang() -> None:
        started.release()
        let_go.wait(30)

    tasks = [asyncio.create_task(threads.run(hang)) for _ in range(2)]
    for _ in tasks:
        assert await asyncio.to_thread(started.acquire, timeout=5)
    for task in tasks:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    waiting = asyncio.create_task(threads.run(lambda: "at last"))
    _, unstarted = await asyncio.wait({waiting}, timeout=0.05)
    assert unstarted
    let_go.set()
    assert await asyncio.wait_for(waiting, 30) == "at last"


async def test_they_end_when_closed_and_never_hold_up_the_process(threads: ThreadWorkers) -> None:
    thread = await threads.run(threading.current_thread)
    assert thread.daemon
    threads.close()
    await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()
