"""The time during which a confined process runs, and what ends it."""

from __future__ import annotations

import os
import select
import signal
import time
from resource import struct_rusage
from typing import NamedTuple

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.frames import Gone, Line
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.memory import Meter
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.python_job import END
from pegboard.sandbox.inside.reports import Reports
from pegboard.sandbox.inside.streams import Kept, Streams

# How often memory is looked at, and orphans are let go of.
_LOOK_SECONDS = 0.1
# How many of the dead are let go of at once: as fast as they are, new ones may come.
_MOST_REAPED = 2000


class Fate(NamedTuple):
    """How a call ended: the word for it, the exit code or the signal's number, and more where there is more to say."""

    word: str
    code: int = 0
    message: str = ""


class Vigil:
    """One supervisor's watch over the process that it has started."""

    def __init__(self, child: int, job: Job, place: Place, line: Line, streams: Streams) -> None:
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
        self._meter = Meter(job.bounds.memory)
        self._ended = syscalls.pidfd_open(child)
        self._poller = select.poll()
        for fd in (line.fileno(), self._ended, *self._kept):
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
        return _reap(self._child, self._job) if self._ended in ready else None

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
        fate = _reap(self._child, self._job)
        if fate is None and self._meter.is_over(self._place.processes(), self._is_done):
            fate = Fate("memory", message=f"more than {self._job.bounds.memory} bytes of memory")
        return fate

    def _is_done(self) -> bool:
        return time.monotonic() >= self._deadline or bool(self._server.poll(0))


def _reap(child: int, job: Job) -> Fate | None:
    """The child's fate if it has ended; orphans that have ended are let go of."""
    for _ in range(_MOST_REAPED):
        pid, status, used = os.wait4(-1, os.WNOHANG)
        if pid == child:
            return _fate(status, used, job)
        if pid == 0:
            break
    return None


def _fate(status: int, used: struct_rusage, job: Job) -> Fate:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return Fate("exited", code)
    # Whoever ignores the first signal for this gets the other one.
    spent = used.ru_utime + used.ru_stime >= job.cpu_seconds
    if -code == signal.SIGXCPU or (-code == signal.SIGKILL and spent):
        return Fate("cpu", -code, f"more than {job.cpu_seconds} seconds of processor time in one process")
    return Fate("signalled", -code)
