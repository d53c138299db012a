"""Standard input and output as streams of lines, which only the protocol uses."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from typing import Any

# Lines that may wait for a reader. The reader of requests pauses above it, and notifications are dropped.
MAX_WAITING_LINES = 1000
_MAX_WAITING_NOTIFICATIONS = 100
_PAUSE_SECONDS = 0.02
_CLOSE_TIMEOUT_SECONDS = 0.3


class LineTooLong(Exception):
    """A line of the input exceeds the limit; it was skipped."""


class StdioLines:
    """Reads lines from standard input and writes lines to standard output, each in an OS thread of its own.

    Whatever else in this process prints goes to standard error, and child processes cannot read the input.
    """

    def __init__(self, max_line: int) -> None:
        self._input = os.fdopen(os.dup(0), "rb")
        self._output = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._max_line = max_line
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: asyncio.Queue[bytes | LineTooLong | None] = asyncio.Queue(16)
        self._loop = asyncio.get_running_loop()
        self._is_broken = False
        # Daemons: a read or a write that blocks must not keep the process alive.
        threading.Thread(target=self._read_lines, name="pegboard-stdin", daemon=True).start()
        self._writer = threading.Thread(target=self._write_lines, name="pegboard-stdout", daemon=True)
        self._writer.start()

    async def read(self) -> bytes | None:
        """Return the next line that is not blank, or None at the end; raise LineTooLong for a line over the limit."""
        while self._outgoing.qsize() > MAX_WAITING_LINES and not self._is_broken:  # noqa: ASYNC110 -- a thread reads it
            await asyncio.sleep(_PAUSE_SECONDS)
        line = await self._incoming.get()
        if isinstance(line, LineTooLong):
            raise line
        return line

    def write(self, line: bytes) -> None:
        """Write a line without its end; it is sent in order, and without waiting."""
        if not self._is_broken:
            self._outgoing.put(line + b"\n")

    def write_notification(self, line: bytes) -> None:
        """Write a line that may be dropped if the client reads slowly."""
        if self._outgoing.qsize() < _MAX_WAITING_NOTIFICATIONS:
            self.write(line)

    def close(self) -> None:
        """Wait a short time until all lines are written."""
        self._outgoing.put(None)
        self._writer.join(_CLOSE_TIMEOUT_SECONDS)

    def _read_lines(self) -> None:
        is_skipping = False
        try:
            while line := self._input.readline(self._max_line + 1):
                is_whole = line.endswith(b"\n")
                if not is_whole and len(line) > self._max_line:
                    if not is_skipping:
                        self._pass_on(LineTooLong())
                    is_skipping = True
                elif is_skipping:
                    is_skipping = not is_whole
                elif not line.isspace():
                    self._pass_on(line.rstrip(b"\r\n"))
            self._pass_on(None)
        except RuntimeError:
            return  # the event loop has ended
        except OSError:
            self._pass_on(None)

    def _pass_on(self, line: bytes | LineTooLong | None) -> None:
        passing: Any = asyncio.run_coroutine_threadsafe(self._incoming.put(line), self._loop)
        passing.result()

    def _write_lines(self) -> None:
        while (line := self._outgoing.get()) is not None:
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._output, rest) :]
            except OSError:  # the client has closed its end
                self._is_broken = True
                return
