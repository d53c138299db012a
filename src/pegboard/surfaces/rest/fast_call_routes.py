"""The two routes that run calls and return all results at once; for speed, they are served without FastAPI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.json_schema.read_arguments import parse_json
from pegboard.model.call import Caller, CallRequest, Surface, ToolCall
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.model.ids import new_id
from pegboard.model.json_text import json_text
from pegboard.runs.handle import CallHandler, is_unavailable
from pegboard.stages.large_reads import LARGE_BYTES
from pegboard.surfaces.rest.asgi_request import (
    CUT_OFF_MESSAGE,
    JSON_MEDIA_TYPE,
    ASGIApp,
    AsgiRequest,
    HttpReply,
    Receive,
    RequestHeaders,
    Scope,
    Send,
    build_error_reply,
    parse_bearer_key,
    read_query,
    send_problem,
    send_response,
)
from pegboard.surfaces.rest.event_stream import wants_events
from pegboard.surfaces.rest.json_bodies import JsonBodyParser, parse_payload
from pegboard.surfaces.rest.request_caller import RequestCallers
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_TEXT_MEDIA_TYPE = b"text/plain; charset=utf-8"
_CALL_PATH_PREFIX, _CALL_PATH_SUFFIX, _PAYLOAD_PATH = "/v1/tools/", "/call", "/v1/calls"

# Returns the response to a request, or None if the client has disconnected; raises an exception to refuse it.
RequestHandler = Callable[[AsgiRequest], Awaitable[HttpReply | None]]


class FastCallRoutes:
    """Serves `POST /v1/tools/{name}/call` and `POST /v1/calls`, and passes other requests to the inner application."""

    def __init__(
        self,
        rest: ASGIApp,
        calls: CallHandler,
        callers: RequestCallers,
        dialects: Dialects,
        bodies: JsonBodyParser,
        *,
        max_body: int,
    ) -> None:
        self._rest = rest
        self._calls = calls
        self._callers = callers
        self._dialects = dialects
        self._bodies = bodies
        self._max_body = max_body

    def find(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> RequestHandler | None:
        """Return the handler of a POST request to this path, or None if it is not a fast route."""
        if path.startswith(_CALL_PATH_PREFIX) and path.endswith(_CALL_PATH_SUFFIX):
            name = path[len(_CALL_PATH_PREFIX) : -len(_CALL_PATH_SUFFIX)]
            return partial(self._call_tool, name) if name and "/" not in name else None
        if path == _PAYLOAD_PATH and not wants_events(
            value.decode("latin-1") for at, value in headers if at == b"accept"
        ):
            return self._run_payload
        return None

    async def answer(self, serve: RequestHandler, request: AsgiRequest) -> HttpReply | None:
        """Return the response; an exception becomes an error response, only CancelledError is raised."""
        try:
            return await serve(request)
        except Exception as error:
            return build_error_reply(error, get_request_id(request))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http" and scope["method"] == "POST":
            serve = self.find(scope["path"].removeprefix(scope.get("root_path", "")), scope["headers"])
            if serve is not None:
                request = AsgiRequest(scope, receive)
                try:
                    reply = await self.answer(serve, request)
                except asyncio.CancelledError:
                    await send_problem(send, 503, CUT_OFF_MESSAGE, get_request_id(request))
                    raise
                except Exception:
                    log.exception("request_broke")  # the server sends the response, and logs nothing
                    raise
                if reply is not None:
                    await send_response(send, *reply)
                return
        await self._rest(scope, receive, send)

    def _find_caller(self, headers: RequestHeaders, request: AsgiRequest) -> tuple[Caller, Surface]:
        """Return the caller and the surface; cookies are read only if there is no Authorization header."""
        if headers.authorization is not None:
            return self._calls.authenticate(parse_bearer_key(headers.authorization)), headers.surface
        return self._callers.find_session("POST", request.headers, request.scheme), "console"

    async def _call_tool(self, name: str, request: AsgiRequest) -> HttpReply | None:
        """Return the response to a call of this tool, or None if the client has disconnected."""
        headers = RequestHeaders.of(request.headers)
        request.request_id = request_id = headers.request_id
        caller, surface = self._find_caller(headers, request)
        wanted = read_query(request, ("as",)).get("as")
        shape = self._dialects.named(wanted, "as") if wanted else None
        check_idempotency_key(headers.key)
        headers.refuse_forms()
        body = await request.body(self._max_body, headers.length)
        if len(body) > LARGE_BYTES:
            arguments = await self._bodies.parse(body, parse_json)
        else:
            arguments = parse_json(body) if body else {}
        call = ToolCall(name, arguments, None, surface, "plain", request_id, None, headers.key)
        result = await self._calls.call(call, caller, request.run_unless_disconnected)
        if result is None:
            return None
        run_id = result.run_id.encode()
        reply_headers = [(b"x-request-id", request_id.encode() if request_id else run_id), (b"x-execution-id", run_id)]
        if result.repeat_of is not None:
            reply_headers.append((b"idempotent-replayed", b"true"))
        status = 200
        problem = result.problem
        if problem is not None and result.is_unavailable:
            status = 503
            reply_headers.append((b"retry-after", b"%d" % max(1, (problem.retry_after_ms or 1000) // 1000)))
        dialect = shape or self._dialects[result.result_style]
        rendered = dialect.render_json(Answer(AskedCall(name, arguments), result))
        return HttpReply(status, rendered, JSON_MEDIA_TYPE, reply_headers)

    async def _run_payload(self, request: AsgiRequest) -> HttpReply | None:
        """Return the response to a payload, with all of its results, or None if the client has disconnected."""
        headers = RequestHeaders.of(request.headers)
        request.request_id = request_id = headers.request_id or new_id()
        caller, surface = self._find_caller(headers, request)
        query = read_query(request, ("as", "from", "thread"))
        headers.refuse_forms()
        body = await request.body(self._max_body, headers.length)
        raw = await parse_payload(self._bodies, body, is_text=headers.is_text)
        payload = await self._calls.read(
            raw,
            CallRequest(caller, surface, request_id, headers.key, query.get("thread")),
            dialect=query.get("from"),
            shape=query.get("as"),
            size=len(body),
        )
        handled = await self._calls.run(payload, request.run_unless_disconnected)
        if handled is None:
            return None
        reply_headers = [(b"x-request-id", request_id.encode()), (b"x-dialect", payload.asked.dialect.encode())]
        results = handled.results
        if any(result.repeat_of for result in results):
            reply_headers.append((b"idempotent-replayed", b"true"))
        status = 200
        if is_unavailable(results):
            status = 503
            reply_headers.append((b"retry-after", b"1"))
        if handled.thread_error is not None:
            text = "".join(letter if letter.isprintable() else " " for letter in handled.thread_error.message)
            reply_headers.append((b"x-thread-error", text.encode("ascii", "replace")))
        rendered = self._calls.render(handled)
        if isinstance(rendered, str) and headers.is_text:
            return HttpReply(status, rendered.encode(), _TEXT_MEDIA_TYPE, reply_headers)
        return HttpReply(status, json_text(rendered).encode(), JSON_MEDIA_TYPE, reply_headers)


def get_request_id(request: AsgiRequest) -> str:
    """Return the id of the request, or a new one if none was assigned yet."""
    return request.request_id or new_id()
