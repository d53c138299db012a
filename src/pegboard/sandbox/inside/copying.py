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
from functools import partial
from typing import NamedTuple, NoReturn

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.become import become
from pegboard.sandbox.inside.call import Terms
from pegboard.sandbox.inside.forks import fork_for, noting_wishes
from pegboard.sandbox.inside.handing import hand, handed
from pegboard.sandbox.inside.house import House
from pegboard.sandbox.inside.learning import Rehearsed, learn
from pegboard.sandbox.inside.loading import load
from pegboard.sandbox.inside.pages import Pages
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.steps import READY, StepFailed, put_into_words
from pegboard.sandbox.inside.template import ARRIVAL, END, ENDED, FAILED, HERE, MOST_WORDS
from pegboard.sandbox.inside.work import Given

_REQUESTS = 3
_NAME = "pegboard-template"


class _Way(NamedTuple):
    """How this process is copied: by this fork, to this place, where the copy becomes what its call needs.

    It will write to these pages, and has so many bytes of this process's that are of no file.
    """

    fork: Callable[[], int]
    place: Place
    become: Callable[[Given], NoReturn]
    pages: Pages
    memory: int


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
        with noting_wishes() as wishes:
            work = load(house)
    except Exception as error:
        requests.send(json.dumps(put_into_words(error)).encode())
        os._exit(1)
    # Whatever a library has made of that: ends are waited for here.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    syscalls.freeze()
    fork, terms = fork_for(wishes), Terms.of(house)
    if fork is syscalls.fork:
        work.open_output()
    pages = learn(fork, partial(become, Rehearsed(work), terms, place), place)
    syscalls.enlarge_pages()
    start = partial(_copy, _Way(fork, place, partial(become, work, terms, place), pages, _own_memory()))
    # From now on calls that go on when the zygote is gone need this process.
    syscalls.end_with_parent(False)
    requests.send(json.dumps(READY).encode())
    _copy_for_all(requests, start)


def _copy_for_all(requests: socket.socket, start: Callable[[bytes, Sequence[int]], int | None]) -> NoReturn:
    """As little as can be: each page that this process writes to between two copies has to be copied itself."""
    poller = select.poll()
    poller.register(_REQUESTS, select.POLLIN)
    processors, copies = b"", dict[int, tuple[int, int]]()
    while True:
        for descriptor, _events in poller.poll():
            if descriptor != _REQUESTS:
                poller.unregister(descriptor)
                _tell_end(descriptor, *copies.pop(descriptor))
                continue
            told, descriptors, is_cut = handed(requests, MOST_WORDS)
            if not told:
                os._exit(0)
            if is_cut:
                # So many run that there is no room for one more; that nobody answers tells its supervisor.
                _close(descriptors)
                continue
            wanted_processors, _, wanted = told.partition(b"\n")
            if wanted_processors != processors:
                processors = wanted_processors
                syscalls.run_on([int(number) for number in processors.split(b",")])
            pid = start(wanted, descriptors)
            if pid is not None:
                ended = os.pidfd_open(pid)
                copies[ended] = (pid, descriptors[1])
                poller.register(ended, select.POLLIN)


def _copy(way: _Way, wanted: bytes, descriptors: Sequence[int]) -> int | None:
    first, answers, *ends = descriptors
    try:
        way.place.lead(first)
        pid = way.fork()
    except ProcessLookupError:
        # The first process was killed, such as for want of memory; that nobody answers tells its supervisor.
        _close(descriptors)
        return None
    except OSError as error:
        _tell(answers, FAILED + f"starting the confined process: {error.strerror}".encode())
        _close(descriptors)
        return None
    if pid == 0:
        try:
            is_ready = way.pages.take()
            port, _, folder = wanted.decode().partition(" ")
            _follow(way, first, answers, network=port != "0")
            way.become(Given(folder or None, int(port) or None, ends, is_ready))
        finally:
            os._exit(1)
    _close((first, *ends))
    return pid


def _follow(way: _Way, first: int, answers: int, *, network: bool) -> None:
    try:
        way.place.follow(first, network=network)
    except StepFailed as error:
        _tell(answers, FAILED + str(error).encode())
        raise
    with socket.socket(fileno=answers) as supervisor:
        hand(supervisor, HERE + ARRIVAL.pack(way.memory), [os.pidfd_open(os.getpid())])


def _tell_end(descriptor: int, pid: int, answers: int) -> None:
    _pid, status, used = os.wait4(pid, 0)
    os.close(descriptor)
    _tell(answers, ENDED + END.pack(status, used.ru_utime + used.ru_stime))
    os.close(answers)


def _own_memory() -> int:
    """Bytes of this process's pages that are of no file."""
    _size, resident, of_files, *_others = map(int, syscalls.read("/proc/self/statm").split())
    return (resident - of_files) * resource.getpagesize()


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _tell(answers: int, words: bytes) -> None:
    try:
        os.write(answers, words)
    except OSError:
        return  # a supervisor that has ended does not want to know
