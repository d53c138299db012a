"""Running the HTTP application: one process or several, until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from pegboard.board import Pegboard
from pegboard.settings import Settings
from pegboard.surfaces.rest.app import create_app
from pegboard.surfaces.rest.bounded import LIMITS
from pegboard.surfaces.rest.connections import ConnectionLimits
from pegboard.surfaces.rest.direct import HOT, ON_STOP, Connection
from pegboard.surfaces.rest.edge import ASGIApp, Message, Receive, Scope, Send
from pegboard.surfaces.rest.hot import HotRoutes
from pegboard.surfaces.rest.interrupts import watch_interrupts
from pegboard.telemetry.logs import configure_logs, get_logger

log = get_logger(__name__)


def settle_memory() -> None:
    """Tell the garbage collector that what is there now stays, and that calls come and go by the thousand."""
    gc.collect()
    gc.freeze()
    # Where there is little old but what is frozen, every tenth look would be a look at everything.
    gc.set_threshold(20_000, 20, 20)


OnOpen = Callable[[Pegboard], Awaitable[None]]
# A peer that takes nothing of what it is sent is cut off by the system, which no closing of ours could do.
_TAKES_NOTHING_MS = 60_000


class ServedBoard:
    """The application of one process: opens its board when the server starts, drains and closes it when it stops."""

    def __init__(self, settings: Settings, version: str, on_open: OnOpen | None = None) -> None:
        self._settings = settings
        self._version = version
        self._on_open = on_open
        self._app: ASGIApp | None = None
        self._ending: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the server's own start and stop."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        begun = False
        try:
            async with Pegboard.open(settings=self._settings) as board:
                if self._on_open is not None:
                    await self._on_open(board)
                await board.confinement.tell()
                if reasons := await board.ready():
                    log.warning("not_ready", reasons=reasons)
                self._app = create_app(board, self._version)
                state = scope.setdefault("state", {})
                state[LIMITS] = ConnectionLimits(self._settings.max_connections)
                state[ON_STOP] = lambda: self._stop(board)
                if isinstance(self._app, HotRoutes):  # with no other application around it, such as that of CORS
                    state[HOT] = self._app
                settle_memory()
                begun = True
                with watch_interrupts(lambda: self._say_waiting(board), lambda: self._stop_now(board)):
                    await send({"type": "lifespan.startup.complete"})
                    await receive()
                    if self._ending is not None:
                        self._ending.cancel()  # the board ends the rest itself
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
        """End the streams that only watch, and give those of calls the time that calls get to end."""
        if self._ending is None:
            board.onlookers.close()
            self._ending = asyncio.create_task(self._end_followed(board))

    async def _end_followed(self, board: Pegboard) -> None:
        await asyncio.sleep(self._settings.drain_seconds)
        board.pipeline.is_stopping = True  # the HTTP server cancels what is left
        await board.following.close()

    def _say_waiting(self, board: Pegboard) -> None:
        count = board.pipeline.running_count
        if count:
            calls = "1 call" if count == 1 else f"{count} calls"
            seconds = f"{self._settings.drain_seconds:g}"
            sys.stdout.write(f"Waiting for {calls}, at most {seconds} s; Ctrl-C again stops at once\n")
            sys.stdout.flush()

    def _stop_now(self, board: Pegboard) -> None:
        """Cancel the running calls: they are recorded, then the board closes as it does otherwise."""
        if self._ending is not None:
            self._ending.cancel()
        board.pipeline.stop()
        self._ending = asyncio.create_task(board.following.close())


def worker_app() -> ASGIApp:
    """The application of one of several worker processes."""
    from pegboard.core.version import __version__  # noqa: PLC0415 -- the package imports this module's siblings

    settings = Settings()
    configure_logs(settings.log_level, settings.log_format)
    return ServedBoard(settings, __version__)


class AnnouncingServer(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to this address; OSError says why it cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _TAKES_NOTHING_MS)
        bound.bind((host, port))
    except BaseException:
        bound.close()
        raise
    bound.set_inheritable(True)
    return bound


def serve_forever(
    settings: Settings, version: str, bound: socket.socket, *, on_open: OnOpen, ready: Callable[[], None]
) -> None:
    """Serve from this process until a signal says stop; running calls end first. Raises what kept it from starting."""
    served = ServedBoard(settings, version, on_open)
    server = AnnouncingServer(uvicorn.Config(served, **server_options(settings)), ready)
    with quiet_signals(), contextlib.suppress(SystemExit):  # how it gives up where the board does not open
        server.run([bound])
    if served.failure is not None:
        raise served.failure


def serve_with_workers(settings: Settings, bound: socket.socket, workers: int) -> None:
    """Serve from several processes, each with a board of its own, until a signal says stop."""
    config = uvicorn.Config(
        "pegboard.surfaces.rest.server:worker_app", factory=True, workers=workers, **server_options(settings)
    )
    with quiet_signals():
        Multiprocess(config, sockets=[bound]).run()


def server_options(settings: Settings) -> dict[str, Any]:
    """How the HTTP server is run."""
    return {
        "http": Connection,
        "log_level": "critical",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # nothing here goes by the caller's address
        "date_header": False,
        "ws": "none",
        "timeout_graceful_shutdown": int(settings.drain_seconds) + 1,
        "backlog": 2048,
    }


@contextlib.contextmanager
def quiet_signals() -> Iterator[None]:
    """The server answers a signal by stopping in good order; sent on to us afterwards, it must not kill."""
    caught = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
