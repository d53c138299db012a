"""What a running call reports of itself: lines on a channel of their own, thinned out where they come too fast."""

from __future__ import annotations

import math
import os
from collections import deque

from pegboard.sandbox.inside.frames import Line

# What is left of a line that is longer, and what is passed on at once: so many lines, and so many bytes of them.
LONGEST_LINE = 16 * 1024
MOST_LINES = 100
MOST_BYTES = 32 * 1024
# Between two times that something is passed on.
_PAUSE_SECONDS = 0.02
_CHUNK = 2**16
# What is read once the call is over is no more than the largest pipe holds.
_LAST_CHUNKS = 16


class Reports:
    """The reading end of the channel: the latest lines are kept until the server may hear of them, older ones dropped.

    Nothing here waits for the server, and the call never waits for this: all that comes is read at once. What is passed
    on begins with an empty line where something was dropped before it.
    """

    def __init__(self, fd: int, line: Line) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        # When there is something to pass on.
        self.due = math.inf
        self._line = line
        self._lines: deque[bytes] = deque()
        self._is_gap = False
        self._rest = b""
        self._free_at = 0.0

    def fill(self) -> bool:
        """Take what has come; whether more may come."""
        piece = self._read()
        if piece:
            self._take(piece)
        return piece != b""

    def pass_on(self, now: float) -> None:
        """Tell the server, if it is time for it and the server has taken what it was told before."""
        if now < self.due:
            return
        if self._line.catch_up() and self._lines:
            self._line.say_reports(self._taken())
        self._free_at = now + _PAUSE_SECONDS
        is_left = self._lines or not self._line.catch_up()
        self.due = self._free_at if is_left else math.inf

    def finish(self) -> None:
        """Tell the server all that is left, now that the call is over."""
        for _ in range(_LAST_CHUNKS):
            piece = self._read()
            if not piece:
                break
            self._take(piece)
        if self._rest:
            self._keep([self._rest])
        if self._lines:
            self._line.say_reports(self._taken())

    def _read(self) -> bytes | None:
        """The next bytes, none at the end, None where there are none now."""
        try:
            return os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return None

    def _take(self, piece: bytes) -> None:
        # From the end, as only the last lines are kept: a flood is not looked through.
        *lines, rest = (self._rest + piece).rsplit(b"\n", MOST_LINES)
        self._rest = rest[:LONGEST_LINE]
        if lines:
            _, dropped, lines[0] = lines[0].rpartition(b"\n")
            self._keep(lines)
            self._is_gap = self._is_gap or bool(dropped)

    def _keep(self, lines: list[bytes]) -> None:
        self._lines.extend(line[:LONGEST_LINE] for line in lines if line)
        while len(self._lines) > MOST_LINES or sum(map(len, self._lines)) + len(self._lines) > MOST_BYTES:
            self._lines.popleft()
            self._is_gap = True
        if self._lines and self.due == math.inf:
            self.due = self._free_at

    def _taken(self) -> bytes:
        lines = (b"\n" if self._is_gap else b"") + b"\n".join(self._lines)
        self._lines.clear()
        self._is_gap = False
        return lines
