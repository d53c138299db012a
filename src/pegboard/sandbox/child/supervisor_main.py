"""The supervisor of a call: prepares the isolation, starts and watches the confined process, and ends it.

It collects the output, checks time and memory, and reports to the server how the call ended. It does not trust the
confined process. It runs one call and exits.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from typing import NamedTuple, NoReturn

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.fd_channel import MAX_FDS, CallAbandoned, CallEnd, ServerChannel
from pegboard.sandbox.child.fork_source import ConfinedProcess, ForkSource, ProcessEnd
from pegboard.sandbox.child.isolation import Isolation, kill_and_reap
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.memory_meter import MemoryMeter
from pegboard.sandbox.child.pipes import RESULT_END, CallPipes, OutputPipe, ReportReader
from pegboard.sandbox.child.setup_steps import StepFailed, step

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


# The file descriptor on which the zygote passes the call.
_ZYGOTE_FD = 3
# A killed process takes a few of these polls to end.
_EXIT_POLL_SECONDS, _EXIT_POLLS = 0.01, 10


class PreparedProcess(NamedTuple):
    """The process that waits for a call, its pipes, and the listening socket that only it can connect to."""

    child: ConfinedProcess
    streams: CallPipes
    listener: socket.socket | None


def run_supervisor(handle: int, source: ForkSource, place: Isolation, *, network: bool) -> NoReturn:
    """Prepare for a call, run the call whose socket the zygote passes, and exit."""
    try:
        os.dup2(handle, _ZYGOTE_FD, inheritable=False)
        syscalls.close_fds_from(source.first_unused_fd)
        with step("leaving the zygote's process group"):
            os.setpgid(0, 0)
        _run_next_call(source, place, network)
    except CallAbandoned:
        kill_and_reap(place)
    except Exception:
        # For the server's log; the server also sees that the channel closes without a result.
        sys.excepthook(*sys.exc_info())
        kill_and_reap(place)
    finally:
        # This is a fork of the zygote, and must not continue as a zygote.
        os._exit(0)


def _run_next_call(source: ForkSource, place: Isolation, network: bool) -> None:
    prepared: PreparedProcess | StepFailed
    try:
        prepared = _prepare_process(source, place, network)
    except StepFailed as error:
        if place.first >= 0 and any(place.is_empty(_EXIT_POLL_SECONDS) for _ in range(_EXIT_POLLS)):
            # Pid 1 was killed, for example by the OOM killer: the server starts the call again.
            raise CallAbandoned from None
        prepared = error
    with _receive_channel() as line:
        text = line.read_job()
        try:
            if isinstance(prepared, StepFailed):
                raise prepared
            _run_call(line, Job.read(text), place, prepared)
        except StepFailed as error:
            line.send_failure(str(error))


def _prepare_process(source: ForkSource, place: Isolation, network: bool) -> PreparedProcess:
    """Do everything that can be done before there is a call; raise StepFailed if a step fails."""
    with step("becoming readable for the confined process"):
        syscalls.set_dumpable(True)
    folder = place.open(network=network)
    listener = place.listen() if network else None
    with step("opening pipes"):
        streams = CallPipes()
    with step("starting the confined process"):
        child = source.start(place, folder, None if listener is None else listener.getsockname()[1], streams)
    for fd in streams.child_fds:
        os.close(fd)
    child.wait_until_isolated()
    with step("hiding from the confined process"):
        place.hide_process()
    streams.orders.announce_call()
    return PreparedProcess(child, streams, listener)


def _receive_channel() -> ServerChannel:
    with socket.socket(fileno=_ZYGOTE_FD) as zygote:
        _call, descriptors, _flags, _address = socket.recv_fds(zygote, 1, MAX_FDS)
    if not descriptors:
        raise CallAbandoned
    return ServerChannel(socket.socket(fileno=descriptors[0]))


def _run_call(line: ServerChannel, job: Job, place: Isolation, prepared: PreparedProcess) -> None:
    if job.network != (prepared.listener is not None):
        raise StepFailed("reading the job: its network setting is not that of the prepared process")
    place.prepare_folder(job)
    try:
        if prepared.listener is not None:
            with prepared.listener as listener:
                line.send_listener(listener)
        _check_process_waits(prepared)
        line.send_started()
        _watch_call(line, job, place, prepared)
    finally:
        kill_and_reap(place)
        place.remove_files(job)


def _check_process_waits(prepared: PreparedProcess) -> None:
    """Raise an error if the process that should wait for a call has ended."""
    if prepared.child.poll_end() is not None:
        prepared.streams.trouble.drain()
        trouble = prepared.streams.read_trouble()
        if trouble is None:
            # Killed, for example by the OOM killer: nothing of this call has run, and the server starts it again.
            raise CallAbandoned
        raise StepFailed(trouble.message)


def _watch_call(line: ServerChannel, job: Job, place: Isolation, prepared: PreparedProcess) -> None:
    streams = prepared.streams
    streams.set_limits(job.bounds)
    streams.stdin.write_later(job.stdin)
    streams.orders.write_all(job.text)
    watcher = CallWatcher(prepared.child, job, place, line, streams)
    end = watcher.wait()
    # Their output is in the pipes already, so the exit of the last process is not waited for.
    place.kill_all()
    for stream in streams.output_pipes:
        stream.drain()
    watcher.finish()
    line.send_result(
        _judge_end(end, streams),
        *(bytes(stream.content) for stream in (streams.result, streams.stdout, streams.stderr)),
    )


def _judge_end(end: CallEnd, streams: CallPipes) -> CallEnd:
    """Return how the call ended, considering the setup failure and the output limits."""
    trouble = streams.read_trouble()
    if trouble is not None:
        return trouble
    over = [stream for stream in streams.output_pipes if stream.is_over]
    if over and end.fate in ("exited", "signalled"):
        return CallEnd("output", message=str(over[0]))
    return end
