"""The supervisor of a call: it makes the call's place, watches over what runs there, and ends it.

It has the confined process started, keeps what comes out of it, watches clock and memory, and tells the server how it
ended. Nothing in here trusts what the confined process does. Where no call could see anything of another's in it, it
has one call after the other, each in a place of its own.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import NamedTuple, NoReturn

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.children import Child, Source
from pegboard.sandbox.inside.frames import Gone, Line
from pegboard.sandbox.inside.handing import handed
from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.place import Place, end_all
from pegboard.sandbox.inside.steps import StepFailed, step
from pegboard.sandbox.inside.streams import Streams
from pegboard.sandbox.inside.vigil import Fate, Vigil

# Where the descriptor through which the zygote hands over a call is kept.
_HANDLE = 3
# What the zygote is told where another call may come, and the most that it says itself.
FREE, MOST_WORDS = b".", 2**16
# After that many calls, or one that took so many bytes of this process, a new one starts afresh: what it has grown to
# the first process of the next call would show.
_MOST_CALLS, _MOST_BYTES = 1000, 2**16
# A process that was killed takes a few of these to be gone.
_MOMENT_SECONDS, _MOMENTS = 0.01, 10


class Prepared(NamedTuple):
    """The process that waits for orders, the pipes to it, and the socket that only it can connect to."""

    child: Child
    streams: Streams
    listener: socket.socket | None

    def close(self) -> None:
        """Hold nothing of it any more."""
        self.child.close()
        self.streams.close()


def supervise(handle: int, source: Source, place: Place, *, network: bool) -> NoReturn:
    """Run the calls whose sockets the zygote hands over; this process ends with the last of them."""
    try:
        _serve(handle, source, place, network)
    except Gone:
        end_all(place)
    except Exception:
        # For the server's log; that the line ends without a word tells it the rest.
        sys.excepthook(*sys.exc_info())
        end_all(place)
    finally:
        # This is a copy of the zygote, and must not go on to serve calls as if it were one.
        os._exit(0)


def _serve(handle: int, source: Source, place: Place, network: bool) -> None:
    os.dup2(handle, _HANDLE, inheritable=False)
    syscalls.close_from(source.closed_from)
    with step("leaving the zygote's process group"):
        os.setpgid(0, 0)
    with socket.socket(fileno=_HANDLE) as zygote:
        for _ in range(_MOST_CALLS):
            is_fit = _run(zygote, source, place, network)
            if network or not (is_fit and source.is_lasting):
                return
            processors = _next_on(zygote)
            if not processors:
                return
            syscalls.run_on([int(number) for number in processors.split(b",")])


def _next_on(zygote: socket.socket) -> bytes:
    """The processors that the zygote wants another call to run on, none where it wants none."""
    try:
        zygote.send(FREE)
        return zygote.recv(MOST_WORDS)
    except OSError:
        return b""


def _run(zygote: socket.socket, source: Source, place: Place, network: bool) -> bool:
    """Run one call; whether this process is fit for another."""
    prepared: Prepared | StepFailed
    try:
        prepared = _prepare(source, place, network)
    except StepFailed as error:
        if place.first >= 0 and any(place.is_empty(_MOMENT_SECONDS) for _ in range(_MOMENTS)):
            # The first was killed, such as for want of memory: nothing is wrong, and the server begins the call anew.
            raise Gone from None
        prepared = error
    with _taken_line(zygote) as line:
        told = line.read_job()
        try:
            if isinstance(prepared, StepFailed):
                raise prepared
            is_fit = _run_call(line, Job.read(told), place, prepared)
        except StepFailed as error:
            line.say_failed(str(error))
            return False
    prepared.close()
    return is_fit


def _prepare(source: Source, place: Place, network: bool) -> Prepared:
    """All that can be done before there is a call."""
    with step("being seen by those who join"):
        syscalls.set_dumpable(True)
    folder = place.open(network=network)
    listener = place.listen() if network else None
    with step("opening pipes"):
        streams = Streams()
    with step("starting the confined process"):
        child = source.start(place, folder, None if listener is None else listener.getsockname()[1], streams)
    for fd in streams.other_ends:
        os.close(fd)
    child.arrive()
    with step("hiding from the confined process"):
        place.hide()
    streams.orders.announce()
    return Prepared(child, streams, listener)


def _taken_line(zygote: socket.socket) -> Line:
    descriptors = handed(zygote, 1).descriptors
    if not descriptors:
        raise Gone
    return Line(socket.socket(fileno=descriptors[0]))


def _run_call(line: Line, job: Job, place: Place, prepared: Prepared) -> bool:
    """Run the call in its place; whether nothing is left of it, and this process did not grow with it."""
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
        is_over = end_all(place)
        place.close(job)
    taken = len(job.text) + sum(len(stream.content) for stream in prepared.streams.kept)
    return is_over and taken <= _MOST_BYTES


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
