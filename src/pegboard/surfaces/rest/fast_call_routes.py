"""The two routes that run calls and return all results at once; for speed, they are served without FastAPI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException

from pegboard.conversations.conversations import Conversations
from pegboard.conversations.turns import read_assistant_text
from pegboard.dialect_calls import AnsweredCalls, PayloadRunner
from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.parsed_calls import ParsedCalls as Payload
from pegboard.json_schema.arguments_text import reject_duplicate_keys
from pegboard.json_schema.read_arguments import parse_json
from pegboard.model.api_errors import Refusal
from pegboard.model.call import Caller, ToolCall, ToolResult
from pegboard.model.call_errors import MalformedArguments
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.model.ids import new_id
from pegboard.model.json_text import json_text
from pegboard.model.tool import Kind
from pegboard.pipeline import Pipeline
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.large_reads import LARGE_BYTES
from pegboard.surfaces.rest.asgi_request import (
    CUT_OFF_MESSAGE,
    JSON_MEDIA_TYPE,
    ASGIApp,
    AsgiRequest,
    HttpReply,
    IncomingRequest,
    Receive,
    RequestHeaders,
    Scope,
    Send,
    build_error_reply,
    build_problem_reply,
    parse_bearer_key,
    read_query,
    send_response,
)
from pegboard.surfaces.rest.event_stream import wants_events
from pegboard.surfaces.rest.json_bodies import MAX_DOCUMENT_CONTAINERS, JsonBodyParser
from pegboard.surfaces.rest.problem_json import UNAVAILABLE_CODES

_TEXT_MEDIA_TYPE = b"text/plain; charset=utf-8"
Headers = list[tuple[bytes, bytes]]


class PayloadRoute:
    """Runs the calls of a payload and returns all results in one response."""

    def __init__(
        self, *, payloads: PayloadRunner, threads: Conversations, bodies: JsonBodyParser, max_body: int
    ) -> None:
        self._payloads = payloads
        self._threads = threads
        self._bodies = bodies
        self._max_body = max_body

    async def reply(self, request: IncomingRequest) -> HttpReply | None:
        """Return the response to a payload, or None if the client has disconnected."""
        asked = RequestHeaders.of(request.headers)
        request.request_id = request_id = asked.request_id or new_id()
        caller = self._payloads.snapshot.holder(parse_bearer_key(asked.authorization))
        query = read_query(request, ("as", "from", "thread"))
        asked.refuse_forms()
        body = await request.body(self._max_body, asked.length)
        raw = await parse_payload(self._bodies, body, is_text=asked.is_text)
        shape, thread = query.get("as"), query.get("thread")

        def read() -> tuple[Payload, str | None]:
            return self._payloads.read(raw, query.get("from"), caller), read_assistant_text(
                raw
            ) if thread is not None else None

        payload, text = (
            read() if len(body) <= LARGE_BYTES else await self._payloads.large_reads.run(read, len(body), caller)
        )
        if shape is not None:
            self._payloads.dialects.named(shape, "as")
        if thread is not None:
            await self._threads.get(thread, caller)
        running = self._payloads.run(
            payload, caller, surface=asked.surface, request_id=request_id, key=asked.key, thread_id=thread
        )
        # Calls with an idempotency key continue after a disconnect: the client may request their results again.
        answered = await (running if asked.key else request.run_unless_disconnected(running))
        if answered is None:
            return None
        status, headers = 200, [(b"x-request-id", request_id.encode()), (b"x-dialect", payload.dialect.encode())]
        results = [answer.result for answer in answered.answers]
        if any(result.repeat_of for result in results):
            headers.append((b"idempotent-replayed", b"true"))
        if results and all(
            result.problem is not None and result.problem.code in UNAVAILABLE_CODES for result in results
        ):
            status = 503
            headers.append((b"retry-after", b"1"))
        elif thread is not None:
            headers += await self._remember_calls(thread, caller, answered, text)
        rendered = self._payloads.render(answered, shape)
        if isinstance(rendered, str) and asked.is_text:
            return HttpReply(status, rendered.encode(), _TEXT_MEDIA_TYPE, headers)
        return HttpReply(status, json_text(rendered).encode(), JSON_MEDIA_TYPE, headers)

    async def _remember_calls(self, thread: str, caller: Caller, answered: AnsweredCalls, text: str | None) -> Headers:
        """Add the calls and the model's text to the thread; on failure return a header, as the calls have run."""
        try:
            await self._threads.remember(thread, caller, answered, text)
        except Refusal as error:
            told = "".join(letter if letter.isprintable() else " " for letter in error.message)
            return [(b"x-thread-error", told.encode("ascii", "replace"))]
        return []


async def parse_payload(bodies: JsonBodyParser, body: bytes, *, is_text: bool) -> Any:
    """Return the body as JSON, or as text if `is_text`; raise HTTPException 400 for duplicate keys or invalid UTF-8."""
    if not is_text:
        return await bodies.parse(body, _parse_strict_json, MAX_DOCUMENT_CONTAINERS)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"The text is not UTF-8: byte {error.start + 1}") from None


