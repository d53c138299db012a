"""Limits on the connections of one process: how many there are, and how long each may take to send a request head.

Nothing here depends on the HTTP server: a connection reports when it opens, when it begins to wait for its peer, when a
request head is complete, and when it is closed.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Protocol

# From accept, or from the response before, to the end of a request head.
HEAD_SECONDS = 10.0
# The request line and the header fields of one request, and the number of these fields.
MAX_HEAD_BYTES = 64 * 1024
MAX_HEAD_FIELDS = 100
# Refused connections that are kept open until their peer has read why; they are not counted.
MAX_REFUSED = 64
# File descriptors that the board itself needs at least.
_RESERVED = 64
# The default number of connections is at most this.
_MOST = 10_000


class Peer(Protocol):
    """A connection, as its limits see it."""

    def expire(self) -> None:
        """Close the connection unless its peer is still reading: no complete head came in time."""

    def abort(self) -> None:
        """Close the connection at once: a new one takes its place."""


class ConnectionLimits:
    """The open connections of one process; those that wait for their peer are kept in the order they began to wait.

    At the limit, a new connection takes the place of the one that has waited longest. So connections without a request
    cannot keep others out; only where every connection has a request under way is a new one refused.
    """

    def __init__(self, most: int | None = None, head_seconds: float = HEAD_SECONDS) -> None:
        self.most = default_limit() if most is None else most
        self._seconds = head_seconds
        self._open: set[Peer] = set()
        self._refused: dict[Peer, float] = {}
        self._waiting: dict[Peer, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, peer: Peer, now: float) -> bool:
        """Count a new connection, which waits for its peer from now on; False if it must be refused."""
        if len(self._open) >= self.most and not self._make_room(self._waiting):
            return False
        self._open.add(peer)
        self.wait(peer, now)
        return True

    def wait(self, peer: Peer, now: float) -> None:
        """Start the deadline: this connection has no request under way."""
        self._waiting[peer] = now
        if self._timer is None:
            self._schedule(now)

    def work(self, peer: Peer) -> None:
        """Stop the deadline: a request head is complete."""
        self._waiting.pop(peer, None)

    def hold(self, peer: Peer, now: float) -> None:
        """Keep a refused connection open until its peer has read why, not longer than the deadline."""
        self.remove(peer)
        if len(self._refused) >= MAX_REFUSED:
            self._make_room(self._refused)
        self._refused[peer] = now
        self._schedule(now)

    def remove(self, peer: Peer) -> None:
        """Forget a connection that is closed."""
        self._open.discard(peer)
        self._waiting.pop(peer, None)
        self._refused.pop(peer, None)

    def _make_room(self, peers: dict[Peer, float]) -> bool:
        oldest = next(iter(peers), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.abort()
        return True

    def _schedule(self, now: float) -> None:
        begun = [next(iter(peers.values())) for peers in (self._waiting, self._refused) if peers]
        if begun and self._timer is None:
            # Not more often than ten times per deadline, however many connections wait.
            delay = max(min(begun) + self._seconds - now, self._seconds / 10)
            self._timer = asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for peers in (self._waiting, self._refused):
            while peers:
                oldest, begun = next(iter(peers.items()))
                if begun + self._seconds > now:
                    break
                # It stays counted until it is closed.
                del peers[oldest]
                oldest.expire()
        self._schedule(now)


def default_limit() -> int:
    """Half of the file descriptors that this process may open; tools, databases and files need the others."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if descriptors == resource.RLIM_INFINITY else max(1, min(descriptors // 2, _MOST))


def check_limit(most: int) -> None:
    """Raise ValueError if this process cannot open file descriptors for so many connections."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors != resource.RLIM_INFINITY and most + MAX_REFUSED + _RESERVED > descriptors:
        room = max(0, descriptors - MAX_REFUSED - _RESERVED)
        raise ValueError(
            f"{most:,} connections need more file descriptors than the {descriptors:,} that this process may open; "
            f"set PEGBOARD_MAX_CONNECTIONS to at most {room:,}, or raise the limit with 'ulimit -n'"
        )
