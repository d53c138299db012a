"""Limits on the connections of one process: their number, and how long each may take to send a request head.

Hand-written, because uvicorn's `limit_concurrency` only refuses new requests. Independent of the HTTP server: a
connection reports when it opens, when it begins to wait for its peer, when a request head is complete, and when it is
closed.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Protocol

# From accept, or from the previous response, to the end of a request head.
HEAD_TIMEOUT_SECONDS = 10.0
# The maximum size of the request line and header fields of one request, and the maximum number of fields.
MAX_HEAD_BYTES = 64 * 1024
MAX_HEAD_FIELDS = 100
# Refused connections that stay open until their peer has read the response; they do not count towards the limit.
MAX_REFUSED_CONNECTIONS = 64
# The minimum number of file descriptors to keep free for the board itself.
_RESERVED_DESCRIPTORS = 64
# Upper bound of the default number of connections.
_MAX_CONNECTIONS = 10_000


class LimitedConnection(Protocol):
    """A connection that ConnectionLimits can close."""

    def expire(self) -> None:
        """Close the connection, unless its peer is still reading, because no complete head arrived in time."""

    def abort(self) -> None:
        """Close the connection at once, because a new connection replaces it."""


class ConnectionLimits:
    """The open connections of one process, those that wait for their peer in the order they began to wait.

    At the limit, a new connection replaces the one that has waited longest, so idle connections cannot block new ones.
    A new connection is refused only if every open connection has a running request.
    """

    def __init__(self, most: int | None, head_seconds: float = HEAD_TIMEOUT_SECONDS) -> None:
        self.most = compute_default_limit() if most is None else most
        self._seconds = head_seconds
        self._open: set[LimitedConnection] = set()
        self._refused: dict[LimitedConnection, float] = {}
        self._waiting: dict[LimitedConnection, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, peer: LimitedConnection, now: float) -> bool:
        """Register a new connection, which now waits for its peer; return False if it must be refused."""
        if len(self._open) >= self.most and not self._make_room(self._waiting):
            return False
        self._open.add(peer)
        self.wait(peer, now)
        return True

    def wait(self, peer: LimitedConnection, now: float) -> None:
        """Start the deadline: this connection has no running request."""
        self._waiting[peer] = now
        if self._timer is None:
            self._schedule(now)

    def work(self, peer: LimitedConnection) -> None:
        """Stop the deadline: a request head is complete."""
        self._waiting.pop(peer, None)

    def hold(self, peer: LimitedConnection, now: float) -> None:
        """Keep a refused connection open until its peer has read the response, at most until the deadline."""
        self.remove(peer)
        if len(self._refused) >= MAX_REFUSED_CONNECTIONS:
            self._make_room(self._refused)
        self._refused[peer] = now
        self._schedule(now)

    def remove(self, peer: LimitedConnection) -> None:
        """Remove a closed connection."""
        self._open.discard(peer)
        self._waiting.pop(peer, None)
        self._refused.pop(peer, None)

    def _make_room(self, peers: dict[LimitedConnection, float]) -> bool:
        oldest = next(iter(peers), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.abort()
        return True

    def _schedule(self, now: float) -> None:
        begun = [next(iter(peers.values())) for peers in (self._waiting, self._refused) if peers]
        if begun and self._timer is None:
            # At most ten times per deadline, independent of the number of waiting connections.
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
                # It stays registered until it is closed.
                del peers[oldest]
                oldest.expire()
        self._schedule(now)


def compute_default_limit() -> int:
    """Return half of the file descriptor limit, at most 10,000; tools, databases and files need the other half."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        _MAX_CONNECTIONS if descriptors == resource.RLIM_INFINITY else max(1, min(descriptors // 2, _MAX_CONNECTIONS))
    )


def check_limit(most: int) -> None:
    """Raise ValueError if the file descriptor limit of this process is too low for this many connections."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors != resource.RLIM_INFINITY and most + MAX_REFUSED_CONNECTIONS + _RESERVED_DESCRIPTORS > descriptors:
        room = max(0, descriptors - MAX_REFUSED_CONNECTIONS - _RESERVED_DESCRIPTORS)
        raise ValueError(
            f"{most:,} connections need more file descriptors than the {descriptors:,} that this process may open; "
            f"set PEGBOARD_MAX_CONNECTIONS to at most {room:,}, or raise the limit with 'ulimit -n'"
        )
