"""The end of a process with a board, while tools still run."""

from __future__ import annotations

import subprocess
import sys

ENDING = """
import asyncio, threading, time
from pegboard.testing import memory_board


async def main():
    async with memory_board(drain_seconds=0.1) as board:

        @board.tool(timeout=0.1)
        def hangs() -> None:
            "Never returns."
            threading.Event().wait()

        @board.tool(timeout=0.1)
        async def ignores() -> None:
            "Heeds its third cancellation alone."
            for _ in range(2):
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    pass

        results = [await board.call("hangs") for _ in range(3)] + [await board.call("ignores")]
        print([result.problem.code for result in results])


asyncio.run(main())
print("ended")
"""


def test_tools_that_hang_do_not_keep_the_process_from_ending() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=90)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["['timeout', 'timeout', 'timeout', 'timeout']", "ended"]
