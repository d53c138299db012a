"""Routes of calls in any dialect, of the journal, and of the server's own state."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Query, Request, Response
from fastapi.responses import PlainTextResponse

from pegboard.core.call import ToolCall, ToolResult
from pegboard.core.errors import MalformedArguments
from pegboard.core.keys import check_key, keys_of
from pegboard.core.refusals import Invalid
from pegboard.dialects.catalog import dialect_named
from pegboard.registry.arguments import parse_json
from pegboard.store.executions import ExecutionFilter
from pegboard.surfaces.rest.deps import Board, Cursor, Limit, Who
from pegboard.surfaces.rest.edge import unless_gone
from pegboard.surfaces.rest.fields import Moment
from pegboard.surfaces.rest.models import DialectResponse, ExecutionPage, ExecutionResponse
from pegboard.surfaces.rest.problems import UNAVAILABLE
from pegboard.surfaces.rest.statistics import CallerId, whose

calls = APIRouter(prefix="/v1", tags=["calls"])
journal = APIRouter(prefix="/v1/executions", tags=["journal"])
state = APIRouter(tags=["server"])

MAX_CALLS = 100
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}}


@calls.post("/calls", operation_id="run_calls", openapi_extra=_BODY)
async def run_calls(
    request: Request,
    response: Response,
    board: Board,
    caller: Who,
    reading: Annotated[str, Query(alias="from", description="The dialect of the body")] = "plain",
    shape: Annotated[
        str | None, Query(alias="as", description="The dialect of the answer; the body's if absent")
    ] = None,
    idempotency_key: Annotated[
        str | None,
        Header(description="Makes each call run once: the same key again within a day gets the first answers"),
    ] = None,
) -> Any:
    """Run one call or many; answers come in the same dialect and order."""
    try:
        payload = parse_json(await request.body())
    except MalformedArguments as error:
        raise HTTPException(400, error.message) from None
    asked = dialect_named(board.dialects, reading, "from").parse(payload)
    answering = dialect_named(board.dialects, shape or reading, "as")
    if len(asked.calls) > MAX_CALLS:
        raise Invalid(f"{len(asked.calls)} calls in one request, at most {MAX_CALLS} are accepted")
    request_id = request.state.request_id
    if len(request.headers.getlist("idempotency-key")) > 1:
        idempotency_key = ""  # which of them counts could be read differently by a proxy in front of us
    keys = keys_of(check_key(idempotency_key), len(asked.calls))

    async def all_of_them() -> list[ToolResult]:
        wanted = (
            ToolCall(call.name, call.arguments, call.id, "rest", reading, request_id, None, key)
            for call, key in zip(asked.calls, keys, strict=True)
        )
        return await asyncio.gather(*(board.pipeline.run(call, caller) for call in wanted))

    # Calls with a key go on without their caller, who may ask again for what came of them.
    calling = all_of_them()
    results = await (calling if idempotency_key else unless_gone(request.receive, calling))
    if results is None:
        return None
    if any(result.repeat_of for result in results):
        response.headers["Idempotent-Replayed"] = "true"
    if results and all(result.problem is not None and result.problem.code in UNAVAILABLE for result in results):
        response.status_code = 503
        response.headers["Retry-After"] = "1"
    return answering.render_all(results, asked.many)


@calls.get("/dialects", operation_id="list_dialects")
async def list_dialects(board: Board, caller: Who) -> list[DialectResponse]:
    """The dialects this board speaks."""
    return [
        DialectResponse(name=name, aliases=[], abilities=list(dialect.abilities))
        for name, dialect in board.dialects.items()
    ]


@journal.get("", operation_id="list_executions")
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
async def get_execution(execution_id: str, board: Board, caller: Who) -> ExecutionResponse:
    """One row of the journal."""
    return ExecutionResponse.model_validate(await board.execution(execution_id, caller=caller))


@state.get("/healthz", operation_id="healthz")
async def healthz() -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "ok"}


@state.get("/readyz", operation_id="readyz")
async def readyz(board: Board, response: Response) -> dict[str, Any]:
    """Whether the database is reachable and its tables are up to date."""
    reasons = await board.ready()
    response.status_code = 503 if reasons else 200
    return {"status": "unavailable", "reasons": reasons} if reasons else {"status": "ready"}


@state.get("/metrics", operation_id="metrics", response_class=PlainTextResponse)
async def metrics(board: Board) -> PlainTextResponse:
    """Prometheus metrics."""
    return PlainTextResponse(board.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
