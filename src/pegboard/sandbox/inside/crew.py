"""The supervisors of a zygote."""

from __future__ import annotations

import select
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from pegboard.sandbox.inside.supervisor import Supervisor

# Where calls come one upon the other, one of them runs, and those before it are not quite over.
_MOST_RESTING = 2


class Start(Protocol):
    """How to start one; raises OSError where there is no room for it."""

    def __call__(self, *, network: bool) -> Supervisor: ...


class Crew:
    """One that waits for the next call, those that have one, and some that had one and may be the next to wait."""

    def __init__(self, line: socket.socket, start: Start) -> None:
        """Calls come on this line."""
        self._start = start
        self._waiting: Supervisor | None = None
        self._resting: list[Supervisor] = []
        self._busy: dict[int, Supervisor] = {}
        # Whether the one that waited has ended: for want of what it needs, which another would want as well.
        self._is_short = False
        self._line = line.fileno()
        self._poller = select.poll()
        self._poller.register(self._line, select.POLLIN)

    def make_ready(self, processors: Sequence[int]) -> None:
        """Have one wait for the next call, on these processors, unless the last one that did has ended."""
        if self._waiting is None and not self._is_short:
            with suppress(OSError):
                self._waiting = self._rested(processors) or self._start(network=False)
                self._poller.register(self._waiting, select.POLLIN)

    def hear(self) -> bool:
        """Wait until there is a call on the line, or the one that waits for it has ended; whether it is a call."""
        while True:
            heard = [descriptor for descriptor, _events in self._poller.poll()]
            for descriptor in heard:
                if (supervisor := self._busy.pop(descriptor, None)) is not None:
                    self._poller.unregister(descriptor)
                    self._let_go(supervisor)
            if self._line in heard:
                self._is_short = False
                return True
            if self._waiting is not None and self._waiting.fileno() in heard:
                self._poller.unregister(self._waiting)
                self._waiting, self._is_short = None, True
                return False

    def take(self, call: socket.socket, *, network: bool) -> None:
        """Have one of them take the call; raises OSError where there is none."""
        supervisor = None
        if not network:
            supervisor, self._waiting = self._waiting, None
        if supervisor is not None and not supervisor.take(call):
            self._poller.unregister(supervisor)
            supervisor = None
        if supervisor is None:
            supervisor = self._start(network=network)
            supervisor.take(call)
            self._poller.register(supervisor, select.POLLIN)
        self._busy[supervisor.fileno()] = supervisor

    def _rested(self, processors: Sequence[int]) -> Supervisor | None:
        """One that rested, and makes ready now."""
        while self._resting:
            supervisor = self._resting.pop()
            if supervisor.prepare(",".join(map(str, processors)).encode()):
                return supervisor
        return None

    def _let_go(self, supervisor: Supervisor) -> None:
        """Have one that is done rest, or end."""
        if supervisor.is_free() and len(self._resting) < _MOST_RESTING:
            self._resting.append(supervisor)
        else:
            supervisor.close()
