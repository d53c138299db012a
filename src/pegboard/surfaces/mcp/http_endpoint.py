"""MCP over HTTP: an ASGI application for /mcp and /agents/{id}/mcp, in front of the one for all other paths."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException

from pegboard.model.api_errors import Forbidden, NotFound, Unauthorised
from pegboard.model.call import Caller
from pegboard.model.call_errors import MalformedArguments
from pegboard.stages.large_reads import LARGE_BYTES
from pegboard.surfaces.mcp.client_requests import ClientRequests, refuse_input
from pegboard.surfaces.mcp.header_values import McpHeaders, accepts, build_unsupported_version, is_json_media_type
from pegboard.surfaces.mcp.json_rpc import (
    InvalidMessage,
    RequestId,
    RpcMessage,
    encode_error,
    encode_notification,
    encode_result,
    parse_body,
    read_message,
)
from pegboard.surfaces.mcp.mcp_request import McpRequest, NoResponse
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.mcp_sessions import SessionRecord
from pegboard.surfaces.mcp.methods import handle_request
from pegboard.surfaces.mcp.open_session import open_session
from pegboard.surfaces.mcp.protocol import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    SESSION_REVISION,
    SESSION_VERSIONS,
    STATELESS_REVISION,
    STATELESS_VERSION,
    VERSION_KEY,
    ProtocolError,
    Revision,
)
from pegboard.surfaces.mcp.response_stream import Headers, ResponseStream
from pegboard.surfaces.rest.asgi_request import (
    CUT_OFF_MESSAGE,
    JSON_MEDIA_TYPE,
    ASGIApp,
    AsgiRequest,
    Receive,
    Scope,
    Send,
    choose_request_id,
    parse_bearer_key,
    parse_content_length,
    run_unless_disconnected,
    send_response,
)
from pegboard.surfaces.rest.json_bodies import JsonBodyParser
from pegboard.surfaces.rest.problem_json import describe_unexpected_error
from pegboard.surfaces.rest.request_caller import RequestCallers
from pegboard.surfaces.rest.request_origin import OriginPolicy, OriginRefused
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_PATH, _AGENT_PREFIX = "/mcp", "/agents/"
_EVENT_STREAM = b"text/event-stream"
_SESSION_VERSIONS = frozenset(SESSION_VERSIONS)


def find_agent_ref(path: str) -> str | None:
    """Return the agent that a path names, "" for the path without an agent, or None if it is no path of MCP."""
    path = path.removesuffix("/")
    if path == _PATH:
        return ""
    if path.startswith(_AGENT_PREFIX) and path.endswith(_PATH):
        return path[len(_AGENT_PREFIX) : -len(_PATH)] or None
    return None


class McpEndpoint:
    """Serves the paths of MCP, and passes other requests to the inner application."""

    def __init__(
        self,
        app: ASGIApp,
        server: McpServer,
        origins: OriginPolicy,
        callers: RequestCallers,
        bodies: JsonBodyParser,
        *,
        max_body: int,
    ) -> None:
        self._app = app
        self.server = server
        self._origins = origins
        self._callers = callers
        self._bodies = bodies
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http":
            agent_ref = find_agent_ref(scope["path"].removeprefix(scope.get("root_path", "")))
            if agent_ref is not None:
                http = AsgiRequest(scope, receive)
                await _McpExchange(self, http, scope["method"], receive, send).serve(agent_ref)
                return
        await self._app(scope, receive, send)

    def authenticate(self, headers: McpHeaders, http: AsgiRequest, method: str, agent_ref: str) -> Caller:
        """Return the caller of a request; raise OriginRefused, Unauthorised, Forbidden or NotFound."""
        self._origins.check(headers.host, headers.origin)
        caller = self.find_caller(headers, http, method, is_use=True)
        return self.server.find_agent_caller(agent_ref, caller) if agent_ref else caller

    def find_caller(self, headers: McpHeaders, http: AsgiRequest, method: str, *, is_use: bool) -> Caller:
        """Return the holder of the key, else of the session of the web console; raise Unauthorised or Forbidden."""
        if headers.authorization is None:
            return self._callers.find_session(method, http.headers, http.scheme, is_use=is_use)
        return self.server.calls.authenticate(parse_bearer_key(headers.authorization))

    async def read_value(self, headers: McpHeaders, http: AsgiRequest) -> Any:
        """Return the body of a POST request as JSON; raise ProtocolError or HTTPException if it cannot be read."""
        media_type, accept = headers.content_type, headers.accept
        if media_type is None or not is_json_media_type(media_type):
            raise ProtocolError(INVALID_REQUEST, "The Content-Type must be application/json", status=415)
        if accept is not None and not accepts(accept, JSON_MEDIA_TYPE):
            raise ProtocolError(INVALID_REQUEST, "The Accept header must include application/json", status=406)
        try:
            body = await http.body(self._max_body, parse_content_length(headers.content_length or b""))
        except MalformedArguments as error:  # the body was cut off
            raise ProtocolError(INVALID_REQUEST, error.message, status=400) from None
        if len(body) > LARGE_BYTES:
            return await self._bodies.parse(body, parse_body)
        return parse_body(body)


class _McpExchange:
    """One HTTP request and its response."""

    __slots__ = (
        "_endpoint", "_headers", "_http", "_message_id", "_method", "_receive", "_reply_headers", "_request_id",
        "_send", "_server",
    )  # fmt: skip

    def __init__(self, endpoint: McpEndpoint, http: AsgiRequest, method: str, receive: Receive, send: Send) -> None:
        self._endpoint = endpoint
        self._server = endpoint.server
        self._http = http
        self._method = method
        self._headers = headers = McpHeaders(http.headers)
        self._receive = receive
        self._send = send
        self._message_id: RequestId | None = None
        sent_id = headers.request_id
        self._request_id: str | None = None
        self._reply_headers: Headers = []
        if sent_id is not None:
            self._request_id = choose_request_id(sent_id)
            self._reply_headers.append((b"x-request-id", self._request_id.encode()))

    async def serve(self, agent_ref: str) -> None:
        """Send the response to the request."""
        method = self._method
        version = self._headers.version
        revision = SESSION_REVISION if version is None or version in _SESSION_VERSIONS else STATELESS_REVISION
        try:
            caller = self._endpoint.authenticate(self._headers, self._http, method, agent_ref)
            if method == "POST":
                await self._post(caller, revision, await self._endpoint.read_value(self._headers, self._http))
            elif method == "GET" and not revision.is_stateless:
                await self._stream_events(caller)
            elif method == "DELETE" and not revision.is_stateless:
                self._server.sessions.end(self._find_session(caller))
                await send_response(self._send, 204, b"", JSON_MEDIA_TYPE, self._reply_headers)
            else:
                await self._refuse_method(revision)
        except Exception as error:
            await self._send_error(error, revision)

    async def _post(self, caller: Caller, revision: Revision, value: Any) -> None:
        message = read_message(value)
        self._message_id = message.id
        if message.method is None:
            session = None if revision.is_stateless else self._find_session(caller)
            if session is None or session.requests is None or not session.requests.receive(message):
                raise ProtocolError(INVALID_REQUEST, "This server waits for no response with this id", status=400)
            return await self._accept()
        if revision.is_stateless:
            session = None
            if message.id is None:
                self._check_notification_version()
                return await self._accept()
            self._headers.check_stateless(message.method, message.params)
            if message.method == "tools/call":
                self._check_param_headers(message.params)
        else:
            if message.method == "initialize" and message.id is not None:
                return await self._initialize(caller, message)
            session = self._find_session(caller, message)
            if message.id is None:
                session.handle_notification(message.method, message.params)
                return await self._accept()
        return await self._answer(caller, revision, message, session)

    async def _answer(
        self, caller: Caller, revision: Revision, message: RpcMessage, session: SessionRecord | None
    ) -> None:
        assert message.id is not None
        assert message.method is not None
        accept = self._headers.accept
        may_stream = accept is None or accepts(accept, _EVENT_STREAM)
        if message.method == "subscriptions/listen" and not may_stream:
            raise ProtocolError(INVALID_REQUEST, "The Accept header must include text/event-stream", status=406)
        stream = ResponseStream(self._send, self._reply_headers, self._server.clock, may_stream=may_stream)
        key = self._headers.idempotency_key
        request = McpRequest(
            message.id,
            message.method,
            message.params,
            revision,
            caller,
            stream.notify,
            session,
            None if session is None else session.running,
            self._http.run_unless_disconnected if session is None else None,
            None if key is None else key.decode("latin-1"),
            self._request_id,
            partial(self._is_allowed, stream),
            None if session is None or session.requests is None else partial(self._ask, stream, session.requests),
        )
        try:
            result = await handle_request(self._server, request)
        except NoResponse:
            if session is None:
                await stream.abort()
            else:
                await stream.finish_empty()
        except asyncio.CancelledError:  # the server stops
            cut_off = ProtocolError(INTERNAL_ERROR, CUT_OFF_MESSAGE, status=503)
            await stream.finish(503, encode_error(message.id, cut_off), _get_error_headers(cut_off))
            raise
        except Exception as failure:
            error = failure if isinstance(failure, ProtocolError) else self._describe_failure(failure)
            await stream.finish(revision.get_status(error), encode_error(message.id, error), _get_error_headers(error))
        else:
            await stream.finish(200, encode_result(message.id, result))

    async def _ask(
        self, stream: ResponseStream, requests: ClientRequests, method: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the answer of the client to a request on its stream; raise ClientRefused."""
        asking = requests.ask(stream.send_request, stream.notify, method, params)
        # Not that of the connection, which has one watcher: a server may ask several things at the same time.
        answer = await run_unless_disconnected(self._receive, asking)
        if answer is None:
            raise refuse_input("The client has disconnected")
        return answer

    async def _initialize(self, caller: Caller, message: RpcMessage) -> None:
        assert message.id is not None
        session, result = open_session(self._server, caller, message.params)
        headers = [(b"mcp-session-id", session.id.encode()), *self._reply_headers]
        await send_response(self._send, 200, encode_result(message.id, result), JSON_MEDIA_TYPE, headers)

    async def _stream_events(self, caller: Caller) -> None:
        accept = self._headers.accept
        if accept is not None and not accepts(accept, _EVENT_STREAM):
            raise ProtocolError(INVALID_REQUEST, "The Accept header must include text/event-stream", status=406)
        session = self._find_session(caller)
        stream = ResponseStream(self._send, self._reply_headers, self._server.clock, may_stream=True)
        is_allowed = partial(self._is_allowed, stream)
        await stream_session_events(self._server, session, stream, self._receive, is_allowed)

    def _find_session(self, caller: Caller, message: RpcMessage | None = None) -> SessionRecord:
        session_id = self._headers.session_id
        if session_id is None and message is not None and self._headers.version is None:
            meta = message.params.get("_meta")
            if isinstance(meta, dict) and VERSION_KEY in meta:
                raise ProtocolError(HEADER_MISMATCH, "The header MCP-Protocol-Version is missing", status=400)
        return self._server.sessions.find(session_id, caller)

    def _check_notification_version(self) -> None:
        version = self._headers.version
        if version != STATELESS_VERSION:
            raise build_unsupported_version(version or "")

    def _check_param_headers(self, params: dict[str, Any]) -> None:
        """Raise ProtocolError unless the headers Mcp-Param-* repeat the arguments that the tool declares."""
        name, arguments = params.get("name"), params.get("arguments") or {}
        compiled = self._server.snapshot.find(name) if isinstance(name, str) else None
        if compiled is None or not isinstance(arguments, dict):
            return
        for param in self._server.lists.find(compiled).param_headers:
            param.check(arguments, self._headers.params, self._headers.duplicates)

    def _is_allowed(self, stream: ResponseStream) -> bool:
        """True if the client still reads its stream, and the key or session of this request is still valid."""
        if stream.is_given_up:
            return False
        try:
            self._endpoint.find_caller(self._headers, self._http, self._method, is_use=False)
        except Unauthorised:
            return False
        return True

    async def _accept(self) -> None:
        await send_response(self._send, 202, b"", JSON_MEDIA_TYPE, self._reply_headers)

    async def _refuse_method(self, revision: Revision) -> None:
        allowed = b"POST" if revision.is_stateless else b"GET, POST, DELETE"
        error = ProtocolError(INVALID_REQUEST, f"Use {allowed.decode().replace(', ', ' or ')} here")
        headers = [(b"allow", allowed), *self._reply_headers]
        await send_response(self._send, 405, encode_error(None, error), JSON_MEDIA_TYPE, headers)

    async def _send_error(self, error: Exception, revision: Revision) -> None:
        """Send the JSON-RPC error for an exception that was raised before the response began."""
        identity = self._message_id
        if isinstance(error, InvalidMessage):
            identity = error.id
        elif isinstance(error, OriginRefused):
            error = ProtocolError(INVALID_REQUEST, error.message, status=error.status)
        elif isinstance(error, Unauthorised):
            error = ProtocolError(INVALID_REQUEST, error.message, status=401)
        elif isinstance(error, (Forbidden, NotFound)):
            status = 404 if isinstance(error, NotFound) else 403
            error = ProtocolError(INVALID_REQUEST, error.message, status=status)
        elif isinstance(error, HTTPException):
            error = ProtocolError(INVALID_REQUEST, error.detail, status=error.status_code)
        elif not isinstance(error, ProtocolError):
            error = self._describe_failure(error)
        headers = [*_get_error_headers(error), *self._reply_headers]
        await send_response(
            self._send, revision.get_status(error), encode_error(identity, error), JSON_MEDIA_TYPE, headers
        )

    def _describe_failure(self, failure: Exception) -> ProtocolError:
        """Return the error for an unexpected exception, and log it."""
        log.error("request_broke", request_id=self._request_id, exc_info=failure)
        status, message = describe_unexpected_error(failure)
        return ProtocolError(INTERNAL_ERROR, message, status=status)


def _get_error_headers(error: ProtocolError) -> Headers:
    if error.status == 401:
        text = "".join(letter if letter.isascii() and letter.isprintable() else " " for letter in error.message)
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').encode()
        return [(b"www-authenticate", b'Bearer error="invalid_token", error_description="%b"' % quoted)]
    return [(b"retry-after", b"1")] if error.status == 503 else []


async def stream_session_events(
    server: McpServer,
    session: SessionRecord,
    stream: ResponseStream,
    receive: Receive,
    is_allowed: Callable[[], bool],
) -> None:
    """Send notifications until the client disconnects, the session ends, or another stream of it is opened."""
    if session.close_stream is not None:
        session.close_stream()
    over = asyncio.Event()
    session.close_stream = close = over.set
    session.notify = notify = stream.notify

    def report(method: str) -> None:
        notify(encode_notification(method, {}))

    try:
        with server.changes.watch(session.caller, report, close, is_allowed):
            stream.open()
            if await run_unless_disconnected(receive, over.wait()) is None:
                await stream.abort()
            else:
                await stream.finish_empty()
    except BaseException:
        await stream.abort()
        raise
    finally:
        if session.close_stream is close:
            session.close_stream = session.notify = None