def _parse_strict_json(body: bytes) -> Any:
    try:
        payload = parse_json(body)
        reject_duplicate_keys(body, payload)
    except MalformedArguments as error:
        raise HTTPException(400, error.message) from None
    return payload


_CALL_PATH_PREFIX, _CALL_PATH_SUFFIX, _PAYLOAD_PATH = "/v1/tools/", "/call", "/v1/calls"
# Tools of these kinds never wait, so a disconnect is not watched for.
_INSTANT_KINDS = (Kind.BUILTIN, Kind.MOCK)

# Returns the response to a request, or None if the client has disconnected; raises an exception to refuse it.
RequestHandler = Callable[[IncomingRequest], Awaitable[HttpReply | None]]


class FastCallRoutes:
    """Serves `POST /v1/tools/{name}/call` and `POST /v1/calls`, and passes other requests to the inner application."""

    def __init__(self, rest: ASGIApp, calls: CallRoute, payloads: PayloadRoute) -> None:
        self._rest = rest
        self._calls = calls
        self._payloads = payloads

    def find(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> RequestHandler | None:
        """Return the handler of a POST request to this path, or None if it is not a fast route."""
        if path.startswith(_CALL_PATH_PREFIX) and path.endswith(_CALL_PATH_SUFFIX):
            name = path[len(_CALL_PATH_PREFIX) : -len(_CALL_PATH_SUFFIX)]
            return partial(self._calls.reply, name) if name and "/" not in name else None
        if path == _PAYLOAD_PATH and not wants_events(
            value.decode("latin-1") for at, value in headers if at == b"accept"
        ):
            return self._payloads.reply
        return None

    async def answer(self, serve: RequestHandler, request: IncomingRequest) -> HttpReply | None:
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
                    await send_response(send, *build_cut_off_reply(request))
                    raise
                if reply is not None:
                    await send_response(send, *reply)
                return
        await self._rest(scope, receive, send)


class CallRoute:
    """Calls a tool by name, with the body as its arguments."""

    def __init__(
        self, *, pipeline: Pipeline, snapshot: Snapshot, dialects: Dialects, bodies: JsonBodyParser, max_body: int
    ) -> None:
        self._pipeline = pipeline
        self._snapshot = snapshot
        self._dialects = dialects
        self._bodies = bodies
        self._max_body = max_body

    async def reply(self, name: str, request: IncomingRequest) -> HttpReply | None:
        """Return the response to a call of this tool, or None if the client has disconnected."""
        asked = RequestHeaders.of(request.headers)
        request.request_id = request_id = asked.request_id
        caller = self._snapshot.holder(parse_bearer_key(asked.authorization))
        wanted = read_query(request, ("as",)).get("as")
        shape = self._dialects.named(wanted, "as") if wanted else None
        check_idempotency_key(asked.key)
        asked.refuse_forms()
        body = await request.body(self._max_body, asked.length)
        if len(body) > LARGE_BYTES:
            arguments = await self._bodies.parse(body, parse_json)
        else:
            arguments = parse_json(body) if body else {}
        call = ToolCall(name, arguments, None, asked.surface, "plain", request_id, None, asked.key)
        result = await self._run(call, caller, request)
        if result is None:
            return None
        run_id = result.run_id.encode()
        headers = [(b"x-request-id", request_id.encode() if request_id else run_id), (b"x-execution-id", run_id)]
        if result.repeat_of is not None:
            headers.append((b"idempotent-replayed", b"true"))
        status = 200
        if result.problem is not None and result.problem.code in UNAVAILABLE_CODES:
            status = 503
            headers.append((b"retry-after", b"%d" % max(1, (result.problem.retry_after_ms or 1000) // 1000)))
        dialect = shape or self._dialects[result.result_style]
        return HttpReply(
            status, dialect.render_json(Answer(AskedCall(name, arguments), result)), JSON_MEDIA_TYPE, headers
        )

    async def _run(self, call: ToolCall, caller: Caller, request: IncomingRequest) -> ToolResult | None:
        """Run the call; return None if the client disconnected and the call was cancelled.

        A call is not cancelled if it has an idempotency key, because its result can be requested again, or if the
        tool's `on_disconnect` is `detach`.
        """
        peg = self._snapshot.find(call.name)
        if (
            peg is None
            or peg.tool.tool_type in _INSTANT_KINDS
            or call.key is not None
            or peg.tool.on_disconnect == "detach"
        ):
            return await self._pipeline.run(call, caller)
        return await request.run_unless_disconnected(self._pipeline.run(call, caller))


def build_cut_off_reply(request: IncomingRequest) -> HttpReply:
    """Return the response to a call that is cancelled because the server stops."""
    return build_problem_reply(503, CUT_OFF_MESSAGE, get_request_id(request))


def get_request_id(request: IncomingRequest) -> str:
    """Return the id of the request, or a new one if none was assigned yet."""
    return request.request_id or new_id()
