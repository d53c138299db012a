"""The pipes between a supervisor and its confined process, with size limits, and the reader of progress reports."""

from __future__ import annotations

import json
import math
import os
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from pegboard.sandbox.child.fd_channel import CallEnd, ServerChannel
from pegboard.sandbox.child.job import JobLimits

# Limit of one report line (longer ones are truncated), and of the lines and bytes that are sent at once.
MAX_LINE_BYTES = 16 * 1024
MAX_LINES = 100
MAX_REPORT_BYTES = 32 * 1024
# Minimum interval between two sends.
_REPORT_PAUSE_SECONDS = 0.02
_REPORT_CHUNK_BYTES = 2**16
# After the call is over, no more is read than the largest pipe holds.
_MAX_LAST_CHUNKS = 16


class ReportReader:
    """Reads the report pipe; keeps the latest lines until they can be sent to the server, and drops older ones.

    This never waits for the server, and the call never waits for this: all data is read at once. If lines were dropped,
    the next data for the server begins with an empty line.
    """

    def __init__(self, fd: int, line: ServerChannel) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        # When pending lines are to be sent.
        self.due_at = math.inf
        self._line = line
        self._lines: deque[bytes] = deque()
        self._has_gap = False
        self._rest = b""
        self._next_send_at = 0.0

    def fill(self) -> bool:
        """Read what is available; return False at EOF."""
        piece = self._read()
        if piece:
            self._take(piece)
        return piece != b""

    def send_due(self, now: float) -> None:
        """Send the pending lines if they are due and the server has read the previous ones."""
        if now < self.due_at:
            return
        if self._line.flush_unsent() and self._lines:
            self._line.send_reports(self._take_lines())
        self._next_send_at = now + _REPORT_PAUSE_SECONDS
        is_left = self._lines or not self._line.flush_unsent()
        self.due_at = self._next_send_at if is_left else math.inf

    def finish(self) -> None:
        """Send all that is left, after the call is over."""
        for _ in range(_MAX_LAST_CHUNKS):
            piece = self._read()
            if not piece:
                break
            self._take(piece)
        if self._rest:
            self._keep([self._rest])
        if self._lines:
            self._line.send_reports(self._take_lines())

    def _read(self) -> bytes | None:
        """Return the next bytes; empty at EOF, None if none are available now."""
        try:
            return os.read(self.fd, _REPORT_CHUNK_BYTES)
        except BlockingIOError:
            return None

    def _take(self, piece: bytes) -> None:
        # Split from the end, because only the last lines are kept: a flood of lines is not scanned.
        *lines, rest = (self._rest + piece).rsplit(b"\n", MAX_LINES)
        self._rest = rest[:MAX_LINE_BYTES]
        if lines:
            _, dropped, lines[0] = lines[0].rpartition(b"\n")
            self._keep(lines)
            self._has_gap = self._has_gap or bool(dropped)

    def _keep(self, lines: list[bytes]) -> None:
        self._lines.extend(line[:MAX_LINE_BYTES] for line in lines if line)
        while len(self._lines) > MAX_LINES or sum(map(len, self._lines)) + len(self._lines) > MAX_REPORT_BYTES:
            self._lines.popleft()
            self._has_gap = True
        if self._lines and self.due_at == math.inf:
            self.due_at = self._next_send_at

    def _take_lines(self) -> bytes:
        lines = (b"\n" if self._has_gap else b"") + b"\n".join(self._lines)
        self._lines.clear()
        self._has_gap = False
        return lines


# The first byte in the orders pipe, before the call.
CALL_FOLLOWS = b"."
# The end mark of a result; it does not occur in the JSON.
RESULT_END = b"\n"
# Limit of the message that explains why a call did not run.
_MAX_TROUBLE_BYTES = 4096


class PipeEnds(NamedTuple):
    """Both ends of a pipe."""

    reading: int
    writing: int


class OutputPipe:
    """The reading end of a pipe and the data from it; no data is kept before `most` is set."""

    def __init__(self, name: str, most: int = 0) -> None:
        self.most = most
        self.content = bytearray()
        self.is_over = False
        self._name = name
        self.fd, self.child_fd = os.pipe()
        os.set_blocking(self.fd, False)

    def __str__(self) -> str:
        return f"{self._name} of more than {self.most} bytes"

    def fill(self) -> bool:
        """Read what is available, up to the limit; return False at EOF."""
        room = self.most - len(self.content)
        try:
            piece = os.read(self.fd, min(_REPORT_CHUNK_BYTES, room + 1))
        except BlockingIOError:
            return True
        self.content += piece[:room]
        self.is_over = self.is_over or len(piece) > room
        return bool(piece)

    def drain(self) -> None:
        """Read the rest after all writers have ended."""
        before = -1
        while not self.is_over and len(self.content) > before:
            before = len(self.content)
            self.fill()


class InputPipe:
    """The writing end of a pipe, and the data that is still to be written."""

    def __init__(self) -> None:
        self.child_fd, self.fd = os.pipe()
        self._left = memoryview(b"")

    def announce_call(self) -> None:
        """Write the byte that announces a call; a reader that has ended reports the reason elsewhere."""
        with suppress(BrokenPipeError):
            os.write(self.fd, CALL_FOLLOWS)

    def write_all(self, content: bytes) -> None:
        """Write the content to a reader that waits for it."""
        self._left = memoryview(content)
        self.feed()

    def write_later(self, content: bytes) -> None:
        """Set the content that `feed` writes without blocking, because the reader may not read it."""
        os.set_blocking(self.fd, False)
        self._left = memoryview(content)

    def feed(self) -> bool:
        """Write as much as possible, and close at the end; return True if data is left."""
        try:
            while self._left:
                self._left = self._left[os.write(self.fd, self._left) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            pass
        self.close()
        return False

    def close(self) -> None:
        """Close the writing end."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class CallPipes:
    """All pipes between a confined process and its supervisor.

    The process reads its call from `orders` and reports setup failures through `trouble`. `reports` is read only if the
    caller listens.
    """

    def __init__(self) -> None:
        self.stdin = InputPipe()
        self.stdout = OutputPipe("stdout")
        self.stderr = OutputPipe("stderr")
        self.result = OutputPipe("a result")
        self.trouble = OutputPipe("trouble", _MAX_TROUBLE_BYTES)
        self.orders = InputPipe()
        self.reports = PipeEnds(*os.pipe())

    def set_limits(self, bounds: JobLimits) -> None:
        """Set how much output and result is kept."""
        self.stdout.most = self.stderr.most = bounds.output
        self.result.most = bounds.result

    def read_trouble(self) -> CallEnd | None:
        """Return why the process could not run the job, as it reported, or None."""
        return CallEnd(**json.loads(self.trouble.content)) if self.trouble.content else None

    @property
    def output_pipes(self) -> tuple[OutputPipe, ...]:
        """The pipes that the process writes to."""
        return (self.stdout, self.stderr, self.result, self.trouble)

    @property
    def child_fds(self) -> tuple[int, ...]:
        """The ends of the process, in the order of their file descriptors there."""
        kept = (stream.child_fd for stream in self.output_pipes)
        return (self.stdin.child_fd, *kept, self.orders.child_fd, self.reports.writing)
