"""A load generator: many connections to one loopback port, with one request at a time on each."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

# The end of a response without Content-Length.
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one load run."""

    calls: int
    seconds: float
    latencies_ms: tuple[float, ...]
    failures: int

    @property
    def rate(self) -> float:
        """Responses per second."""
        return self.calls / self.seconds

    def percentile(self, share: float) -> float:
        """Return the latency percentile in milliseconds."""
        ordered = sorted(self.latencies_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def request(path: str, body: bytes, key: str | None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a complete POST request, which can be sent repeatedly."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    if key is not None:
        head += f"Authorization: Bearer {key}\r\n"
    for name, value in (headers or {}).items():
        head += f"{name}: {value}\r\n"
    return head.encode() + b"\r\n" + body


class _Connection(asyncio.Protocol):
    def __init__(self, payload: bytes, run: _Run) -> None:
        self._payload = payload
        self._run = run
        self._buffer = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's class is not a subclass of it
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._payload)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._buffer, 0, end)
        if length is None and not self._buffer.endswith(_LAST_CHUNK):
            return
        if length is not None and len(self._buffer) < end + 4 + int(length[1]):
            return
        self._run.answered(time.perf_counter() - self._sent, self._buffer)
        self._buffer = b""
        if self._run.over:
            self._transport.close()
        else:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        self._run.left()


class _Run:
    def __init__(self, connections: int, expect: bytes) -> None:
        self.over = False
        self.latencies: list[float] = []
        self.failures = 0
        self.done = asyncio.Event()
        self._open = connections
        self._expect = expect

    def answered(self, seconds: float, answer: bytes) -> None:
        self.latencies.append(seconds * 1000)
        if not answer.startswith(b"HTTP/1.1 200") or self._expect not in answer:
            self.failures += 1

    def left(self) -> None:
        self._open -= 1
        if not self._open:
            self.done.set()


async def put_load(
    port: int, payload: bytes | Sequence[bytes], *, expect: bytes, connections: int = 100, seconds: float = 2.0
) -> Measured:
    """Keep every connection busy for this long; a response without `expect` counts as a failure.

    Several payloads are distributed over the connections.
    """
    payloads = [payload] if isinstance(payload, bytes) else payload
    run = _Run(connections, expect)
    loop = asyncio.get_running_loop()
    begun = time.perf_counter()
    for number in range(connections):
        sent = payloads[number % len(payloads)]
        await loop.create_connection(partial(_Connection, sent, run), "127.0.0.1", port)
    await asyncio.sleep(seconds)
    took = time.perf_counter() - begun
    counted = len(run.latencies)
    run.over = True
    await asyncio.wait_for(run.done.wait(), 30)
    return Measured(counted, took, tuple(run.latencies[:counted]), run.failures)
