"""The mock board as a server: the board's own API, closed for changes, and a way to begin again."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from pegboard.board import Pegboard
from pegboard.core.ids import new_id
from pegboard.core.refusals import Forbidden, Refusal
from pegboard.core.version import __version__
from pegboard.mocking.fixtures import Fixtures
from pegboard.mocking.playing import Mock, hang
from pegboard.surfaces.rest.edge import Receive, Scope, Send, respond, respond_problem
from pegboard.surfaces.rest.incoming import bearer_key
from pegboard.surfaces.rest.problems import refusal_of
from pegboard.surfaces.rest.server import AnnouncingServer, ServedBoard, quiet_signals, server_options
from pegboard.testing import NoSettings

RESET = "/mock/reset"
_CLOSED = "A mock board has the tools of its fixtures; change the file and start it again"
_READING = ("GET", "HEAD", "OPTIONS")
# What may be posted to. The key is no secret, so whoever has it must not be able to have the board run code of theirs.
_CALLING = ("/v1/calls", "/v1/chains", "/v1/threads")


class MockServer(ServedBoard):
    """Serves the tools of some fixtures to whoever shows the key."""

    def __init__(self, fixtures: Fixtures, key: str) -> None:
        super().__init__(NoSettings(database_url="memory"), __version__, self._opened)
        self._fixtures = fixtures
        self._key = key
        self._board: Pegboard | None = None
        self._mock: Mock | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] not in _READING:
            if scope["path"] == RESET and scope["method"] == "POST":
                await self._reset(scope, send)
                return
            if not _calls(scope["method"], scope["path"]):
                await respond_problem(send, 403, _CLOSED, new_id())
                return
        await super().__call__(scope, receive, send)

    async def _opened(self, board: Pegboard) -> None:
        board.snapshot.admit(self._key, board.admin)
        self._mock = await hang(board, self._fixtures)
        # Chains may be posted, and would be saved as tools.
        board.tools.create = _refuse  # type: ignore[method-assign]
        self._board = board

    async def _reset(self, scope: Scope, send: Send) -> None:
        assert self._board is not None
        assert self._mock is not None
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        try:
            self._board.snapshot.holder(bearer_key(sent[0] if len(sent) == 1 else None))
        except Refusal as error:
            status, detail, errors = refusal_of(error)
            await respond_problem(send, status, detail, new_id(), errors=errors)
            return
        self._mock.reset()
        await respond(send, 204, b"", b"application/json", [(b"x-request-id", new_id().encode())])


async def _refuse(*_: Any, **__: Any) -> Any:
    raise Forbidden(_CLOSED)


def _calls(method: str, path: str) -> bool:
    is_call = method == "POST" and path.startswith("/v1/tools/") and path.endswith("/call")
    return is_call or any(path == start or path.startswith(start + "/") for start in _CALLING)


def serve_mock(fixtures: Fixtures, key: str, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal says stop; raises what kept it from starting."""
    served = MockServer(fixtures, key)
    options = server_options(NoSettings())
    server = AnnouncingServer(uvicorn.Config(served, **options), ready)
    with quiet_signals(), contextlib.suppress(SystemExit):
        server.run([bound])
    if served.failure is not None:
        raise served.failure
