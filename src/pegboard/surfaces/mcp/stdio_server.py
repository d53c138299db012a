"""MCP over standard input and output, for one client, in both revisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from pegboard.model.api_errors import Refusal
from pegboard.model.call import Caller
from pegboard.surfaces.mcp.client_requests import ClientRequests
from pegboard.surfaces.mcp.header_values import build_unsupported_version, check_meta
from pegboard.surfaces.mcp.json_rpc import (
    InvalidMessage,
    RpcMessage,
    encode_error,
    encode_notification,
    encode_result,
    parse_body,
    read_message,
)
from pegboard.surfaces.mcp.mcp_request import McpRequest, NoResponse
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.mcp_sessions import RunningRequests, SessionRecord, cancel_request
from pegboard.surfaces.mcp.methods import handle_request
from pegboard.surfaces.mcp.open_session import open_session
from pegboard.surfaces.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    SESSION_REVISION,
    STATELESS_REVISION,
    STATELESS_VERSION,
    VERSION_KEY,
    ProtocolError,
)
from pegboard.surfaces.mcp.stdio_lines import LineTooLong, StdioLines
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long requests may take to end after the end of the input; then they are cancelled.
GRACE_SECONDS = 0.3
_MAX_RUNNING = 1000

# Returns the caller of the requests; raises a Refusal if the key is no longer valid.
GetCaller = Callable[[], Caller]


async def serve_stdio(server: McpServer, lines: StdioLines, get_caller: GetCaller) -> None:
    """Answer requests until the end of the input; then end the running ones."""
    connection = _StdioConnection(server, lines, get_caller)
    with connection.resources:
        while True:
            try:
                line = await lines.read()
            except LineTooLong:
                lines.write(encode_error(None, ProtocolError(INVALID_REQUEST, "The message is too large")))
                continue
            if line is None:
                break
            await connection.receive(line)
        await connection.end()
    lines.close()


class _StdioConnection:
    """The client of this process and its running requests."""

    def __init__(self, server: McpServer, lines: StdioLines, get_caller: GetCaller) -> None:
        self.resources = ExitStack()
        self._server = server
        self._lines = lines
        self._get_caller = get_caller
        self._session: SessionRecord | None = None
        self._running: RunningRequests = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(_MAX_RUNNING)

    async def receive(self, line: bytes) -> None:
        """Handle one message; a request continues in a task of its own."""
        try:
            message = read_message(parse_body(line))
            if message.method is None:
                if not self._receive_response(message):
                    raise InvalidMessage("This server waits for no response with this id", message.id)
                return
        except ProtocolError as error:
            identity = error.id if isinstance(error, InvalidMessage) else None
            self._lines.write(encode_error(identity, error))
            return
        if message.id is None:
            if message.method == "notifications/cancelled":
                cancel_request(self._running, message.params)
            elif self._session is not None:
                self._session.handle_notification(message.method, message.params)
        elif message.method == "initialize" and not _is_stateless(message):
            self._initialize(message)
        else:
            await self._free.acquire()
            task = asyncio.create_task(self._answer(message), name="pegboard-mcp-request")
            self._tasks.add(task)
            task.add_done_callback(self._on_done)

    async def end(self) -> None:
        """Wait a short time for the running requests, then cancel them; their calls are recorded."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            self._server.sessions.end(self._session)

    def _receive_response(self, message: RpcMessage) -> bool:
        requests = self._session.requests if self._session is not None else None
        return requests is not None and requests.receive(message)

    async def _ask(self, requests: ClientRequests, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer of the client; raise ClientRefused."""
        return await requests.ask(self._send_request, self._lines.write_notification, method, params)

    def _send_request(self, line: bytes) -> bool:
        self._lines.write(line)
        return True

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._free.release()

    def _initialize(self, message: RpcMessage) -> None:
        assert message.id is not None
        try:
            caller = self._get_caller()
            session, result = open_session(self._server, caller, message.params)
        except Refusal as error:
            self._lines.write(encode_error(message.id, ProtocolError(INVALID_REQUEST, error.message)))
        except ProtocolError as error:
            self._lines.write(encode_error(message.id, error))
        else:
            if self._session is None:
                watching = self._server.changes.watch(caller, self._report_change, _ignore, lambda: True)
                self.resources.enter_context(watching)
            else:
                self._server.sessions.end(self._session)
            self._session = session
            session.notify = self._lines.write_notification
            self._lines.write(encode_result(message.id, result))

    def _report_change(self, method: str) -> None:
        self._lines.write_notification(encode_notification(method, {}))

    async def _answer(self, message: RpcMessage) -> None:
        assert message.id is not None
        try:
            answer = encode_result(message.id, await self._handle(message))
        except NoResponse:
            return
        except ProtocolError as error:
            answer = encode_error(message.id, error)
        except Refusal as error:
            answer = encode_error(message.id, ProtocolError(INVALID_REQUEST, error.message))
        except Exception:
            log.exception("request_broke", method=message.method)
            failure = ProtocolError(INTERNAL_ERROR, "Something went wrong on the board; its log says what")
            answer = encode_error(message.id, failure)
        self._lines.write(answer)

    async def _handle(self, message: RpcMessage) -> bytes:
        assert message.id is not None
        assert message.method is not None
        is_stateless = _is_stateless(message)
        if is_stateless:
            version = check_meta(message.params)[VERSION_KEY]
            if version != STATELESS_VERSION:
                raise build_unsupported_version(version)
        elif self._session is None and message.method not in ("ping", "server/discover"):
            raise ProtocolError(INVALID_REQUEST, "Send initialize first")
        session = None if is_stateless else self._session
        request = McpRequest(
            message.id,
            message.method,
            message.params,
            STATELESS_REVISION if is_stateless else SESSION_REVISION,
            self._get_caller(),
            self._lines.write_notification,
            session,
            self._running,
            ask=None if session is None or session.requests is None else partial(self._ask, session.requests),
        )
        return await handle_request(self._server, request)


def _is_stateless(message: RpcMessage) -> bool:
    meta = message.params.get("_meta")
    return type(meta) is dict and VERSION_KEY in meta


def _ignore() -> None:
    """Do nothing: there is no stream to close."""
