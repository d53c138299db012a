"""Learns which memory pages forks of this process write to, from a fork that runs no call."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NoReturn

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.call_request import ConfinedCall
from pegboard.sandbox.child.isolation import Isolation, kill_and_reap
from pegboard.sandbox.child.job_runner import ORDERS_FD, REPORTS_FD, RESULT_FD, ConfinedInputs, JobRunner
from pegboard.sandbox.child.memory_pages import Pages, pages_of
from pegboard.sandbox.child.pipes import CALL_FOLLOWS
from pegboard.sandbox.child.setup_steps import StepFailed
from pegboard.sandbox.child.syscalls import MemoryRange

# A fork that takes longer hangs.
_PATIENCE_MILLISECONDS = 5000


class Rehearsed:
    """A job runner that only rehearses and reports the end of the rehearsal through the result pipe."""

    def __init__(self, work: JobRunner) -> None:
        self._work = work

    def rehearse(self, _is_called: Callable[[float], bool], *, is_ready: bool) -> None:
        """Rehearse what calls usually do, as if a call arrived as soon as there is time for less usual work."""
        self._work.rehearse(lambda within: within > 0, is_ready=is_ready)
        os.write(RESULT_FD, b".")

    def run(self, _call: ConfinedCall, _env: dict[str, str]) -> None:
        """Do nothing: there is no call."""


def learn(fork: Callable[[], int], become: Callable[[ConfinedInputs], NoReturn], place: Isolation) -> Pages:
    """Return the pages that a fork writes to until it has rehearsed; empty if that cannot be measured."""
    areas = syscalls.list_writable_memory()
    try:
        return _learnt(fork, become, place, areas)
    except (OSError, StepFailed):
        # For example without free file descriptors or without /proc; calls work without the pages.
        return Pages()
    finally:
        kill_and_reap(place)
        place.close(None)


def _learnt(
    fork: Callable[[], int],
    become: Callable[[ConfinedInputs], NoReturn],
    place: Isolation,
    areas: Sequence[MemoryRange],
) -> Pages:
    folder = place.open(network=False)
    # Each file descriptor is closed individually: the others belong to libraries, which may use them in threads.
    with ExitStack() as left:
        orders, ordering = _closed_by(left, *os.pipe())
        (nowhere,) = _closed_by(left, os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        os.write(ordering, CALL_FOLLOWS)
        told, telling = os.pipe()
        _closed_by(left, told)
        ends = dict.fromkeys(range(REPORTS_FD + 1), nowhere) | {RESULT_FD: telling, ORDERS_FD: orders}
        given = ConfinedInputs(folder, None, tuple(ends.values()))
        poller = select.poll()
        poller.register(told, select.POLLIN)
        # Do as little as possible until the fork was measured: pages that this process writes to look as if they were
        # private to the fork.
        try:
            place.enter_for_children(place.first)
            pid = fork()
            if pid == 0:
                _become(become, place, given)
        finally:
            os.close(telling)
        try:
            # If the fork exits or hangs, nothing is learnt; the processes for calls will report the reason.
            is_done = poller.poll(_PATIENCE_MILLISECONDS) and os.read(told, 1)
            return pages_of(pid, areas) if is_done else Pages()
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become(become: Callable[[ConfinedInputs], NoReturn], place: Isolation, given: ConfinedInputs) -> NoReturn:
    try:
        place.follow(place.first, network=False)
        become(given)
    finally:
        os._exit(1)


def _closed_by(stack: ExitStack, *descriptors: int) -> tuple[int, ...]:
    for descriptor in descriptors:
        stack.callback(os.close, descriptor)
    return descriptors
