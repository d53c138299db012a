"""What goes into and comes out of a confined process, never more than was agreed."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import NamedTuple

from pegboard.sandbox.inside.job import Bounds

# What goes into a pipe before all else.
ANNOUNCED = b"."
# What a result ends with; no JSON of ours holds one.
END = b"\n"
_CHUNK = 2**16
# A sentence that says why the call never ran is no longer than this.
_MOST_TROUBLE = 4096


class Ends(NamedTuple):
    """Both ends of a pipe."""

    reading: int
    writing: int


class Trouble(NamedTuple):
    """Why a confined process did not become what it should have: the call's fate, the code, and the reason."""

    fate: str
    code: int
    message: str


class Kept:
    """The reading end of a pipe, and what came through it; nothing is kept before `most` is set."""

    def __init__(self, name: str, most: int = 0) -> None:
        self.most = most
        self.content = bytearray()
        self.is_over = False
        self._name = name
        self.fd, self.other_end = os.pipe()
        os.set_blocking(self.fd, False)

    def __str__(self) -> str:
        return f"{self._name} of more than {self.most} bytes"

    def fill(self) -> bool:
        """Take what has come; whether more may come."""
        room = self.most - len(self.content)
        try:
            piece = os.read(self.fd, min(_CHUNK, room + 1))
        except BlockingIOError:
            return True
        self.content += piece[:room]
        self.is_over = self.is_over or len(piece) > room
        return bool(piece)

    def drain(self) -> None:
        """Take what is still there now that nobody writes any more."""
        before = -1
        while not self.is_over and len(self.content) > before:
            before = len(self.content)
            self.fill()


class Fed:
    """The writing end of a pipe, and what is still to go into it."""

    def __init__(self) -> None:
        self.other_end, self.fd = os.pipe()
        self._left = memoryview(b"")

    def announce(self) -> None:
        """Tell a reader that something will come; whoever has ended by now says why elsewhere."""
        with suppress(BrokenPipeError):
            os.write(self.fd, ANNOUNCED)

    def feed_whole(self, content: bytes) -> None:
        """Give it to a reader that waits for it."""
        self._left = memoryview(content)
        self.feed()

    def feed_slowly(self, content: bytes) -> None:
        """Have it given by and by, for nobody knows what the reader does."""
        os.set_blocking(self.fd, False)
        self._left = memoryview(content)

    def feed(self) -> bool:
        """Give what is taken now, and close when it was all; whether something is left that may still be taken."""
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
        """Give no more."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Streams:
    """All pipes between a confined process and its supervisor.

    Through `orders` it hears what it is to become, through `trouble` it tells that it could not. What goes through
    `reports` is read only where somebody wants to hear it.
    """

    def __init__(self) -> None:
        self.stdin = Fed()
        self.stdout = Kept("stdout")
        self.stderr = Kept("stderr")
        self.result = Kept("a result")
        self.trouble = Kept("trouble", _MOST_TROUBLE)
        self.orders = Fed()
        self.reports = Ends(*os.pipe())

    def agree(self, bounds: Bounds) -> None:
        """Set how much is kept."""
        self.stdout.most = self.stderr.most = bounds.output
        self.result.most = bounds.result

    def told_trouble(self) -> Trouble | None:
        """What the process has told of why it could not, if it has."""
        return Trouble(**json.loads(self.trouble.content)) if self.trouble.content else None

    @property
    def kept(self) -> tuple[Kept, ...]:
        """Those that the process writes to."""
        return (self.stdout, self.stderr, self.result, self.trouble)

    @property
    def other_ends(self) -> tuple[int, ...]:
        """The process's own ends, in the order of the numbers that they get there."""
        kept = (stream.other_end for stream in self.kept)
        return (self.stdin.other_end, *kept, self.orders.other_end, self.reports.writing)

    def close(self) -> None:
        """Close this process's ends."""
        for fed in (self.stdin, self.orders):
            fed.close()
        for descriptor in (*(stream.fd for stream in self.kept), self.reports.reading):
            os.close(descriptor)
