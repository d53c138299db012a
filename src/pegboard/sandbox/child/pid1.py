"""Pid 1 of a call's namespaces: it only waits, and when it ends, the kernel kills all other processes in them."""

from __future__ import annotations

import os
import signal
import socket

from pegboard.sandbox.child import syscalls


class Pid1:
    """A running pid 1; it ends when every copy of its socket here is closed, however this process ends."""

    def __init__(self, namespaces: int) -> None:
        """Start it in new namespaces of these kinds."""
        self._sock, theirs = socket.socketpair()
        with theirs:
            self.pid = syscalls.clone(namespaces)
            if self.pid == 0:
                try:
                    self._sock.close()
                    _wait_for_end(theirs)
                finally:
                    os._exit(0)

    def hide(self) -> None:
        """Make it unreadable, so that no process joins its namespaces from then on; raise OSError if it has ended."""
        self._sock.send(b".")
        if not self._sock.recv(1):
            raise ProcessLookupError

    def close(self) -> None:
        """Close the socket here."""
        self._sock.close()


def _wait_for_end(parent: socket.socket) -> None:
    # The kernel reaps its orphans.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while parent.recv(1):
        syscalls.set_dumpable(False)
        parent.send(b".")
