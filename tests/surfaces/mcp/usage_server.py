"""A board in a separate process, which reports its resources: `usage_server.py HOME`; prints its address."""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path
from typing import Any

from pegboard import CallContext, Pegboard
from pegboard.settings import Settings
from tests.board_surfaces import KEY, served


def count_files() -> int:
    """Count the file descriptors, without those of the board's own folder: its database keeps a pool of connections."""
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return sum(sys.argv[1] not in str(link.readlink()) for link in links)


def read_memory() -> int:
    """Return the resident memory in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


async def measure_usage() -> dict[str, int]:
    """Count tasks, file descriptors and objects of this process, and its memory."""
    gc.collect()
    tasks, objects = len(asyncio.all_tasks()), len(gc.get_objects())
    return {"tasks": tasks, "files": count_files(), "objects": objects, "memory": read_memory()}


async def wait(call: CallContext) -> str:
    """Report that it runs, and wait until it is cancelled."""
    call.progress(1)
    await asyncio.Event().wait()
    raise AssertionError("the event is set by no one")


async def main(home: str) -> None:
    """Serve until the end of standard input."""
    settings: Any = Settings(home=Path(home), admin_key=KEY, egress_allow="127.0.0.1", log_level="error")
    async with Pegboard.open(settings=settings) as board:
        board.tool(name="usage")(measure_usage)
        board.tool(name="wait", timeout=600)(wait)
        async with served(board) as url:
            sys.stdout.write(f"{url}\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
