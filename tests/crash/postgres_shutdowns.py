"""PostgreSQL servers with other settings, and ways to end them while they are in use."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

from tests.servers import PostgresServer


def start_with(server: PostgresServer, **settings: str) -> None:
    """Start the server with other settings, which stay until they are changed again."""
    server.stop()
    server.command = [*server.command, *(part for item in settings.items() for part in ("-c", "=".join(item)))]
    server.start()


def make_durable(server: PostgresServer) -> None:
    """Restart the server with fsync, so that committed data survives a crash."""
    start_with(server, fsync="on", full_page_writes="on")


def kill(server: PostgresServer) -> None:
    """Kill the server and all its processes at once with SIGKILL."""
    lock = server.data / "postmaster.pid"
    postmaster = int(lock.read_text().split()[0])
    os.kill(postmaster, signal.SIGSTOP)  # so that it starts no process during this time
    for child in _children(postmaster):
        os.kill(child, signal.SIGKILL)
    os.kill(postmaster, signal.SIGKILL)
    server.stop()
    lock.unlink()  # it would report that the server is ready


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


ENDS: dict[str, Callable[[PostgresServer], None]] = {"stopped": PostgresServer.stop, "killed": kill}
