"""The client of the template, a process that has the libraries and forks itself for calls.

Supervisors are forked from the zygote, which therefore need not import the libraries: a process with libraries takes
several times as long to fork and to exit.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from pegboard.sandbox.child.fd_channel import MAX_FDS, CallAbandoned
from pegboard.sandbox.child.fork_source import ProcessEnd
from pegboard.sandbox.child.isolation import Isolation, has_ended
from pegboard.sandbox.child.pipes import CallPipes
from pegboard.sandbox.child.setup_steps import READY, StepFailed, decode_failure

# Messages to a supervisor about its copy: ready, with a pidfd and the bytes of memory that it shares with the template;
# failed, with the reason; and ended, with wait status and CPU time.
COPY_READY, COPY_FAILED, COPY_ENDED = b"h", b"f", b"e"
ARRIVAL_STRUCT, END_STRUCT = struct.Struct("=q"), struct.Struct("=id")
# Limit of one message: the error of a library may be long.
MAX_MESSAGE_BYTES = 2**16
# How long the template may take to report the end of a copy that has ended.
_END_REPORT_SECONDS = 2.0
# The file descriptor of the socket to the template, after that of the socket to the parent of this process.
_REQUEST_FD = 4


class TemplateCopy:
    """A fork of the template in the namespaces of this supervisor, which is not its parent.

    The template reports its status.

    The supervisor detects the end of the process by its pidfd, so that copies survive the death of the template.
    """

    def __init__(self, answers: socket.socket) -> None:
        self._answers = answers
        self._descriptor = -1
        self.inherited = 0

    def wait_until_isolated(self) -> None:
        """Wait for the copy; raise StepFailed if it cannot be isolated, CallAbandoned if it or the template exited."""
        message, descriptors, _flags, _address = socket.recv_fds(self._answers, MAX_MESSAGE_BYTES, MAX_FDS)
        if message.startswith(COPY_FAILED):
            raise StepFailed(message[len(COPY_FAILED) :].decode("utf-8", "replace"))
        if not message.startswith(COPY_READY) or not descriptors:
            raise CallAbandoned
        (self._descriptor,) = descriptors
        (self.inherited,) = ARRIVAL_STRUCT.unpack(message[len(COPY_READY) :])

    def fileno(self) -> int:
        """A file descriptor that becomes readable when the process has ended."""
        return self._descriptor

    def poll_end(self) -> ProcessEnd | None:
        """Return how the process ended, or None if it is running; its orphans are reaped by pid 1 of its namespaces."""
        if not has_ended(self._descriptor, 0):
            return None
        self._answers.settimeout(_END_REPORT_SECONDS)
        try:
            message = self._answers.recv(MAX_MESSAGE_BYTES)
        except TimeoutError:
            message = b""
        if not message:
            # The template was killed, for example by the OOM killer, or hangs: the status is unknown.
            raise CallAbandoned
        return ProcessEnd(*END_STRUCT.unpack(message[len(COPY_ENDED) :]))


class TemplateClient:
    """A running template."""

    first_unused_fd = _REQUEST_FD + 1

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests

    @classmethod
    def begin(cls, serve: Callable[[socket.socket], NoReturn]) -> TemplateClient:
        """Fork a process that runs `serve`; raise StepFailed if it reports a failure."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            serve(theirs)
        theirs.close()
        message = ours.recv(MAX_MESSAGE_BYTES)
        if not message:
            _exit_like(pid)
        try:
            answer = json.loads(message)
        except (ValueError, RecursionError):
            answer = None
        if answer != READY:
            raise decode_failure(answer)
        descriptor = ours.detach()
        if descriptor != _REQUEST_FD:
            os.dup2(descriptor, _REQUEST_FD, inheritable=False)
            os.close(descriptor)
        return cls(socket.socket(fileno=_REQUEST_FD))

    def start(self, place: Isolation, folder: str | None, port: int | None, streams: CallPipes) -> TemplateCopy:
        """Request a copy that waits for a call of this supervisor."""
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            descriptors = (place.first, theirs.fileno(), *streams.child_fds)
            socket.send_fds(self._requests, [f"{port or 0} {folder or ''}".encode()], descriptors)
        except (BrokenPipeError, ConnectionResetError):
            # The zygote will detect this too; until then the server starts calls again elsewhere.
            raise CallAbandoned from None
        finally:
            theirs.close()
        return TemplateCopy(answers)

    def is_gone(self) -> bool:
        """Return True if the template has exited."""
        poller = select.poll()
        poller.register(self._requests, 0)
        return bool(poller.poll(0))

    def close(self) -> None:
        """Close the socket: the template exits when there are no supervisors left."""
        self._requests.close()


def _exit_like(pid: int) -> NoReturn:
    """Exit with the status or signal of the template, which gave no reason: the server reads it."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:
        # The handlers of SIGKILL and SIGSTOP cannot be reset.
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
