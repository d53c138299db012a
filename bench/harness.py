"""Start the measured servers, and print results."""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

_SERVERS = (sys.executable, "-m", "bench.servers")


@dataclass(frozen=True, slots=True)
class Running:
    """A running server."""

    name: str
    port: int
    pid: int
    start_seconds: float

    @property
    def memory_mb(self) -> float:
        """Resident memory now, in MB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no memory reading")

    @property
    def cpu_seconds(self) -> float:
        """CPU time since its start."""
        words = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(
    name: str, *, home: Path | None = None, program: Sequence[str] = (), **environment: str
) -> Iterator[Running]:
    """Start one of bench.servers on loopback, or another program with the same arguments, and stop it afterwards."""
    with tempfile.TemporaryDirectory() as fresh, socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.set_inheritable(True)
        begun = time.perf_counter()
        process = subprocess.Popen(
            [*(program or _SERVERS), name, str(bound.fileno()), str(home or fresh)],
            pass_fds=[bound.fileno()],
            env={**os.environ, **environment},
        )
        port = bound.getsockname()[1]
        try:
            _wait_until_up(port, process)
            yield Running(name, port, process.pid, time.perf_counter() - begun)
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def command(name: str, port: int, arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[Running]:
    """Start a server from any command, which must listen on this loopback port; its standard output is discarded."""
    begun = time.perf_counter()
    process = subprocess.Popen(arguments, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        _wait_until_up(port, process)
        yield Running(name, port, process.pid, time.perf_counter() - begun)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(3000):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the server did not come up")


def median(values: list[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def row(*cells: object) -> None:
    """Print one row of a table."""
    print("  " + "".join(f"{cell!s:<34}" if place == 0 else f"{cell!s:>14}" for place, cell in enumerate(cells)))


def runner() -> asyncio.Runner:
    """Return an asyncio runner with uvloop for the load generator."""
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
