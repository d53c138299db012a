"""The supervisors of a zygote, which are started before there is a call for them."""

from __future__ import annotations

import select
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.fd_channel import send_fds
from pegboard.sandbox.child.fork_source import ForkSource
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.supervisor_main import SUPERVISOR_FREE, run_supervisor


class Supervisor:
    """A process that waits for one or more calls; it exits when no more can come."""

    def __init__(self, handle: socket.socket) -> None:
        self._handle = handle

    @classmethod
    def start(cls, source: ForkSource, place: Isolation, *, network: bool) -> Supervisor:
        """Start a supervisor; raise OSError if it cannot be forked."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                pid = syscalls.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                run_supervisor(theirs.fileno(), source, place, network=network)
        return cls(ours)

    def fileno(self) -> int:
        """A file descriptor that becomes readable when the supervisor has exited or has finished its call."""
        return self._handle.fileno()

    def take(self, call: socket.socket) -> bool:
        """Pass the socket of a call to the supervisor; return False if it has exited."""
        try:
            send_fds(self._handle, b"c", [call.fileno()])
        except OSError:
            return False
        return True

    def is_free(self) -> bool:
        """Return True if the supervisor has reported that it can take another call."""
        try:
            return self._handle.recv(len(SUPERVISOR_FREE), socket.MSG_DONTWAIT) == SUPERVISOR_FREE
        except OSError:
            return False

    def prepare(self, processors: bytes) -> bool:
        """Make the supervisor prepare another call on these CPUs; return False if it has exited."""
        try:
            self._handle.send(processors)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the connection: there are no more calls for the supervisor."""
        self._handle.close()


# With back-to-back calls, one supervisor is busy while up to two are still cleaning up.
_MAX_IDLE = 2


class StartSupervisor(Protocol):
    """Starts a supervisor; raises OSError if it cannot be forked."""

    def __call__(self, *, network: bool) -> Supervisor: ...


class SupervisorPool:
    """The supervisor that waits for the next call, the busy ones, and idle ones that can be reused."""

    def __init__(self, line: socket.socket, start: StartSupervisor) -> None:
        """Calls arrive on the socket `line`."""
        self._start = start
        self._waiting: Supervisor | None = None
        self._idle: list[Supervisor] = []
        self._busy: dict[int, Supervisor] = {}
        # Whether the waiting supervisor has exited: it lacked a resource that another one would lack as well.
        self._has_start_failed = False
        self._line = line.fileno()
        self._poller = select.poll()
        self._poller.register(self._line, select.POLLIN)

    def prepare_next(self, processors: Sequence[int]) -> None:
        """Prepare a supervisor for the next call, on these CPUs, unless the last waiting one has exited."""
        if self._waiting is None and not self._has_start_failed:
            with suppress(OSError):
                self._waiting = self._rested(processors) or self._start(network=False)
                self._poller.register(self._waiting, select.POLLIN)

    def hear(self) -> bool:
        """Wait for a call, or for the exit of the waiting supervisor; return True if it is a call."""
        while True:
            heard = [descriptor for descriptor, _events in self._poller.poll()]
            for descriptor in heard:
                if (supervisor := self._busy.pop(descriptor, None)) is not None:
                    self._poller.unregister(descriptor)
                    self._let_go(supervisor)
            if self._line in heard:
                self._has_start_failed = False
                return True
            if self._waiting is not None and self._waiting.fileno() in heard:
                self._poller.unregister(self._waiting)
                self._waiting, self._has_start_failed = None, True
                return False

    def take(self, call: socket.socket, *, network: bool) -> None:
        """Pass the call to a supervisor; raise OSError if none can be started."""
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
        """Return an idle supervisor that prepares the next call, or None."""
        while self._idle:
            supervisor = self._idle.pop()
            if supervisor.prepare(",".join(map(str, processors)).encode()):
                return supervisor
        return None

    def _let_go(self, supervisor: Supervisor) -> None:
        """Keep a supervisor that has finished its call as idle, or close it."""
        if supervisor.is_free() and len(self._idle) < _MAX_IDLE:
            self._idle.append(supervisor)
        else:
            supervisor.close()
