"""The template, as zygote and supervisors know it: a process with the libraries, which copies itself for calls.

Supervisors are forked from the zygote, which then need not have the libraries: a process that has them takes several
times as long to fork, and to end.
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

from pegboard.sandbox.inside.children import Ended
from pegboard.sandbox.inside.frames import Gone
from pegboard.sandbox.inside.handing import hand, handed
from pegboard.sandbox.inside.place import Place, has_ended
from pegboard.sandbox.inside.steps import READY, StepFailed, made_of_words
from pegboard.sandbox.inside.streams import Streams

# What a supervisor is told of its copy: that it is here, with a descriptor of it and the bytes of memory that it has of
# the template's, why it cannot be, and at last how it ended, with the kernel's status of it and its processor time.
HERE, FAILED, ENDED = b"h", b"f", b"e"
ARRIVAL, END = struct.Struct("=q"), struct.Struct("=id")
# The most that is said at once: a library may have much to say of why it fails, and a machine many processors.
MOST_WORDS = 2**16
# How long it may take until a supervisor is told of an end that it has seen.
_TELLING_SECONDS = 2.0
# Where the socket to the template is kept, behind that to whoever started this process.
_REQUESTS = 4


class Copied:
    """A copy in the namespaces of this supervisor, which is not its parent: how it ended, the template tells.

    That it has ended the kernel tells, so that a template which dies takes no copy with it.
    """

    def __init__(self, answers: socket.socket) -> None:
        self._answers = answers
        self._descriptor = -1
        self.inherited = 0

    def arrive(self) -> None:
        """Wait until it is here; raises StepFailed where it cannot be, Gone where it or the template is no more."""
        told, descriptors, _is_cut = handed(self._answers, MOST_WORDS)
        if told.startswith(FAILED):
            raise StepFailed(told[len(FAILED) :].decode("utf-8", "replace"))
        if not told.startswith(HERE) or not descriptors:
            raise Gone
        (self._descriptor,) = descriptors
        (self.inherited,) = ARRIVAL.unpack(told[len(HERE) :])

    def fileno(self) -> int:
        """A descriptor that has something to say once it has ended."""
        return self._descriptor

    def ended(self) -> Ended | None:
        """How it ended, if it has; its orphans are for the first process of its namespaces to let go of."""
        if not has_ended(self._descriptor, 0):
            return None
        self._answers.settimeout(_TELLING_SECONDS)
        try:
            told = self._answers.recv(MOST_WORDS)
        except TimeoutError:
            told = b""
        if not told:
            # The template was killed, such as for want of memory, or hangs, and nobody else knows.
            raise Gone
        return Ended(*END.unpack(told[len(ENDED) :]))

    def close(self) -> None:
        """Hold nothing of it any more; the template is told so."""
        self._answers.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)


class Template:
    """A running template."""

    closed_from = _REQUESTS + 1
    is_lasting = True

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests

    @classmethod
    def begin(cls, serve: Callable[[socket.socket], NoReturn]) -> Template:
        """A process that serves supervisors in this way; raises StepFailed where it never will."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            serve(theirs)
        theirs.close()
        told = ours.recv(MOST_WORDS)
        if not told:
            _end_like(pid)
        try:
            answer = json.loads(told)
        except (ValueError, RecursionError):
            answer = None
        if answer != READY:
            raise made_of_words(answer)
        descriptor = ours.detach()
        if descriptor != _REQUESTS:
            os.dup2(descriptor, _REQUESTS, inheritable=False)
            os.close(descriptor)
        return cls(socket.socket(fileno=_REQUESTS))

    def start(self, place: Place, folder: str | None, port: int | None, streams: Streams) -> Copied:
        """A copy that waits for orders, for the supervisor that this is."""
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        processors = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        wanted = f"{port or 0} {folder or ''}"
        try:
            descriptors = (place.first, theirs.fileno(), *streams.other_ends)
            hand(self._requests, f"{processors}\n{wanted}".encode(), descriptors)
        except (BrokenPipeError, ConnectionResetError):
            # The zygote will find out too; until then calls are begun anew elsewhere.
            raise Gone from None
        finally:
            theirs.close()
        return Copied(answers)

    def is_gone(self) -> bool:
        """Whether the process has ended."""
        poller = select.poll()
        poller.register(self._requests, 0)
        return bool(poller.poll(0))

    def close(self) -> None:
        """Let it end when there are no supervisors any more."""
        self._requests.close()


def _end_like(pid: int) -> NoReturn:
    """End as the template did, which had nothing to say of why: the server will ask."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:
        # Those that cannot be handled cannot be reset either.
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
