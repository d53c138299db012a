"""A steady clock outside of the measured process: `python -m bench.pacer RATE` writes timestamps at this rate.

A request with the timestamp of its sender includes all waiting time; a timer in the measured process would be delayed
together with it. The clock is time.monotonic, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import os
import struct
import sys
import time
from collections.abc import Awaitable, Callable

_STAMP = struct.Struct("d")
_PIPE = 2**16


def main() -> None:
    """Write timestamps to stdout until the reader closes the pipe."""
    gap = 1 / float(sys.argv[1])
    due = time.monotonic()
    while True:
        # A late timestamp does not shorten the following intervals.
        now = time.monotonic()
        due = max(due + gap, now)
        time.sleep(due - now)
        try:
            os.write(1, _STAMP.pack(time.monotonic()))
        except BrokenPipeError:
            return


async def paced(work: Callable[[], Awaitable[None]], rate: float, seconds: float) -> list[float]:
    """Run `work` at this rate, and return the latency of each run in milliseconds, from its timestamp to its end."""
    loop = asyncio.get_running_loop()
    took: list[float] = []
    running: set[asyncio.Task[None]] = set()

    async def answer(stamp: float) -> None:
        await work()
        took.append((time.monotonic() - stamp) * 1000)

    def readable() -> None:
        for (stamp,) in _STAMP.iter_unpack(os.read(descriptor, _PIPE)):
            task = loop.create_task(answer(stamp))
            running.add(task)
            task.add_done_callback(running.discard)

    descriptor, theirs = os.pipe()
    pacer = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.pacer", str(rate), stdout=theirs)
    os.close(theirs)
    loop.add_reader(descriptor, readable)
    try:
        await asyncio.sleep(seconds)
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        await pacer.wait()
    if running:
        await asyncio.gather(*running)
    return took


if __name__ == "__main__":
    main()
