"""The server of `pegboard mock`: the API of the board without changes, and a route that resets the responses."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import Any

import uvicorn

from pegboard.board import Pegboard
from pegboard.mock_server.fixtures import Fixtures
from pegboard.mock_server.player import Mock, register_fixtures
from pegboard.model.api_errors import Forbidden, Refusal
from pegboard.model.ids import new_id
from pegboard.surfaces.cli.board_server import listen
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.output import write
from pegboard.surfaces.rest.asgi_request import (
    Receive,
    Scope,
    Send,
    build_error_reply,
    read_bearer_key,
    send_problem,
    send_response,
)
from pegboard.surfaces.rest.bounded_connection import ConnectionGuard
from pegboard.surfaces.rest.server import (
    AnnouncingServer,
    ServerApplication,
    build_server_options,
    ignore_signals,
)
from pegboard.telemetry.logs import configure_logs
from pegboard.testing import NoSettings
from pegboard.version import __version__

RESET_PATH = "/mock/reset"
_READ_ONLY_MESSAGE = "A mock board has the tools of its fixtures; change the file and start it again"
_READ_METHODS = ("GET", "HEAD", "OPTIONS")
# The paths that accept POST. The key is public, so its holders must not be able to run their own code on the board.
_CALL_PATHS = ("/v1/calls", "/v1/chains", "/v1/threads")


class MockServer(ServerApplication):
    """Serves the tools of a fixtures file, with one fixed key."""

    def __init__(self, fixtures: Fixtures, key: str) -> None:
        super().__init__(NoSettings(database_url="memory"), __version__, self._on_board_open)
        self._fixtures = fixtures
        self._key = key
        self._board: Pegboard | None = None
        self._mock: Mock | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection; refuse requests that would change the board."""
        if scope["type"] == "http" and scope["method"] not in _READ_METHODS:
            if scope["path"] == RESET_PATH and scope["method"] == "POST":
                await self._reset(scope, send)
                return
            if not _is_call_path(scope["method"], scope["path"]):
                await send_problem(send, 403, _READ_ONLY_MESSAGE, new_id())
                return
        await super().__call__(scope, receive, send)

    async def _on_board_open(self, board: Pegboard) -> None:
        board.snapshot.admit(self._key, board.admin)
        self._mock = await register_fixtures(board, self._fixtures)
        # `POST /v1/chains` is allowed, and could register a tool.
        board.tools.create = _refuse_change  # type: ignore[method-assign]
        self._board = board

    async def _reset(self, scope: Scope, send: Send) -> None:
        assert self._board is not None
        assert self._mock is not None
        try:
            self._board.calls.authenticate(read_bearer_key(scope["headers"]))
        except Refusal as error:
            await send_response(send, *build_error_reply(error, new_id()))
            return
        self._mock.reset()
        await send_response(send, 204, b"", b"application/json", [(b"x-request-id", new_id().encode())])


async def _refuse_change(*_: Any, **__: Any) -> Any:
    raise Forbidden(_READ_ONLY_MESSAGE)


def _is_call_path(method: str, path: str) -> bool:
    is_call = method == "POST" and path.startswith("/v1/tools/") and path.endswith("/call")
    return is_call or any(path == start or path.startswith(start + "/") for start in _CALL_PATHS)


def run_mock_server(fixtures: Fixtures, key: str, host: str, port: int) -> None:
    """Serve until a stop signal; raise UsageError if the server cannot start."""
    configure_logs("info", "auto")
    bound, address = listen(host, port)
    served = MockServer(fixtures, key)
    config = uvicorn.Config(ConnectionGuard(served), **build_server_options(NoSettings()))
    server = AnnouncingServer(config, lambda: write(_build_mock_welcome(address, key, fixtures)))
    try:
        with ignore_signals(), contextlib.suppress(SystemExit):
            server.run([bound])
        if served.failure is not None:
            raise served.failure  # noqa: TRY301 -- it gets the same message as the others
    except Exception as error:
        raise UsageError(f"The mock board cannot be opened: {str(error) or type(error).__name__}") from None
    finally:
        bound.close()
    write("Stopped.")


def _build_mock_welcome(address: str, key: str, fixtures: Fixtures) -> str:
    first = fixtures.tools[0]
    body = shlex.quote(json.dumps(first.responses[0].when, ensure_ascii=False))
    bearer = shlex.quote(f"Authorization: Bearer {key}")
    names = ", ".join(tool.name for tool in fixtures.tools[:10]) + (", …" if len(fixtures.tools) > 10 else "")
    return "\n".join(
        [
            "",
            f"A mock board is serving at {address}  (API: {address}/docs)",
            f"Key: {key}",
            f"Tools: {names}",
            "",
            "Try it:",
            f"  curl -s {address}/v1/tools/{first.name}/call -H {bearer} -H 'Content-Type: application/json' -d {body}",
            "Reset every sequence:",
            f"  curl -s -X POST {address}/mock/reset -H {bearer}",
            "",
            "Ctrl-C stops it.",
            "",
        ]
    )
