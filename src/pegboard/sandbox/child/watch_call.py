"""Watches a confined process while it runs: output, time, memory and the connection to the server."""

from __future__ import annotations

import os
import select
import signal
import time

from pegboard.sandbox.child.fd_channel import CallAbandoned, CallEnd, ServerChannel
from pegboard.sandbox.child.fork_source import ConfinedProcess, ProcessEnd
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.memory_meter import MemoryMeter
from pegboard.sandbox.child.pipes import RESULT_END, CallPipes, OutputPipe, ReportReader

# Interval at which memory is checked and orphans are reaped.
_MEMORY_POLL_SECONDS = 0.1


class CallWatcher:
    """Watches the confined process of one supervisor."""

    def __init__(
        self, child: ConfinedProcess, job: Job, place: Isolation, line: ServerChannel, streams: CallPipes
    ) -> None:
        self._child = child
        self._job = job
        self._place = place
        self._line = line
        self._stdin = streams.stdin
        self._result = streams.result
        # A command has no result apart from its output.
        self._kept = {
            stream.fd: stream for stream in streams.output_pipes if job.is_python or stream is not streams.result
        }
        self._reports = ReportReader(streams.reports.reading, line) if job.reports else None
        self._deadline = 0.0
        self._meter = MemoryMeter(job.bounds.memory + child.inherited)
        self._poller = select.poll()
        for fd in (line.fileno(), child.fileno(), *self._kept):
            self._poller.register(fd, select.POLLIN)
        if self._reports is not None:
            self._poller.register(self._reports.fd, select.POLLIN)
        self._server = select.poll()
        self._server.register(line.fileno(), select.POLLIN)
        self._feed()

    def wait(self) -> CallEnd:
        """Wait until the process ends or exceeds a limit, and return how.

        Raise CallAbandoned if the server has hung up.
        """
        job = self._job
        now = time.monotonic()
        look = now + _MEMORY_POLL_SECONDS
        self._deadline = now + job.seconds
        reports = self._reports
        while now < self._deadline:
            wake = min(self._deadline, look) if reports is None else min(self._deadline, look, reports.due_at)
            ready = [fd for fd, _events in self._poller.poll(max(0.0, wake - now) * 1000)]
            fate = self._serve(ready)
            now = time.monotonic()
            if reports is not None:
                reports.send_due(now)
            if fate is None and now >= look:
                look = now + _MEMORY_POLL_SECONDS
                fate = self._look()
            if fate is not None:
                return fate
        return CallEnd("time", message=f"longer than {job.seconds:g} seconds")

    def finish(self) -> None:
        """Send the last reports of the process after its end."""
        if self._reports is not None:
            self._reports.finish()

    def _serve(self, ready: list[int]) -> CallEnd | None:
        if self._line.fileno() in ready:
            raise CallAbandoned
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
        return self._poll_end() if self._child.fileno() in ready else None

    def _take(self, stream: OutputPipe) -> CallEnd | None:
        more = stream.fill()
        if stream.is_over:
            return CallEnd("output", message=str(stream))
        if not more:
            self._poller.unregister(stream.fd)
        if stream is self._result and stream.content.endswith(RESULT_END):
            # A process that has written its result is done; its exit may take as long as its work.
            del stream.content[-len(RESULT_END) :]
            return CallEnd("exited")
        return None

    def _feed(self) -> None:
        if self._stdin.feed():
            self._poller.register(self._stdin.fd, select.POLLOUT)

    def _look(self) -> CallEnd | None:
        fate = self._poll_end()
        if fate is None and self._meter.is_over(self._place.processes(), self._is_done):
            fate = CallEnd("memory", message=f"more than {self._job.bounds.memory} bytes of memory")
        return fate

    def _poll_end(self) -> CallEnd | None:
        ended = self._child.poll_end()
        return None if ended is None else _classify_end(ended, self._job)

    def _is_done(self) -> bool:
        return time.monotonic() >= self._deadline or bool(self._server.poll(0))


def _classify_end(ended: ProcessEnd, job: Job) -> CallEnd:
    code = os.waitstatus_to_exitcode(ended.status)
    if code >= 0:
        return CallEnd("exited", code)
    # A process that ignores SIGXCPU is killed with SIGKILL.
    spent = ended.cpu_seconds >= job.cpu_seconds
    if -code == signal.SIGXCPU or (-code == signal.SIGKILL and spent):
        return CallEnd("cpu", -code, f"more than {job.cpu_seconds} seconds of processor time in one process")
    return CallEnd("signalled", -code)
