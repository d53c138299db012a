"""Routes to run, normalize and cancel calls in any dialect, to read the journal, and to check the server."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse

from pegboard.model.call import Surface
from pegboard.model.filters import ExecutionFilter
from pegboard.model.json_text import json_text
from pegboard.surfaces.rest.audit_routes import CallerId, resolve_caller_filter
from pegboard.surfaces.rest.bodies import (
    DialectResponse,
    ExecutionPage,
    ExecutionResponse,
    RunningCallList,
    SearchedExecutionPage,
)
from pegboard.surfaces.rest.event_stream import EVENT_STREAM_RESPONSE, EventReaders, EventStream, take_all
from pegboard.surfaces.rest.json_bodies import read_request_payload
from pegboard.surfaces.rest.routing import (
    Board,
    CurrentCaller,
    Cursor,
    KeyRoute,
    Limit,
    UtcTime,
    allow,
    read_call_request,
    refuse_agent_keys,
)

call_router = APIRouter(prefix="/v1", tags=["calls"], route_class=KeyRoute)
journal_router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)
server_router = APIRouter(tags=["server"])

# Text and streams are accepted too, with their own media types; client generators know only this one.
ANY_JSON_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}}
_CALL_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The results; or, if `Accept` asks for them, events that report the calls as they run",
        "headers": {"X-Run-Id": {"description": "The id of the stream", "schema": {"type": "string"}}},
        **EVENT_STREAM_RESPONSE,
    }
}
SourceDialectQuery = Annotated[
    str | None, Query(alias="from", description="The dialect of the body; detected by default")
]


@call_router.post("/calls", operation_id="run_calls", openapi_extra=ANY_JSON_BODY, responses=_CALL_RESPONSES)
async def run_calls(
    request: Request,
    board: Board,
    caller: CurrentCaller,
    reading: SourceDialectQuery = None,
    shape: Annotated[
        str | None, Query(alias="as", description="The dialect of the response; by default that of the body")
    ] = None,
    thread: Annotated[
        str | None, Query(description="The id of a conversation of the caller that the calls are added to")
    ] = None,
    idempotency_key: Annotated[
        str | None,
        Header(description="Makes each call run once: a repeat with this key within a day gets the recorded results"),
    ] = None,
) -> Any:
    """Run the calls of a payload in any dialect; the results have the same dialect and order.

    The body is one call, a list of them, a whole message or response of a model, its text, or the chunks of a stream.
    With `Accept: text/event-stream` events report the calls as they run: `tool_use`, `tool_progress`, `tool_result` in
    the order of the calls, and at the end `complete` or `error`. If no client reads
    them for more than two seconds, calls are cancelled whose tools have `on_disconnect: cancel`.
    `GET /v1/calls/{run}/events` continues a stream.
    """
    # Requests that do not accept events are handled by `FastCallRoutes`.
    payload = await board.calls.read(
        await read_request_payload(request),
        read_call_request(request, caller, thread),
        dialect=reading,
        shape=shape,
        size=len(await request.body()),
        with_text=True,
    )
    readers: EventReaders = request.app.state.readers
    counted = readers.of(caller)
    followed = board.calls.follow(payload)
    headers = {"X-Run-Id": followed.id, "X-Dialect": payload.asked.dialect}
    return EventStream(counted, board.following.reading(followed), 0, take=take_all, headers=headers)


@call_router.get("/calls", operation_id="list_calls")
async def list_calls(board: Board, caller: CurrentCaller, limit: Limit = 50) -> RunningCallList:
    """The calls that run now, oldest first: the caller's own, or all calls for an admin.

    These are the calls of the server process that answers; a server with several workers answers from one of them.
    """
    return RunningCallList.model_validate(board.running_calls(caller=caller, limit=limit))


@call_router.post("/calls/normalize", operation_id="normalize_calls", openapi_extra=ANY_JSON_BODY)
async def normalize_calls(
    request: Request,
    board: Board,
    caller: CurrentCaller,
    reading: SourceDialectQuery = None,
    check: Annotated[
        bool, Query(description="Also report why a call would be refused: its tool or its arguments")
    ] = False,
) -> Any:
    """The calls of a payload in the board's own format; runs nothing.

    With `check`, a call that would be refused has `problem: {message, type, code, problems?}`.
    """
    raw = await read_request_payload(request)

    def normalise() -> tuple[str, str]:
        asked = board.payloads.read(raw, reading, caller)
        return json_text(board.payloads.normalize_calls(asked, caller, check=check)), asked.dialect

    content, dialect = await board.payloads.large_reads.run(normalise, len(await request.body()), caller)
    return Response(content, media_type="application/json", headers={"X-Dialect": dialect})


@call_router.get("/dialects", operation_id="list_dialects")
async def list_dialects(board: Board, caller: CurrentCaller) -> list[DialectResponse]:
    """The dialects that this board supports."""
    return [
        DialectResponse(name=name, aliases=list(dialect.aliases), abilities=list(dialect.abilities))
        for name, dialect in board.dialects.items()
    ]


@journal_router.get("", operation_id="list_executions")
@allow(refuse_agent_keys)
async def list_executions(
    board: Board,
    caller: CurrentCaller,
    tool: Annotated[str | None, Query(description="A tool's name or id")] = None,
    user_id: CallerId = None,
    status: Literal["succeeded", "failed", "refused", "in_doubt"] | None = None,
    code: str | None = None,
    since: Annotated[UtcTime | None, Query(description="Started at or after")] = None,
    until: Annotated[UtcTime | None, Query(description="Started before")] = None,
    agent: Annotated[str | None, Query(description="The id of the agent that called")] = None,
    kind: Annotated[str | None, Query(description="The kind of the tool")] = None,
    surface: Surface | None = None,
    dialect: Annotated[str | None, Query(description="The dialect of the call, or another name of it")] = None,
    thread: Annotated[str | None, Query(description="The id of a conversation")] = None,
    chain: Annotated[str | None, Query(description="The id of the run of a chain")] = None,
    request_id: Annotated[str | None, Query(description="The X-Request-Id of the call")] = None,
    min_ms: Annotated[float | None, Query(ge=0, allow_inf_nan=False, description="Took at least this long")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ExecutionPage | SearchedExecutionPage:
    """The journal, newest first: the caller's own calls, or all calls for an admin.

    A request that filters by `agent`, `kind`, `surface`, `dialect`, `thread`, `chain`, `request_id` or `min_ms` reads
    10,000 rows at most. If there are more, the answer has `searched_to`, and `next_cursor` continues the search.
    """
    wanted = ExecutionFilter(
        resolve_caller_filter(caller, user_id),
        tool,
        status,
        code,
        since,
        until,
        agent_id=_lower_id(agent),
        kind=kind,
        surface=surface,
        dialect=None if dialect is None else board.dialects.named(dialect, "dialect").name,
        thread_id=_lower_id(thread),
        chain_id=_lower_id(chain),
        request_id=request_id,
        min_ms=min_ms,
    )
    page = await board.executions(wanted, caller=caller, cursor=cursor, limit=limit)
    return (SearchedExecutionPage if wanted.is_search else ExecutionPage).model_validate(page)


def _lower_id(text: str | None) -> str | None:
    return None if text is None else text.lower()


@journal_router.get("/{execution_id}", operation_id="get_execution")
@allow(refuse_agent_keys)
async def get_execution(execution_id: str, board: Board, caller: CurrentCaller) -> ExecutionResponse:
    """One row of the journal."""
    return ExecutionResponse.model_validate(await board.execution(execution_id, caller=caller))


@server_router.get("/healthz", operation_id="healthz")
async def healthz() -> dict[str, str]:
    """Whether the process responds."""
    return {"status": "ok"}


@server_router.get("/readyz", operation_id="readyz")
async def readyz(board: Board, response: Response) -> dict[str, Any]:
    """Whether calls can be served; if not, `reasons` lists why: the database, the journal or the rate limits."""
    reasons = await board.ready()
    response.status_code = 503 if reasons else 200
    return {"status": "unavailable", "reasons": reasons} if reasons else {"status": "ready"}


@server_router.get("/metrics", operation_id="metrics", response_class=PlainTextResponse)
async def metrics(board: Board) -> PlainTextResponse:
    """Prometheus metrics."""
    return PlainTextResponse(board.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


cancel_router = APIRouter(prefix="/v1/calls", tags=["calls"], route_class=KeyRoute)

RunId = Annotated[str, Path(description="The id of a call, or that of a whole stream (its X-Run-Id)")]


@cancel_router.delete("/{run}", operation_id="cancel_call", status_code=204)
async def cancel_call(run: RunId, board: Board, caller: CurrentCaller) -> None:
    """Cancel a running call, or all calls of a stream: their results and journal rows have the error `cancelled`.

    For the caller's own calls; admins may cancel all calls. The response is sent when they have ended. The status is
    404 if no call runs under this id, and 409 if it has ended already.
    """
    await board.cancelling.cancel(run, caller)
