"""The one way out of a confined call: an HTTP proxy that reaches what every other tool may reach, and nothing else."""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import Callable
from functools import partial

from pegboard.core.shares import Shares
from pegboard.egress.outbound import Outbound
from pegboard.sandbox.connections import most_connections
from pegboard.sandbox.exchange import Exchange
from pegboard.sandbox.relay import Turns
from pegboard.telemetry.logs import get_logger

# Lookups and handshakes of one call under way at once: each may have a socket for every address of a name.
_DIALS = 16
_PAUSE_SECONDS = 0.1
_REST_SECONDS = 0.5
_OVER = (errno.EBADF, errno.EINVAL, errno.ENOTSOCK)

_log = get_logger(__name__)


class Proxy:
    """Serves listening sockets, each the proxy of one call; every connection it has costs two descriptors."""

    def __init__(
        self, outbound: Outbound, *, most: int = 32, most_in_all: int | None = None, idle_seconds: float = 60.0
    ) -> None:
        self._outbound = outbound
        self._most = most
        self._connections = Shares(most_connections() if most_in_all is None else most_in_all)
        self._idle_seconds = idle_seconds

    def serve(self, listener: socket.socket, user_id: str) -> Serving:
        """Serve whoever connects, so many at once and the others after them; the listener is closed at the end.

        Where somebody waits, the tunnel that has been unused for longest is closed to make room.
        """
        exchange = partial(
            Exchange,
            outbound=self._outbound,
            user_id=user_id,
            turns=Turns(),
            dials=asyncio.Semaphore(_DIALS),
            idle_seconds=self._idle_seconds,
        )
        return Serving(listener, user_id, exchange, most=self._most, connections=self._connections)


class Serving:
    """A listening socket that is being served."""

    def __init__(
        self,
        listener: socket.socket,
        user_id: str,
        exchange: Callable[[socket.socket], Exchange],
        *,
        most: int,
        connections: Shares,
    ) -> None:
        self._listener = listener
        self._user_id = user_id
        self._exchange = exchange
        self._most = most
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[asyncio.Task[None], Exchange] = {}
        self._pausing: asyncio.TimerHandle | None = None
        self._closed = False
        listener.setblocking(False)
        self._listen()

    async def close(self) -> None:
        """End every connection; nothing is left of them, nor of the listener."""
        self._stop()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _listen(self) -> None:
        if self._pausing is not None:
            self._pausing.cancel()
            self._pausing = None
        if not self._closed:
            self._loop.add_reader(self._listener, self._accept)

    def _pause(self) -> None:
        self._loop.remove_reader(self._listener)
        self._pausing = self._loop.call_later(_PAUSE_SECONDS, self._listen)

    def _accept(self) -> None:
        if len(self._tasks) >= self._most or not self._connections.take(self._user_id):
            self._pause()
            self._make_room()
            return
        client = self._accepted()
        if client is None:
            self._connections.give_back(self._user_id)
            return
        client.setblocking(False)
        exchange = self._exchange(client)
        task = self._loop.create_task(exchange.run())
        self._tasks[task] = exchange
        task.add_done_callback(partial(self._ended, client))

    def _accepted(self) -> socket.socket | None:
        try:
            return self._listener.accept()[0]
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            pass
        except OSError as error:
            if error.errno in _OVER:
                self._stop()
            else:
                # Out of descriptors or memory, most likely: without a pause the loop would do nothing but fail.
                _log.warning("proxy_cannot_accept", reason=error.strerror)
                self._pause()
        return None

    def _make_room(self) -> None:
        """Close the tunnel that rests for longest: pools keep them for later, and open others meanwhile."""
        resting = [(since, task) for task, exchange in self._tasks.items() if (since := exchange.resting_since)]
        if resting:
            since, task = min(resting, key=lambda found: found[0])
            if time.monotonic() - since >= _REST_SECONDS:
                task.cancel()

    def _ended(self, client: socket.socket, task: asyncio.Task[None]) -> None:
        client.close()  # a task that is cancelled before its first step closes nothing
        del self._tasks[task]
        self._connections.give_back(self._user_id)
        self._listen()

    def _stop(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._pausing is not None:
            self._pausing.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()
