"""The route that runs a recorded call again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.base_model import Model
from pegboard.model.json_text import json_text
from pegboard.model.tool_definition import JsonObject
from pegboard.runs.replay import Replay
from pegboard.surfaces.rest.asgi_request import run_unless_disconnected
from pegboard.surfaces.rest.bodies import ExecutionResponse, PlainResult, ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow, read_call_request, refuse_agent_keys

router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)


class ReplayBody(Model):
    """The tool to run a recorded call with; by default its own tool in the current version."""

    tool: str | None = Field(None, description="Another tool, by name or id, such as a mock")
    version: int | None = Field(None, description="An earlier version of its own tool; for the tool's owner and admins")
    arguments: JsonObject | None = Field(None, description="Other arguments than the recorded ones")
    confirm: bool = Field(False, description="Run it even if that may repeat its effects")


class DifferenceBody(ResponseBody):
    """One difference between the recorded and the new result."""

    path: str
    change: Literal["changed", "added", "removed"]
    before: Any = None
    after: Any = None


class ReplayResponse(ResponseBody):
    """A recorded call, and its result when it was run again."""

    execution: ExecutionResponse = Field(description="The call as it was recorded")
    result: PlainResult = Field(description="The new result")
    repeated_by: str = Field(description="The id of the new row in the journal")
    tool_name: str = Field(description="The tool that it was run with")
    tool_version: int = Field(description="The version of that tool")
    same: bool | None = Field(description="Whether the results are equal; null if they could not be compared")
    differences: list[DifferenceBody] = Field(description="At most 100; long values are truncated")
    more: bool = Field(description="Whether there are more differences")
    note: str | None = Field(description="Why the results could not be compared")
    arguments_changed: bool | None = Field(
        description="Whether it ran with other arguments than the recorded ones; null if those were not kept"
    )


@router.post("/{execution_id}/replay", operation_id="replay_execution", response_model=ReplayResponse)
@allow(refuse_agent_keys)
async def replay_execution(
    execution_id: str,
    request: Request,
    board: Board,
    caller: CurrentCaller,
    body: Annotated[ReplayBody, Body()] = ReplayBody(),
) -> Response:
    """Run a recorded call again, as an ordinary call of the caller, and report what differs."""
    execution = await board.execution(execution_id, caller=caller)
    running = board.replays.run(
        execution,
        read_call_request(request, caller),
        tool=body.tool,
        version=body.version,
        careful=not body.confirm,
        arguments=body.arguments,
    )
    replay = await run_unless_disconnected(request.receive, running)
    if replay is None:
        return Response(status_code=400)  # the client has disconnected
    headers = {"X-Execution-Id": replay.result.run_id}
    status = 200
    if replay.result.is_unavailable:
        status = 503
        headers["Retry-After"] = "1"
    return Response(encode_replay(replay, board.dialects["plain"]), status, headers, "application/json")


def encode_replay(replay: Replay, plain: Dialect) -> bytes:
    """Return the response as JSON; arguments and results are inserted as JSON text, so their depth is not limited."""
    execution = replay.execution
    bare = ExecutionResponse.model_validate(execution._replace(arguments=None, result=None))
    row = bare.model_dump(mode="json") | {
        "arguments": orjson.Fragment(json_text(execution.arguments)),
        "result": orjson.Fragment(json_text(execution.result)),
    }
    answer = Answer(AskedCall(replay.result.tool_name, None), replay.result)
    return orjson.dumps(
        {
            "execution": row,
            "result": orjson.Fragment(plain.render_json(answer)),
            "repeated_by": replay.result.run_id,
            "tool_name": replay.tool.name,
            "tool_version": replay.tool.version,
            "same": replay.same,
            "differences": [asdict(difference) for difference in replay.differences],
            "more": replay.more,
            "note": replay.note,
            "arguments_changed": replay.arguments_changed,
        }
    )
