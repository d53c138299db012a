"""The route that tools are called by: plain ASGI, since it is the one that must be quick."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from pegboard.core.call import Caller, Surface, ToolCall, ToolResult
from pegboard.core.errors import MalformedArguments
from pegboard.core.ids import new_id
from pegboard.core.keys import MAX_KEY, check_key
from pegboard.core.refusals import Refusal, Unauthorised
from pegboard.core.tool import Kind
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.dialects import Dialects
from pegboard.pipeline import Pipeline
from pegboard.registry.arguments import parse_json
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.rest.edge import (
    CUT_OFF,
    ASGIApp,
    Receive,
    Scope,
    Send,
    read_body,
    request_id_of,
    respond,
    respond_problem,
    unless_gone,
)
from pegboard.surfaces.rest.problems import UNAVAILABLE, refusal_of

_PREFIX, _SUFFIX = "/v1/tools/", "/call"
_JSON = b"application/json"
# These never wait, so nobody needs to watch whether their caller is still there.
_INSTANT = (Kind.BUILTIN, Kind.MOCK)


class CallRoute:
    """Serves `POST /v1/tools/{name}/call`, and hands every other request on."""

    def __init__(
        self,
        rest: ASGIApp,
        *,
        pipeline: Pipeline,
        snapshot: Snapshot,
        dialects: Dialects,
        max_body: int,
    ) -> None:
        self._rest = rest
        self._pipeline = pipeline
        self._snapshot = snapshot
        self._dialects = dialects
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            path: str = scope["path"].removeprefix(scope.get("root_path", ""))
            if path.startswith(_PREFIX) and path.endswith(_SUFFIX):
                name = path[len(_PREFIX) : -len(_SUFFIX)]
                if name and "/" not in name:
                    await self._call(name, scope, receive, send)
                    return
        await self._rest(scope, receive, send)

    async def _call(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _Asked.of(scope["headers"])
        request_id = asked.request_id
        try:
            caller = self._snapshot.holder(bearer_key(asked.authorization))
            shape = self._wanted_shape(scope["query_string"])
            check_key(asked.key)
            body = await read_body(receive, self._max_body, asked.length)
            arguments = parse_json(body) if body else {}
        except Refusal as error:
            status, detail, errors = refusal_of(error)
            await respond_problem(send, status, detail, request_id or new_id(), errors=errors)
            return
        except HTTPException as error:
            await respond_problem(send, error.status_code, error.detail, request_id or new_id())
            return
        except MalformedArguments as error:
            await respond_problem(send, 400, error.message, request_id or new_id())
            return
        try:
            call = ToolCall(name, arguments, None, asked.surface, "plain", request_id, None, asked.key)
            result = await self._run(call, caller, receive)
        except asyncio.CancelledError:
            await respond_problem(send, 503, CUT_OFF, request_id or new_id())
            raise
        if result is None:
            return
        run_id = result.run_id.encode()
        headers = [(b"x-request-id", request_id.encode() if request_id else run_id), (b"x-execution-id", run_id)]
        if result.repeat_of is not None:
            headers.append((b"idempotent-replayed", b"true"))
        status = 200
        if result.problem is not None and result.problem.code in UNAVAILABLE:
            status = 503
            headers.append((b"retry-after", b"%d" % max(1, (result.problem.retry_after_ms or 1000) // 1000)))
        dialect = shape or self._dialects[result.result_style]
        answer = Answer(AskedCall(name, arguments), result)
        await respond(send, status, dialect.render_json(answer), _JSON, headers)

    def _wanted_shape(self, query: bytes) -> Dialect | None:
        if not query:
            return None
        wanted = dict(parse_qsl(query.decode("latin-1"))).get("as")
        return self._dialects.named(wanted, "as") if wanted is not None else None

    async def _run(self, call: ToolCall, caller: Caller, receive: Receive) -> ToolResult | None:
        """The result, or None if the caller went away and the call was cancelled for it.

        A call with a key goes on: whoever asks again with the key is waiting for what comes of it. So does one whose
        tool says that it does.
        """
        peg = self._snapshot.find(call.name)
        if peg is None or peg.tool.tool_type in _INSTANT or call.key is not None or peg.tool.on_disconnect == "detach":
            return await self._pipeline.run(call, caller)
        return await unless_gone(receive, self._pipeline.run(call, caller))


class _Asked(NamedTuple):
    """What the headers of a call say."""

    authorization: bytes | None
    length: int
    request_id: str | None
    key: str | None
    surface: Surface

    @classmethod
    def of(cls, headers: Iterable[tuple[bytes, bytes]]) -> _Asked:
        authorization = request_id = key = None
        length = 0
        surface: Surface = "rest"
        for header, value in headers:
            if header == b"authorization":
                # Two of them could be read differently by a proxy in front of us.
                authorization = value if authorization is None else b""
            elif header == b"content-length" and value.isdigit():
                length = int(value)
            elif header == b"x-request-id":
                request_id = request_id_of(value)
            elif header == b"idempotency-key":
                key = value.decode("latin-1") if key is None else ""
            elif header == b"x-pegboard-surface" and value == b"cli":
                surface = "cli"
        return cls(authorization, length, request_id, key, surface)


def bearer_key(authorization: bytes | None) -> str:
    """The key of an Authorization header; raises Unauthorised with the way to send one."""
    if authorization is None:
        raise Unauthorised("A key is needed; send it as 'Authorization: Bearer KEY'")
    if authorization[:7].lower() != b"bearer ":
        raise Unauthorised("There must be one Authorization header, and it must read 'Bearer KEY'")
    return authorization[7:].strip().decode("latin-1")


IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the call run once: the same key again within a day gets the answer of the first time",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY},
}

CALL_PATH: dict[str, Any] = {
    "/v1/tools/{name}/call": {
        "post": {
            "tags": ["calls"],
            "operationId": "call_tool",
            "summary": "Call a tool",
            "description": "The body is the arguments. A tool's failure is an answer, no HTTP error: see `success`.",
            "security": [{"bearer": []}],
            "parameters": [
                {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}},
                {
                    "name": "as",
                    "in": "query",
                    "required": False,
                    "description": "The dialect of the answer; the tool's own result_style if absent",
                    "schema": {"type": "string"},
                },
                IDEMPOTENCY_KEY,
            ],
            "requestBody": {
                "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
            },
            "responses": {
                "200": {
                    "description": "How the call ended",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlainResult"}}},
                },
                **{
                    str(status): {
                        "description": text,
                        "content": {
                            "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}
                        },
                    }
                    for status, text in (
                        (400, "The body is not JSON"),
                        (401, "No key, or not a good one"),
                        (408, "The body stopped coming"),
                        (413, "The body is too large"),
                        (422, "No such dialect, or no usable key"),
                    )
                },
                "503": {
                    "description": "The call could not be taken or recorded; Retry-After says when to come back",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlainResult"}}},
                },
            },
        }
    }
}
