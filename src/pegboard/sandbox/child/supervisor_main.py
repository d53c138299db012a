"""The supervisor of a call: prepares the isolation, starts and watches the confined process, and ends it.

It collects the output, checks time and memory, and reports to the server how the call ended. It does not trust the
confined process. It runs one call and exits.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import NamedTuple, NoReturn

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.fd_channel import MAX_FDS, CallAbandoned, CallEnd, ServerChannel
from pegboard.sandbox.child.fork_source import ConfinedProcess, ForkSource
from pegboard.sandbox.child.isolation import Isolation, kill_and_reap
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.pipes import CallPipes
from pegboard.sandbox.child.setup_steps import StepFailed, step
from pegboard.sandbox.child.watch_call import CallWatcher

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
