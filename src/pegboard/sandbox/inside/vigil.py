"""The time during which a confined process runs, and what ends it."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import NamedTuple

from pegboard.sandbox.inside.children import Child, Ended
from pegboard.sandbox.inside.frames import Gone, Line
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.memory import Meter
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.reports import Reports
from pegboard.sandbox.inside.streams import END, Kept, Streams

# How often memory is looked at, and orphans are let go of.
_LOOK_SECONDS = 0.1


class Fate(NamedTuple):
    """How a call ended: the word for it, the exit code or the signal's number, and more where there is more to say."""

    word: str
    code: int = 0
    message: str = ""


class Vigil:
    """One supervisor's watch over the process that it has started."""

    def __init__(self, child: Child, job: Job, place: Place, line: Line, streams: Streams) -> None:
        self._child = child
        self._job = job
        self._place = place
        self._line = line
        self._stdin = streams.stdin
        self._result = streams.result
        # A command has no result apart from its output; that it has none is known already.
        self._kept = {stream.fd: stream for stream in streams.kept if job.is_python or stream is not streams.result}
        self._reports = Reports(streams.reports.reading, line) if job.reports else None
        self._deadline = 0.0
        self._meter = Meter(job.bounds.memory + child.inherited)
        self._poller = select.poll()
        for fd in (line.fileno(), child.fileno(), *self._kept):
            self._poller.register(fd, select.POLLIN)
        if self._reports is not None:
            self._poller.register(self._reports.fd, select.POLLIN)
        self._server = select.poll()
        self._server.register(line.fileno(), select.POLLIN)
        self._feed()

    def wait(self) -> Fate:
        """What became of the process, or why it has to end; raises Gone where the server no longer wants to know."""
        job = self._job
        now = time.monotonic()
        look = now + _LOOK_SECONDS
        self._deadline = now + job.seconds
        reports = self._reports
        while now < self._deadline:
            wake = min(self._deadline, look) if reports is None else min(self._deadline, look, reports.due)
            ready = [fd for fd, _events in self._poller.poll(max(0.0, wake - now) * 1000)]
            fate = self._serve(ready)
            now = time.monotonic()
            if reports is not None:
                reports.pass_on(now)
            if fate is None and now >= look:
                look = now + _LOOK_SECONDS
                fate = self._look()
            if fate is not None:
                return fate
        return Fate("time", message=f"longer than {job.seconds:g} seconds")

    def finish(self) -> None:
        """Pass on what the process reported last; nobody waits for it any more."""
        if self._reports is not None:
            self._reports.finish()

    def _serve(self, ready: list[int]) -> Fate | None:
        if self._line.fileno() in ready:
            raise Gone
        for fd in ready:
            if fd in self._kept:
                fate = self._take(self._kept[fd])
                if fate is not None:
                    return fate
        if self._reports is not None and self._reports.fd in ready and not self._reports.fill():
            self._poller.unregister(self._reports.fd)
        if self._stdin.fd in ready:
            self._poller.unregister(self._stdin.fd)
            self._feed()
        return self._fate() if self._child.fileno() in ready else None

    def _take(self, stream: Kept) -> Fate | None:
        more = stream.fill()
        if stream.is_over:
            return Fate("output", message=str(stream))
        if not more:
            self._poller.unregister(stream.fd)
        if stream is self._result and stream.content.endswith(END):
            # Whoever has given its result is done; its end may take as long as its work.
            del stream.content[-len(END) :]
            return Fate("exited")
        return None

    def _feed(self) -> None:
        if self._stdin.feed():
            self._poller.register(self._stdin.fd, select.POLLOUT)

    def _look(self) -> Fate | None:
        fate = self._fate()
        if fate is None and self._meter.is_over(self._place.processes(), self._is_done):
            fate = Fate("memory", message=f"more than {self._job.bounds.memory} bytes of memory")
        return fate

    def _fate(self) -> Fate | None:
        ended = self._child.ended()
        return None if ended is None else _fate(ended, self._job)

    def _is_done(self) -> bool:
        return time.monotonic() >= self._deadline or bool(self._server.poll(0))


def _fate(ended: Ended, job: Job) -> Fate:
    code = os.waitstatus_to_exitcode(ended.status)
    if code >= 0:
        return Fate("exited", code)
    # Whoever ignores the first signal for this gets the other one.
    spent = ended.cpu_seconds >= job.cpu_seconds
    if -code == signal.SIGXCPU or (-code == signal.SIGKILL and spent):
        return Fate("cpu", -code, f"more than {job.cpu_seconds} seconds of processor time in one process")
    return Fate("signalled", -code)
