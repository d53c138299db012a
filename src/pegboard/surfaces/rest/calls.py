"""Routes of calls in any dialect, of the journal, and of the server's own state."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import PlainTextResponse

from pegboard.dialects.saying import said
from pegboard.store.executions import ExecutionFilter
from pegboard.store.types import json_text
from pegboard.surfaces.rest.deps import Board, Cursor, Limit, Who
from pegboard.surfaces.rest.fields import Moment
from pegboard.surfaces.rest.incoming import names_text
from pegboard.surfaces.rest.models import DialectResponse, ExecutionPage, ExecutionResponse
from pegboard.surfaces.rest.payload_route import read_payload
from pegboard.surfaces.rest.routing import KeyRoute, allow, not_agents
from pegboard.surfaces.rest.statistics import CallerId, whose
from pegboard.surfaces.rest.stream import SENT, EventStream, Readers

calls = APIRouter(prefix="/v1", tags=["calls"], route_class=KeyRoute)
journal = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)
state = APIRouter(tags=["server"])

# Texts and streams are taken too, with their own media types; generators of clients know this one.
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answers; or, where `Accept` asks for them, events that tell of the calls as they run",
        "headers": {"X-Run-Id": {"description": "What the events are known by", "schema": {"type": "string"}}},
        **SENT,
    }
}
From = Annotated[str | None, Query(alias="from", description="The dialect of the body; found out if absent")]


@calls.post("/calls", operation_id="run_calls", openapi_extra=_BODY, responses=_ANSWERS)
async def run_calls(
    request: Request,
    board: Board,
    caller: Who,
    reading: From = None,
    shape: Annotated[
        str | None, Query(alias="as", description="The dialect of the answer; the body's if absent")
    ] = None,
    thread: Annotated[
        str | None, Query(description="The id of a conversation of one's own that the calls are added to")
    ] = None,
    idempotency_key: Annotated[
        str | None,
        Header(description="Makes each call run once: the same key again within a day gets the first answers"),
    ] = None,
) -> Any:
    """Run the calls of a payload in any dialect; answers come in the same dialect and order.

    The body is one call, a list of them, a whole message or response of a model, its text, or the chunks of a stream.
    With `Accept: text/event-stream` the calls are told of as they run: `tool_use`, `tool_progress`, `tool_result` in
    the order of the calls, and at the end `complete` or `error`. A reader who goes away for more than two seconds ends
    the calls whose tools say so; `GET /v1/calls/{run}/events` goes on where it left.
    """
    # What does not ask for events never comes here: it is answered by `PayloadRoute`.
    raw = await payload_of(request)
    size = len(await request.body())
    asked, text = await board.payloads.large_reads.run(
        lambda: (board.payloads.read(raw, reading, caller), said(raw)), size, caller
    )
    if shape is not None:
        board.dialects.named(shape, "as")
    if len(request.headers.getlist("idempotency-key")) > 1:
        idempotency_key = ""  # which of them counts could be read differently by a proxy in front of us
    if thread is not None:
        await board.threads.get(thread, caller)
    readers: Readers = request.app.state.readers
    counted = readers.of(caller)
    feed = board.following.start(
        asked,
        caller,
        surface="cli" if request.headers.get("x-pegboard-surface") == "cli" else "rest",
        request_id=request.state.request_id,
        key=idempotency_key,
        thread_id=thread,
        text=text,
        shape=shape,
    )
    return EventStream(
        counted, board.following.reading(feed), 0, headers={"X-Run-Id": feed.id, "X-Dialect": asked.dialect}
    )


@calls.post("/calls/normalize", operation_id="normalize_calls", openapi_extra=_BODY)
async def normalize_calls(request: Request, board: Board, caller: Who, reading: From = None) -> Any:
    """The calls of a payload in the board's own form; runs nothing."""
    raw = await payload_of(request)

    def normalise() -> tuple[str, str]:
        asked = board.payloads.read(raw, reading, caller)
        return json_text(board.payloads.normalised(asked, caller)), asked.dialect

    content, dialect = await board.payloads.large_reads.run(normalise, len(await request.body()), caller)
    return Response(content, media_type="application/json", headers={"X-Dialect": dialect})


async def payload_of(request: Request) -> Any:
    """The body as JSON, or as text where it says it is one; a key that is there twice is refused."""
    is_text = names_text(request.headers.get("content-type", ""))
    return await read_payload(request.app.state.bodies, await request.body(), is_text=is_text)


@calls.get("/dialects", operation_id="list_dialects")
async def list_dialects(board: Board, caller: Who) -> list[DialectResponse]:
    """The dialects this board speaks."""
    return [
        DialectResponse(name=name, aliases=list(dialect.aliases), abilities=list(dialect.abilities))
        for name, dialect in board.dialects.items()
    ]


@journal.get("", operation_id="list_executions")
@allow(not_agents)
async def list_executions(
    board: Board,
    caller: Who,
    tool: Annotated[str | None, Query(description="A tool's name or id")] = None,
    user_id: CallerId = None,
    status: Literal["succeeded", "failed", "refused", "in_doubt"] | None = None,
    code: str | None = None,
    since: Annotated[Moment | None, Query(description="Started at or after")] = None,
    until: Annotated[Moment | None, Query(description="Started before")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ExecutionPage:
    """The journal, newest first: one's own calls, or everybody's for an admin."""
    wanted = ExecutionFilter(whose(caller, user_id), tool, status, code, since, until)
    return ExecutionPage.model_validate(await board.executions(wanted, caller=caller, cursor=cursor, limit=limit))


@journal.get("/{execution_id}", operation_id="get_execution")
@allow(not_agents)
async def get_execution(execution_id: str, board: Board, caller: Who) -> ExecutionResponse:
    """One row of the journal."""
    return ExecutionResponse.model_validate(await board.execution(execution_id, caller=caller))


@state.get("/healthz", operation_id="healthz")
async def healthz() -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "ok"}


@state.get("/readyz", operation_id="readyz")
async def readyz(board: Board, response: Response) -> dict[str, Any]:
    """Whether calls can be served: the database, the journal and the limits; if not, `reasons` tell why."""
    reasons = await board.ready()
    response.status_code = 503 if reasons else 200
    return {"status": "unavailable", "reasons": reasons} if reasons else {"status": "ready"}


@state.get("/metrics", operation_id="metrics", response_class=PlainTextResponse)
async def metrics(board: Board) -> PlainTextResponse:
    """Prometheus metrics."""
    return PlainTextResponse(board.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
