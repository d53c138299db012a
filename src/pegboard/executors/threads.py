"""Threads for handlers that are not async: few, kept, and never in the way of the process's end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

Work = tuple[contextvars.Context, Callable[[], Any], Callable[[Any, BaseException | None], None]]


class Threads:
    """Runs functions in at most `most` threads; one that hangs holds its place until it returns, whoever gave up on it.

    They are daemon threads: a function that never returns must not keep the process from ending.
    """

    def __init__(self, most: int) -> None:
        self._places = asyncio.Semaphore(most)
        self._idle: list[SimpleQueue[Work | None]] = []
        self._closed = False

    async def run(self, function: Callable[[], Any]) -> Any:
        """What the function returns or raises; cancelled, the function runs on and what it gives is dropped."""
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        queue = self._idle.pop() if self._idle else _started()

        def ended(result: Any, error: BaseException | None) -> None:
            self._free(queue)
            if answer.done():
                return
            if isinstance(error, StopIteration | GeneratorExit):
                # A future takes no StopIteration, and out of a coroutine either would mean something else.
                error = RuntimeError(f"The tool raised {type(error).__name__}")
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

        def report(result: Any, error: BaseException | None) -> None:
            with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                loop.call_soon_threadsafe(ended, result, error)

        queue.put((contextvars.copy_context(), function, report))
        return await answer

    def close(self) -> None:
        """Let the threads end, each after what it does now."""
        self._closed = True
        for queue in self._idle:
            queue.put(None)
        self._idle.clear()

    def _free(self, queue: SimpleQueue[Work | None]) -> None:
        if self._closed:
            queue.put(None)
        else:
            self._idle.append(queue)
        self._places.release()


def _started() -> SimpleQueue[Work | None]:
    queue: SimpleQueue[Work | None] = SimpleQueue()
    threading.Thread(target=_work, args=(queue,), name="pegboard-handler", daemon=True).start()
    return queue


def _work(queue: SimpleQueue[Work | None]) -> None:
    while (work := queue.get()) is not None:
        context, function, report = work
        result, error = None, None
        try:
            result = context.run(function)
        except BaseException as raised:
            error = raised
        report(result, error)
        del work, context, function, report, result, error
