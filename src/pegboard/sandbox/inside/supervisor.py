"""A zygote's view of a supervisor, which is started before there is a call for it."""

from __future__ import annotations

import socket

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.children import Source
from pegboard.sandbox.inside.handing import hand
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.supervise import supervise


class Supervisor:
    """A process that waits for its one call; where the zygote ends before there is one, so does it."""

    def __init__(self, handle: socket.socket) -> None:
        self._handle = handle

    @classmethod
    def start(cls, source: Source, place: Place, *, network: bool) -> Supervisor:
        """A new one, in namespaces of its own; raises OSError where there is no room for it."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = syscalls.clone(place.namespaces(network=network))
            except OSError:
                ours.close()
                raise
            if pid == 0:
                supervise(theirs.fileno(), source, place, network=network)
        return cls(ours)

    def fileno(self) -> int:
        """A descriptor that has something to say once it has ended."""
        return self._handle.fileno()

    def take(self, call: socket.socket) -> bool:
        """Hand it the call's socket; whether it was there to take it. It takes no other."""
        with self._handle as handle:
            try:
                hand(handle, b"c", [call.fileno()])
            except OSError:
                return False
            return True
