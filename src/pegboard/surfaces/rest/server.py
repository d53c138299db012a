"""Run the HTTP application in one process or several, until a signal stops it.

The first signal waits for running calls, a second Ctrl-C cancels them, a third exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from pegboard.board import Pegboard
from pegboard.settings import Settings
from pegboard.surfaces.rest.app import create_app
from pegboard.surfaces.rest.asgi_request import ASGIApp, Message, Receive, Scope, Send
from pegboard.surfaces.rest.bounded_connection import LIMITS_KEY, BoundedConnection, ConnectionGuard
from pegboard.surfaces.rest.connection_limits import ConnectionLimits
from pegboard.telemetry.logs import configure_logs, get_logger

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def watch_interrupts(on_first: Callable[[], None], on_second: Callable[[], None]) -> Iterator[None]:
    """Call `on_first` in the event loop at the first stop signal, and `on_second` at the next Ctrl-C.

    Other signals are passed to the previously installed handlers, those of the HTTP server.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    loop = asyncio.get_running_loop()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _STOP_SIGNALS}
    steps = iter((on_first, on_second))
    seen = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        is_next = seen == 0 or (seen == 1 and number == signal.SIGINT)
        if is_next:
            seen += 1
            loop.call_soon_threadsafe(next(steps))
        if (not is_next or seen == 1) and callable(before[number]):
            before[number](number, frame)

    for stopping in _STOP_SIGNALS:
        signal.signal(stopping, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


log = get_logger(__name__)


def tune_garbage_collector() -> None:
    """Freeze the objects that exist now and raise the thresholds, because each call allocates short-lived objects."""
    gc.collect()
    gc.freeze()
    # With almost all old objects frozen, the default thresholds would run full collections too often.
    gc.set_threshold(20_000, 20, 20)


OnOpen = Callable[[Pegboard], Awaitable[None]]
# The kernel closes a connection whose peer acknowledges no data for this long; close() in this process could not.
_TCP_USER_TIMEOUT_MS = 60_000


class ServerApplication:
    """The application of one process: opens its board when the server starts, drains and closes it when it stops."""

    def __init__(self, settings: Settings, version: str, on_open: OnOpen | None = None) -> None:
        self._settings = settings
        self._version = version
        self._on_open = on_open
        self._app: ASGIApp | None = None
        self._ending: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(scope, receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _run_lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        begun = False
        try:
            async with Pegboard.open(settings=self._settings) as board:
                if self._on_open is not None:
                    await self._on_open(board)
                await board.confinement.log_features()
                if reasons := await board.ready():
                    log.warning("not_ready", reasons=reasons)
                self._app = create_app(board, self._version)
                state = scope.setdefault("state", {})
                state[LIMITS_KEY] = ConnectionLimits(self._settings.max_connections)
                tune_garbage_collector()
                begun = True
                with watch_interrupts(lambda: self._stop(board), lambda: self._stop_now(board)):
                    await send({"type": "lifespan.startup.complete"})
                    await receive()
                    if self._ending is not None:
                        self._ending.cancel()  # drain() ends the rest
                    await board.drain()
        except Exception as error:
            self.failure = error
            failed: Message = {"type": "lifespan.shutdown.failed" if begun else "lifespan.startup.failed"}
            await send(failed)
            if begun:
                raise
            return
        await send({"type": "lifespan.shutdown.complete"})

    def _stop(self, board: Pegboard) -> None:
        """Close the streams of watchers; those of calls are closed after the drain timeout."""
        board.watchers.close()
        self._ending = asyncio.create_task(self._end_followed_runs(board))
        self._log_waiting_calls(board)

    async def _end_followed_runs(self, board: Pegboard) -> None:
        await asyncio.sleep(self._settings.drain_seconds)
        board.pipeline.is_stopping = True  # the HTTP server cancels the remaining calls
        await board.following.close()

    def _log_waiting_calls(self, board: Pegboard) -> None:
        count = board.pipeline.running_count
        if count:
            calls = "1 call" if count == 1 else f"{count} calls"
            seconds = f"{self._settings.drain_seconds:g}"
            sys.stdout.write(f"Waiting for {calls}, at most {seconds} s; Ctrl-C again stops at once\n")
            sys.stdout.flush()

    def _stop_now(self, board: Pegboard) -> None:
        """Cancel the running calls; they are recorded, and the board then closes as usual."""
        if self._ending is not None:
            self._ending.cancel()
        board.pipeline.stop()
        self._ending = asyncio.create_task(board.following.close())


def worker_app() -> ASGIApp:
    """Return the application of one of several worker processes."""
    from pegboard.version import __version__  # noqa: PLC0415 -- the package imports this module's siblings

    settings = Settings()
    configure_logs(settings.log_level, settings.log_format)
    return ConnectionGuard(ServerApplication(settings, __version__))


class AnnouncingServer(uvicorn.Server):
    """A server that calls `ready` once it accepts connections, for which uvicorn has only the method `startup`."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call `ready`."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to this address; raise OSError if that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _TCP_USER_TIMEOUT_MS)
        bound.bind((host, port))
    except BaseException:
        bound.close()
        raise
    bound.set_inheritable(True)
    return bound


def serve_forever(
    settings: Settings, version: str, bound: socket.socket, *, on_open: OnOpen, ready: Callable[[], None]
) -> None:
    """Serve from this process until a stop signal, then wait for running calls; raise the error if the start failed."""
    served = ServerApplication(settings, version, on_open)
    server = AnnouncingServer(uvicorn.Config(ConnectionGuard(served), **build_server_options(settings)), ready)
    with ignore_signals(), contextlib.suppress(SystemExit):  # uvicorn exits if the board does not open
        server.run([bound])
    if served.failure is not None:
        raise served.failure


def serve_with_workers(settings: Settings, bound: socket.socket, workers: int) -> None:
    """Serve from several processes, each with its own board, until a stop signal.

    This is what `uvicorn.run` does with workers, except that it exits the process afterwards.
    """
    config = uvicorn.Config(
        "pegboard.surfaces.rest.server:worker_app", factory=True, workers=workers, **build_server_options(settings)
    )
    with ignore_signals():
        Multiprocess(config, sockets=[bound]).run()


def build_server_options(settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn, for an application that is wrapped in a ConnectionGuard."""
    return {
        "http": BoundedConnection,
        "log_level": "critical",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # the client address is not used
        "date_header": False,
        "ws": "none",
        "timeout_graceful_shutdown": int(settings.drain_seconds) + 1,
        "backlog": 2048,
    }


@contextlib.contextmanager
def ignore_signals() -> Iterator[None]:
    """Ignore SIGINT and SIGTERM: uvicorn stops on them and then raises them again, which must not end the process."""
    caught = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
