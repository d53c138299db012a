"""The supervisor of one call: the process that all others of the call depend on, and end with.

It furnishes the call, starts the confined process, keeps what comes out of it, watches clock and memory, and tells the
server how it ended. Nothing in here trusts what the confined process does.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from typing import NamedTuple, NoReturn

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.children import Child, Source
from pegboard.sandbox.inside.frames import Gone, Line
from pegboard.sandbox.inside.handing import handed
from pegboard.sandbox.inside.hearing import PAUSE_SECONDS, rehearse_hearing
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.place import Place, end_all
from pegboard.sandbox.inside.steps import StepFailed, step
from pegboard.sandbox.inside.streams import Streams
from pegboard.sandbox.inside.vigil import Fate, Vigil

# Where the descriptor through which the zygote hands over a call is kept.
_HANDLE = 3


class Prepared(NamedTuple):
    """The process that waits for orders, the pipes to it, and the socket that only it can connect to."""

    child: Child
    streams: Streams
    listener: socket.socket | None


def supervise(handle: int, source: Source, place: Place, *, network: bool) -> NoReturn:
    """Wait for the zygote to hand over a call's socket, and run that call; this process ends with it."""
    try:
        _run(handle, source, place, network)
    except Gone:
        end_all(place)
    except Exception:
        # For the server's log; that the line ends without a word tells it the rest.
        sys.excepthook(*sys.exc_info())
        end_all(place)
    finally:
        # This is a copy of the zygote, and must not go on to serve calls as if it were one.
        os._exit(0)


def _run(handle: int, source: Source, place: Place, network: bool) -> None:
    os.dup2(handle, _HANDLE, inheritable=False)
    syscalls.close_from(source.closed_from)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    prepared: Prepared | StepFailed
    try:
        prepared = _prepare(source, place, network)
    except StepFailed as error:
        prepared = error
    if not select.select([_HANDLE], [], [], PAUSE_SECONDS)[0]:
        rehearse_hearing()
    line = _take_line()
    told = line.read_job()
    try:
        if isinstance(prepared, StepFailed):
            raise prepared
        _run_call(line, Job.read(told), place, prepared)
    except StepFailed as error:
        line.say_failed(str(error))


def _prepare(source: Source, place: Place, network: bool) -> Prepared:
    """All that can be done before there is a call."""
    with step("leaving the zygote's process group"):
        os.setpgid(0, 0)
    folder = place.enter()
    listener = place.listen() if network else None
    with step("opening pipes"):
        streams = Streams()
    # As early as can be: what this process has written to by then, it would have to copy again afterwards.
    with step("starting the confined process"):
        child = source.start(place, folder, None if listener is None else listener.getsockname()[1], streams)
    for fd in streams.other_ends:
        os.close(fd)
    place.build()
    child.arrive()
    with step("hiding from the confined process"):
        syscalls.set_dumpable(False)
    streams.orders.announce()
    return Prepared(child, streams, listener)


def _take_line() -> Line:
    with socket.socket(fileno=_HANDLE) as handle:
        descriptors = handed(handle, 1).descriptors
    if not descriptors:
        raise Gone
    return Line(socket.socket(fileno=descriptors[0]))


def _run_call(line: Line, job: Job, place: Place, prepared: Prepared) -> None:
    if job.network != (prepared.listener is not None):
        raise StepFailed("reading the job: it is not the kind of call that it was said to be, with or without network")
    folder = place.furnish(job)
    try:
        if prepared.listener is not None:
            with prepared.listener as listener:
                line.hand_over(listener)
        _check_waiting(prepared)
        line.say_started()
        _watch_over(line, Call(job, folder), place, prepared)
    finally:
        end_all(place, prepared.child.fileno())
        place.leave(job)


def _check_waiting(prepared: Prepared) -> None:
    """Tell why the process that should wait for orders does not."""
    if prepared.child.ended() is not None:
        prepared.streams.trouble.drain()
        trouble = prepared.streams.told_trouble()
        if trouble is None:
            # Killed, such as for want of memory: nothing of this call has run, and the server begins it anew.
            raise Gone
        raise StepFailed(trouble.message)


def _watch_over(line: Line, call: Call, place: Place, prepared: Prepared) -> None:
    streams = prepared.streams
    streams.agree(call.job.bounds)
    streams.stdin.feed_slowly(call.job.stdin)
    streams.orders.feed_whole(call.told())
    vigil = Vigil(prepared.child, call.job, place, line, streams)
    fate = vigil.wait()
    # What they had written is there, and nobody waits until the last of them is gone.
    place.kill_all()
    for stream in streams.kept:
        stream.drain()
    vigil.finish()
    fate = _judge(fate, streams)
    line.say_ended(fate, *(bytes(stream.content) for stream in (streams.result, streams.stdout, streams.stderr)))


def _judge(fate: Fate, streams: Streams) -> Fate:
    """The fate in the light of what the confined process left."""
    trouble = streams.told_trouble()
    if trouble is not None:
        return Fate(*trouble)
    over = [stream for stream in streams.kept if stream.is_over]
    if over and fate.word in ("exited", "signalled"):
        return Fate("output", message=str(over[0]))
    return fate
