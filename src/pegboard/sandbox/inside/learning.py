"""What copies of this process write to in memory, learnt from one that no call is for."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NoReturn

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.pages import Pages, pages_of
from pegboard.sandbox.inside.place import Place, end_all
from pegboard.sandbox.inside.steps import StepFailed
from pegboard.sandbox.inside.streams import ANNOUNCED
from pegboard.sandbox.inside.syscalls import Area
from pegboard.sandbox.inside.work import ORDERS, REPORTS, RESULT, Given, Work

# A copy that takes longer hangs.
_PATIENCE_MILLISECONDS = 5000


class Rehearsed:
    """Work that is rehearsed and never done; that it was rehearsed is told through the pipe for results."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def rehearse(self, _is_called: Callable[[float], bool], *, is_ready: bool) -> None:
        """Rehearse what calls usually do, as if one came when there would be time for what only some do."""
        self._work.rehearse(lambda within: within > 0, is_ready=is_ready)
        os.write(RESULT, b".")

    def run(self, _call: Call, _env: dict[str, str]) -> None:
        """Nothing: there is no call."""


def learn(fork: Callable[[], int], become: Callable[[Given], NoReturn], place: Place) -> Pages:
    """The pages that a copy writes to until it has rehearsed."""
    areas = syscalls.writable_memory()
    try:
        return _learnt(fork, become, place, areas)
    except (OSError, StepFailed):
        # Such as for want of descriptors, or of /proc; calls do without.
        return Pages()
    finally:
        end_all(place)
        place.close(None)


def _learnt(fork: Callable[[], int], become: Callable[[Given], NoReturn], place: Place, areas: Sequence[Area]) -> Pages:
    folder = place.open(network=False)
    # Each descriptor is closed by itself: the others are of libraries, which may go on with them in threads.
    with ExitStack() as left:
        orders, ordering = _closed_by(left, *os.pipe())
        (nowhere,) = _closed_by(left, os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        os.write(ordering, ANNOUNCED)
        told, telling = os.pipe()
        _closed_by(left, told)
        ends = dict.fromkeys(range(REPORTS + 1), nowhere) | {RESULT: telling, ORDERS: orders}
        given = Given(folder, None, tuple(ends.values()))
        poller = select.poll()
        poller.register(told, select.POLLIN)
        # Until the copy has been looked at as little as can be: what this process writes to looks as if it were its.
        try:
            place.lead(place.first)
            pid = fork()
            if pid == 0:
                _become(become, place, given)
        finally:
            os.close(telling)
        try:
            # Where it ends instead, or hangs, there is nothing to learn: those that are for calls will tell why.
            is_done = poller.poll(_PATIENCE_MILLISECONDS) and os.read(told, 1)
            return pages_of(pid, areas) if is_done else Pages()
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become(become: Callable[[Given], NoReturn], place: Place, given: Given) -> NoReturn:
    try:
        place.follow(place.first, network=False)
        become(given)
    finally:
        os._exit(1)


def _closed_by(stack: ExitStack, *descriptors: int) -> tuple[int, ...]:
    for descriptor in descriptors:
        stack.callback(os.close, descriptor)
    return descriptors
