"""A zygote's view of a supervisor, which is started before there is a call for it."""

from __future__ import annotations

import socket

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.children import Source
from pegboard.sandbox.inside.handing import hand
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.supervise import FREE, supervise


class Supervisor:
    """A process that waits for a call, and perhaps for others after it; where there can be none any more, it ends."""

    def __init__(self, handle: socket.socket) -> None:
        self._handle = handle

    @classmethod
    def start(cls, source: Source, place: Place, *, network: bool) -> Supervisor:
        """A new one; raises OSError where there is no room for it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                pid = syscalls.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                supervise(theirs.fileno(), source, place, network=network)
        return cls(ours)

    def fileno(self) -> int:
        """A descriptor that has something to say once it has ended, or is done with its call."""
        return self._handle.fileno()

    def take(self, call: socket.socket) -> bool:
        """Hand it the call's socket; whether it was there to take it."""
        try:
            hand(self._handle, b"c", [call.fileno()])
        except OSError:
            return False
        return True

    def is_free(self) -> bool:
        """Whether it has said that it could take another call, and did not end."""
        try:
            return self._handle.recv(len(FREE), socket.MSG_DONTWAIT) == FREE
        except OSError:
            return False

    def prepare(self, processors: bytes) -> bool:
        """Have it make ready for another call, to run on these; whether it was there to do so."""
        try:
            self._handle.send(processors)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Have no more calls for it."""
        self._handle.close()
