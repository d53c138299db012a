"""The HTTP proxy of confined calls.

It reaches only addresses that every other tool may reach, with a limit on the connections of all calls together. Not a
proxy library: these resolve names themselves, and listen on addresses of the host.
"""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import time
from collections.abc import Callable
from functools import partial

from pegboard.concurrency.user_shares import FairShares
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.sandbox.proxy_connection import ProxyConnection
from pegboard.sandbox.proxy_relay import LoopTurns
from pegboard.telemetry.logs import get_logger

# The limit of open files that is assumed if the system sets none.
_MAX_OPEN_FILES = 2**16


def compute_max_connections() -> int:
    """Return a quarter of the limit of open files: each connection uses two, so half is left for everything else."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        files = _MAX_OPEN_FILES
    return max(1, min(files, _MAX_OPEN_FILES) // 4)


# Concurrent lookups and connection attempts of one call: each may open a socket for every address of a name.
_MAX_DIALS = 16
_ACCEPT_PAUSE_SECONDS = 0.1
_MIN_IDLE_SECONDS = 0.5
_CLOSED_ERRNOS = (errno.EBADF, errno.EINVAL, errno.ENOTSOCK)

_log = get_logger(__name__)


class Proxy:
    """Serves listening sockets, each the proxy of one call; every connection uses two file descriptors."""

    def __init__(
        self, outbound: GuardedClient, *, most: int = 32, most_in_all: int | None = None, idle_seconds: float = 60.0
    ) -> None:
        self._outbound = outbound
        self._most = most
        self._connections = FairShares(compute_max_connections() if most_in_all is None else most_in_all)
        self._idle_seconds = idle_seconds

    def serve(self, listener: socket.socket, user_id: str) -> ProxyListener:
        """Serve up to `most` connections at once; the others wait. The listener is closed at the end.

        If connections wait, the tunnel that has been idle longest is closed.
        """
        exchange = partial(
            ProxyConnection,
            outbound=self._outbound,
            user_id=user_id,
            turns=LoopTurns(),
            dials=asyncio.Semaphore(_MAX_DIALS),
            idle_seconds=self._idle_seconds,
        )
        return ProxyListener(listener, user_id, exchange, most=self._most, connections=self._connections)


class ProxyListener:
    """A listening socket that is being served."""

    def __init__(
        self,
        listener: socket.socket,
        user_id: str,
        exchange: Callable[[socket.socket], ProxyConnection],
        *,
        most: int,
        connections: FairShares,
    ) -> None:
        self._listener = listener
        self._user_id = user_id
        self._exchange = exchange
        self._most = most
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[asyncio.Task[None], ProxyConnection] = {}
        self._pause_timer: asyncio.TimerHandle | None = None
        self._closed = False
        listener.setblocking(False)
        self._listen()

    async def close(self) -> None:
        """Close the listener and end every connection."""
        self._stop()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _listen(self) -> None:
        if self._pause_timer is not None:
            self._pause_timer.cancel()
            self._pause_timer = None
        if not self._closed:
            self._loop.add_reader(self._listener, self._accept)

    def _pause(self) -> None:
        self._loop.remove_reader(self._listener)
        self._pause_timer = self._loop.call_later(_ACCEPT_PAUSE_SECONDS, self._listen)

    def _accept(self) -> None:
        if len(self._tasks) >= self._most or not self._connections.take(self._user_id):
            self._pause()
            self._make_room()
            return
        client = self._accept_client()
        if client is None:
            self._connections.give_back(self._user_id)
            return
        client.setblocking(False)
        exchange = self._exchange(client)
        task = self._loop.create_task(exchange.run())
        self._tasks[task] = exchange
        task.add_done_callback(partial(self._on_task_done, client))

    def _accept_client(self) -> socket.socket | None:
        try:
            return self._listener.accept()[0]
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            pass
        except OSError as error:
            if error.errno in _CLOSED_ERRNOS:
                self._stop()
            else:
                # Probably out of file descriptors or memory: without a pause, the loop would retry without end.
                _log.warning("proxy_cannot_accept", reason=error.strerror)
                self._pause()
        return None

    def _make_room(self) -> None:
        """Close the tunnel that has been idle longest: connection pools keep idle tunnels while they open new ones."""
        resting = [(since, task) for task, exchange in self._tasks.items() if (since := exchange.idle_since)]
        if resting:
            since, task = min(resting, key=lambda found: found[0])
            if time.monotonic() - since >= _MIN_IDLE_SECONDS:
                task.cancel()

    def _on_task_done(self, client: socket.socket, task: asyncio.Task[None]) -> None:
        client.close()  # a task that is cancelled before its first step does not close it
        del self._tasks[task]
        self._connections.give_back(self._user_id)
        self._listen()

    def _stop(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._pause_timer is not None:
            self._pause_timer.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()
