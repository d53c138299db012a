"""The transports to an upstream: a command or HTTP, in the newer protocol or the one before."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pegboard.kinds.mcp.upstream import Upstream
from tests.mcp_servers.processes import matching
from tests.mcp_servers.run_servers import everyday, over_http

WAYS = ("stdio modern", "stdio legacy", "http modern", "http legacy")


@dataclass(frozen=True)
class Transport:
    """An upstream, its record of slow calls, and how to kill and restart it."""

    name: str
    upstream: Upstream
    notes: Path
    kill: Callable[[], None]
    restart: Callable[[], None]

    def noted(self) -> list[str]:
        """Return its record so far."""
        return self.notes.read_text().split() if self.notes.exists() else []


@contextmanager
def opened(way: str, folder: Path) -> Iterator[Transport]:
    """An upstream that is reached in this way."""
    kind, era = way.split()
    notes = folder / "notes"
    if kind == "stdio":

        def kill() -> None:
            # The server itself, as an operator would find it; its supervisor stays.
            for pid in matching(str(notes)):
                with suppress(FileNotFoundError, ProcessLookupError):  # a session of the test, which has ended
                    if b"child.py" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                        os.kill(pid, signal.SIGKILL)

        yield Transport(way, everyday(era, notes), notes, kill, lambda: None)
        return
    with over_http(era, notes) as server:
        yield Transport(way, server.upstream, notes, server.stop, server.start)
