"""The process that has the libraries of its house, and copies itself for the calls of supervisors that have not."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.become import become
from pegboard.sandbox.inside.call import Terms
from pegboard.sandbox.inside.house import House
from pegboard.sandbox.inside.loading import load
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.steps import READY, StepFailed, put_into_words, step
from pegboard.sandbox.inside.template import ARRIVAL, END, ENDED, FAILED, HERE, MOST_WORDS
from pegboard.sandbox.inside.work import Given

# A supervisor, the socket for what it is told of its copy, and the copy's ends of the pipes to it.
_MOST_DESCRIPTORS = 16
_REQUESTS = 3
_NAME = "pegboard-template"


class _Wanted(NamedTuple):
    folder: str | None
    port: int | None
    namespaces: int
    processors: list[int]


class _Copy(NamedTuple):
    pid: int
    answers: socket.socket


def serve(requests: socket.socket, house: House, place: Place) -> NoReturn:
    """Copy this process as often as it is asked to, until nobody is left to ask; this process ends then."""
    try:
        # A library may take for ever to load, or not notice that nobody waits for it.
        syscalls.end_with_parent()
        syscalls.rename(_NAME)
        os.dup2(requests.detach(), _REQUESTS, inheritable=False)
        syscalls.close_from(_REQUESTS + 1)
        _serve(socket.socket(fileno=_REQUESTS), house, place)
    except Exception:
        # For the server's log; that nobody is answered any more tells the others the rest.
        sys.excepthook(*sys.exc_info())
    finally:
        # This is a copy of the zygote, and must not go on as if it were one.
        os._exit(1)


def _serve(requests: socket.socket, house: House, place: Place) -> NoReturn:
    try:
        work = load(house)
    except Exception as error:
        requests.send(json.dumps(put_into_words(error)).encode())
        os._exit(1)
    # Whatever a library has made of that: ends are waited for here.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    syscalls.freeze()
    terms = Terms.of(house)
    # From now on calls that go on when the zygote is gone need this process.
    syscalls.end_with_parent(False)
    requests.send(json.dumps(READY).encode())
    poller = select.poll()
    poller.register(requests, select.POLLIN)
    copies: dict[int, _Copy] = {}
    while True:
        for descriptor, _events in poller.poll():
            if descriptor in copies:
                poller.unregister(descriptor)
                _tell_end(descriptor, copies.pop(descriptor))
                continue
            told, descriptors, flags, _address = socket.recv_fds(requests, MOST_WORDS, _MOST_DESCRIPTORS)
            if not told:
                os._exit(0)
            if flags & socket.MSG_CTRUNC:
                # So many run that there is no room for one more; that nobody answers tells its supervisor.
                _close(descriptors)
                continue
            copy = _copy(_Wanted(*json.loads(told)), descriptors, partial(become, work, terms, place))
            if copy is not None:
                ended = os.pidfd_open(copy.pid)
                copies[ended] = copy
                poller.register(ended, select.POLLIN)


def _copy(wanted: _Wanted, descriptors: Sequence[int], work: Callable[[Given], NoReturn]) -> _Copy | None:
    supervisor, answering, *ends = descriptors
    answers = socket.socket(fileno=answering)
    try:
        with step("starting the confined process"):
            syscalls.run_on(wanted.processors)
            syscalls.join(supervisor, syscalls.NEWPID)
            inherited = _own_memory()
            pid = os.fork()
        if pid == 0:
            try:
                _join(supervisor, wanted, answers, inherited)
                work(Given(wanted.folder, wanted.port, ends))
            finally:
                os._exit(1)
    except StepFailed as error:
        _tell(answers, FAILED + str(error).encode("utf-8", "replace"))
        answers.close()
        return None
    finally:
        _close((supervisor, *ends))
    return _Copy(pid, answers)


def _join(supervisor: int, wanted: _Wanted, answers: socket.socket, inherited: int) -> None:
    try:
        with step("joining the supervisor"):
            syscalls.join(supervisor, wanted.namespaces & ~syscalls.NEWPID)
    except StepFailed as error:
        _tell(answers, FAILED + str(error).encode("utf-8", "replace"))
        raise
    _tell(answers, HERE + ARRIVAL.pack(os.getpid(), inherited))


def _tell_end(descriptor: int, copy: _Copy) -> None:
    _pid, status, used = os.wait4(copy.pid, 0)
    os.close(descriptor)
    _tell(copy.answers, ENDED + END.pack(status, used.ru_utime + used.ru_stime))
    copy.answers.close()


def _own_memory() -> int:
    """Bytes of this process's pages that are of no file."""
    _size, resident, of_files, *_others = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - of_files) * resource.getpagesize()


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _tell(answers: socket.socket, words: bytes) -> None:
    # A supervisor that has ended does not want to know.
    with suppress(OSError):
        answers.send(words)
