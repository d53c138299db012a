"""A bounded pool of reusable daemon threads for handlers that are not async.

Not `ThreadPoolExecutor`: when the process exits, it waits for functions that never return.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

ThreadWork = tuple[contextvars.Context, Callable[[], Any], Callable[[Any, BaseException | None], None]]


class ThreadWorkers:
    """Runs functions in at most `most` threads.

    A function that hangs occupies its thread until it returns, even if its caller was cancelled.
    """

    def __init__(self, most: int) -> None:
        self._places = asyncio.Semaphore(most)
        self._idle: list[SimpleQueue[ThreadWork | None]] = []
        self._closed = False

    async def run(self, function: Callable[[], Any]) -> Any:
        """Return or raise what the function does. If cancelled, the function continues and its result is dropped."""
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        queue = self._idle.pop() if self._idle else _start_worker()

        def on_end(result: Any, error: BaseException | None) -> None:
            self._free(queue)
            if answer.done():
                return
            if isinstance(error, StopIteration | GeneratorExit):
                # A future does not accept StopIteration, and a coroutine that raises either of them would change its
                # meaning.
                error = RuntimeError(f"The tool raised {type(error).__name__}")
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

        def report(result: Any, error: BaseException | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: no task waits
                loop.call_soon_threadsafe(on_end, result, error)

        queue.put((contextvars.copy_context(), function, report))
        return await answer

    def close(self) -> None:
        """Stop the threads, each after its current function."""
        self._closed = True
        for queue in self._idle:
            queue.put(None)
        self._idle.clear()

    def _free(self, queue: SimpleQueue[ThreadWork | None]) -> None:
        if self._closed:
            queue.put(None)
        else:
            self._idle.append(queue)
        self._places.release()


def _start_worker() -> SimpleQueue[ThreadWork | None]:
    queue: SimpleQueue[ThreadWork | None] = SimpleQueue()
    threading.Thread(target=_run_worker, args=(queue,), name="pegboard-handler", daemon=True).start()
    return queue


def _run_worker(queue: SimpleQueue[ThreadWork | None]) -> None:
    while (work := queue.get()) is not None:
        context, function, report = work
        result, error = None, None
        try:
            result = context.run(function)
        except BaseException as raised:
            error = raised
        report(result, error)
        del work, context, function, report, result, error
