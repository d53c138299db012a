"""Event streams: 500 of them on one process, their memory and latency, and their cost for other calls."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import cast

import orjson

from bench.harness import median, row, runner, server
from bench.load import put_load, request
from bench.servers import BODY, KEY

STREAMS = 500
ROUNDS = 3
MOST_MB, MOST_P99_MS = 200, 100
# The maximum cost of a call beside hundreds of unrelated open streams, relative to the cost without them.
MOST_OF_ALONE = 1.1

_STAMP = re.compile(rb'"message":"at (\d+\.\d+)"')
_FINISHED = re.compile(rb'"finished_at":"([^"]+)"')


class _Reader(asyncio.Protocol):
    """Reads events and records the latency of each."""

    def __init__(self, ask: bytes, delays: list[float], sent_at: Callable[[bytes], list[float]]) -> None:
        self._ask = ask
        self._delays = delays
        self._sent_at = sent_at
        self._left = b""
        self.begun = asyncio.get_running_loop().create_future()
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self.transport = cast(asyncio.WriteTransport, transport)
        self.transport.write(self._ask)

    def data_received(self, data: bytes) -> None:
        """Record the latency of complete events."""
        now = time.time()
        text = self._left + data
        whole, mark, self._left = text.rpartition(b"\n\n")
        if mark:
            self._delays += [(now - sent) * 1000 for sent in self._sent_at(whole)]
        if not self.begun.done():
            self.begun.set_result(text.startswith(b"HTTP/1.1 200"))
        if b"event: complete" in text and not self.over.done():
            self.over.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        """Complete the futures when the connection is closed."""
        for future in (self.begun, self.over):
            if not future.done():
                future.set_result(False)


def main(seconds: float = 2.0) -> bool:
    """Print memory, latency and the cost of calls; return True if the aims are met."""
    print(f"\nLive status, one process, {STREAMS} event streams at once")
    row("", "events", "p50 ms", "p99 ms", "MB", "failures")
    met = True
    for label, measure in (("followed calls, 2 reports/s each", _followed), ("watchers, 50 calls/s", _watched)):
        with server("live") as target, runner() as loop:
            delays, failures = loop.run(measure(target.port, seconds))
            memory = target.memory_mb
        delays.sort()
        p99 = delays[int(0.99 * len(delays))]
        row(label, f"{len(delays):,}", f"{median(delays):.1f}", f"{p99:.1f}", f"{memory:.0f}", failures)
        good = p99 < MOST_P99_MS and memory < MOST_MB and not failures
        print(f"  aim: p99 under {MOST_P99_MS} ms, under {MOST_MB} MB: {'met' if good else 'MISSED'}")
        met = met and good
    return _unfollowed(seconds) and met


async def _followed(port: int, seconds: float) -> tuple[list[float], int]:
    """Follow hundreds of payloads with one call each, which reports the time twice a second."""
    body = orjson.dumps({"name": "ticks", "arguments": {"seconds": max(4.0, 2 * seconds)}})
    ask = request("/v1/calls", body, KEY).replace(b"\r\n\r\n", b"\r\nAccept: text/event-stream\r\n\r\n", 1)
    delays: list[float] = []
    readers = await _connected(port, ask, delays, lambda text: [float(stamp) for stamp in _STAMP.findall(text)])
    ends = await asyncio.gather(*(reader.over for reader in readers))
    for reader in readers:
        reader.transport.close()
    return delays, sum(end is False for end in ends)


async def _watched(port: int, seconds: float) -> tuple[list[float], int]:
    """Watch the whole board over hundreds of connections, while calls are made at a steady rate."""
    ask = request("/v1/executions/stream", b"", KEY).replace(b"POST", b"GET", 1)
    delays: list[float] = []
    readers = await _connected(port, ask, delays, _finished_at)
    failures = sum(not reader.begun.result() for reader in readers)
    call = request("/v1/tools/bench_echo/call", BODY, KEY).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    ends = time.monotonic() + max(4.0, 2 * seconds)
    while time.monotonic() < ends:
        reading, writing = await asyncio.open_connection("127.0.0.1", port)
        writing.write(call)
        await reading.read()
        writing.close()
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.5)
    for reader in readers:
        reader.transport.close()
    return delays, failures


def _finished_at(text: bytes) -> list[float]:
    return [datetime.fromisoformat(moment.decode()).timestamp() for moment in _FINISHED.findall(text)]


async def _connected(
    port: int, ask: bytes, delays: list[float], sent_at: Callable[[bytes], list[float]]
) -> list[_Reader]:
    loop = asyncio.get_running_loop()
    readers = []
    for _ in range(STREAMS):
        _, reader = await loop.create_connection(lambda: _Reader(ask, delays, sent_at), "127.0.0.1", port)
        readers.append(reader)
    await asyncio.gather(*(reader.begun for reader in readers))
    # Events during the connection phase measure the time to connect, not the latency of events.
    delays.clear()
    return readers


def _unfollowed(seconds: float) -> bool:
    """Compare the CPU time of plain calls with hundreds of open streams and without any."""
    call = request("/v1/tools/bench_echo/call", BODY, KEY)
    quiet = orjson.dumps({"name": "ticks", "arguments": {"seconds": 600.0, "pause": 600.0}})
    ask = request("/v1/calls", quiet, KEY).replace(b"\r\n\r\n", b"\r\nAccept: text/event-stream\r\n\r\n", 1)
    costs: dict[str, list[float]] = {"alone": [], "beside": []}
    with server("live") as alone, server("live") as beside, runner() as loop:
        readers = loop.run(_connected(beside.port, ask, [], lambda _: []))
        for _ in range(ROUNDS):
            for name, target in (("alone", alone), ("beside", beside)):
                before = target.cpu_seconds
                measured = loop.run(put_load(target.port, call, expect=b'"echo"', seconds=seconds))
                costs[name].append((target.cpu_seconds - before) / measured.calls * 1e6)
        for reader in readers:
            reader.transport.close()
    ratio = median(costs["beside"]) / median(costs["alone"])
    print(f"  CPU of a plain call: {median(costs['alone']):.1f} µs, beside {STREAMS} streams {ratio:.2f} of that")
    print(f"  aim: at most {MOST_OF_ALONE}: {'met' if ratio <= MOST_OF_ALONE else 'MISSED'}")
    return ratio <= MOST_OF_ALONE
