"""The interface of a source of confined processes, and the source that forks them from the supervisor itself."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import NamedTuple, Protocol

from pegboard.sandbox.child.confined_main import ConfinementRules, run_confined
from pegboard.sandbox.child.fd_channel import CallAbandoned
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.job_runner import EXIT_CANNOT_START, ConfinedInputs, JobRunner, exit_process
from pegboard.sandbox.child.pipes import CallPipes
from pegboard.sandbox.child.rootfs import ZygoteSpec
from pegboard.sandbox.child.setup_steps import StepFailed

# Limit of children that are reaped in one pass: new ones may come as fast as they are reaped.
_MAX_REAPED = 2000


class ProcessEnd(NamedTuple):
    """How a process ended: its wait status and its CPU time."""

    status: int
    cpu_seconds: float


class ConfinedProcess(Protocol):
    """A confined process that waits for a call."""

    # Bytes of memory that it shares with the process it was forked from, and that its call is not charged for.
    inherited: int

    def wait_until_isolated(self) -> None:
        """Wait until the process has entered the isolation of its supervisor; raise StepFailed if it cannot."""

    def fileno(self) -> int:
        """A file descriptor that becomes readable when the process has ended."""

    def poll_end(self) -> ProcessEnd | None:
        """Return how the process ended, or None if it is running; also reap ended orphans."""


class ForkSource(Protocol):
    """A source from which confined processes are forked."""

    # All file descriptors from this one on are not needed by a supervisor.
    first_unused_fd: int

    def start(self, place: Isolation, folder: str | None, port: int | None, streams: CallPipes) -> ConfinedProcess:
        """Start a process that waits for a call of this supervisor."""

    def is_gone(self) -> bool:
        """Return True if the source cannot fork any more."""

    def close(self) -> None:
        """Release the source."""


def reap_child(child: int) -> ProcessEnd | None:
    """Return how this child ended, or None if it is running; also reap all other ended children."""
    with suppress(ChildProcessError):
        for _ in range(_MAX_REAPED):
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == child:
                return ProcessEnd(status, used.ru_utime + used.ru_stime)
            if pid == 0:
                break
    return None


_READY_BYTE = b"."


class ForkedProcess:
    """A confined process that is a child of the supervisor."""

    inherited = 0

    def __init__(self, pid: int, start_pipe: int) -> None:
        self._pid = pid
        self._start_pipe = start_pipe
        self._descriptor = os.pidfd_open(pid)

    def wait_until_isolated(self) -> None:
        """Wait until the process is isolated; raise StepFailed if it cannot be, CallAbandoned if it has exited."""
        with os.fdopen(self._start_pipe, "rb") as pipe:
            words = pipe.read()
        if not words:
            raise CallAbandoned
        if words != _READY_BYTE:
            raise StepFailed(words.decode("utf-8", "replace"))

    def fileno(self) -> int:
        """A file descriptor that becomes readable when the process has ended."""
        return self._descriptor

    def poll_end(self) -> ProcessEnd | None:
        """Return how the process ended, or None if it is running; also reap ended orphans."""
        return reap_child(self._pid)


class ForkingSource:
    """Forks confined processes from the supervisor, which is itself a fork of the zygote."""

    first_unused_fd = 4

    def __init__(self, work: JobRunner, spec: ZygoteSpec) -> None:
        self._work = work
        self._rules = ConfinementRules.of(spec)

    def start(self, place: Isolation, folder: str | None, port: int | None, streams: CallPipes) -> ForkedProcess:
        """Fork a process that waits for a call of this supervisor."""
        # The supervisor waits for the exit status, which the kernel discards while SIGCHLD is ignored.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        start_pipe, report_pipe = os.pipe()
        place.enter_for_children(place.first)
        pid = os.fork()
        if pid == 0:
            _enter_isolation(place, report_pipe, network=port is not None)
            run_confined(self._work, self._rules, place, ConfinedInputs(folder, port, streams.child_fds))
        os.close(report_pipe)
        return ForkedProcess(pid, start_pipe)

    def is_gone(self) -> bool:
        """Always False: the caller is the source process."""
        return False

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def _enter_isolation(place: Isolation, report_pipe: int, *, network: bool) -> None:
    try:
        place.follow(place.first, network=network)
        os.write(report_pipe, _READY_BYTE)
    except StepFailed as error:
        os.write(report_pipe, str(error).encode())
        exit_process(EXIT_CANNOT_START)
    finally:
        os.close(report_pipe)
