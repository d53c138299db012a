"""The routes that calls come by: past the framework, since they are the ones that must be quick."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from pegboard.core.call import Caller, ToolCall, ToolResult
from pegboard.core.ids import new_id
from pegboard.core.keys import check_key
from pegboard.core.tool import Kind
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.base import Answer
from pegboard.dialects.dialects import Dialects
from pegboard.pipeline import Pipeline
from pegboard.registry.arguments import parse_json
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.large_reads import LARGE
from pegboard.surfaces.rest.edge import (
    CUT_OFF,
    JSON,
    ASGIApp,
    Receive,
    Reply,
    Scope,
    Send,
    refusing,
    reply_to,
    respond,
)
from pegboard.surfaces.rest.incoming import Asked, Received, Request, bearer_key, query_of
from pegboard.surfaces.rest.json_bodies import JsonBodies
from pegboard.surfaces.rest.payload_route import PayloadRoute
from pegboard.surfaces.rest.problems import UNAVAILABLE
from pegboard.surfaces.rest.stream import wants_events

_PREFIX, _SUFFIX, _PAYLOADS = "/v1/tools/", "/call", "/v1/calls"
# These never wait, so nobody needs to watch whether their caller is still there.
_INSTANT = (Kind.BUILTIN, Kind.MOCK)

# Gives the answer to a request, or None if nobody waits for one any more; raises what refuses it.
Serve = Callable[[Request], Awaitable[Reply | None]]


class HotRoutes:
    """Serves `POST /v1/tools/{name}/call` and `POST /v1/calls`, and hands every other request on."""

    def __init__(self, rest: ASGIApp, calls: CallRoute, payloads: PayloadRoute) -> None:
        self._rest = rest
        self._calls = calls
        self._payloads = payloads

    def find(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> Serve | None:
        """What serves a request that is posted to this path, if it is one of ours."""
        if path.startswith(_PREFIX) and path.endswith(_SUFFIX):
            name = path[len(_PREFIX) : -len(_SUFFIX)]
            return partial(self._calls.reply, name) if name and "/" not in name else None
        if path == _PAYLOADS and not wants_events(value.decode("latin-1") for at, value in headers if at == b"accept"):
            return self._payloads.reply
        return None

    async def answer(self, serve: Serve, request: Request) -> Reply | None:
        """The answer, whatever goes wrong; only that this task is cancelled is raised."""
        try:
            return await serve(request)
        except Exception as error:
            return reply_to(error, request_id(request))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            serve = self.find(scope["path"].removeprefix(scope.get("root_path", "")), scope["headers"])
            if serve is not None:
                request = Received(scope, receive)
                try:
                    reply = await self.answer(serve, request)
                except asyncio.CancelledError:
                    await respond(send, *cut_off(request))
                    raise
                if reply is not None:
                    await respond(send, *reply)
                return
        await self._rest(scope, receive, send)


class CallRoute:
    """Calls a tool by its name, with the body as its arguments."""

    def __init__(
        self, *, pipeline: Pipeline, snapshot: Snapshot, dialects: Dialects, bodies: JsonBodies, max_body: int
    ) -> None:
        self._pipeline = pipeline
        self._snapshot = snapshot
        self._dialects = dialects
        self._bodies = bodies
        self._max_body = max_body

    async def reply(self, name: str, request: Request) -> Reply | None:
        """The answer to a call of this tool, or None if nobody waits for one any more."""
        asked = Asked.of(request.headers)
        request.request_id = request_id = asked.request_id
        caller = self._snapshot.holder(bearer_key(asked.authorization))
        wanted = query_of(request, ("as",)).get("as")
        shape = self._dialects.named(wanted, "as") if wanted else None
        check_key(asked.key)
        asked.refuse_forms()
        body = await request.body(self._max_body, asked.length)
        if len(body) > LARGE:
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
        if result.problem is not None and result.problem.code in UNAVAILABLE:
            status = 503
            headers.append((b"retry-after", b"%d" % max(1, (result.problem.retry_after_ms or 1000) // 1000)))
        dialect = shape or self._dialects[result.result_style]
        return Reply(status, dialect.render_json(Answer(AskedCall(name, arguments), result)), JSON, headers)

    async def _run(self, call: ToolCall, caller: Caller, request: Request) -> ToolResult | None:
        """The result, or None if the caller went away and the call was cancelled for it.

        A call with a key goes on: whoever asks again with the key is waiting for what comes of it. So does one whose
        tool says that it does.
        """
        peg = self._snapshot.find(call.name)
        if peg is None or peg.tool.tool_type in _INSTANT or call.key is not None or peg.tool.on_disconnect == "detach":
            return await self._pipeline.run(call, caller)
        return await request.unless_gone(self._pipeline.run(call, caller))


def cut_off(request: Request) -> Reply:
    """The answer to a call that is cancelled because the server stops."""
    return refusing(503, CUT_OFF, request_id(request))


def request_id(request: Request) -> str:
    """The id that the answer to a request is to carry where nothing else gave it one."""
    return request.request_id or new_id()
