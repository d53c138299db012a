"""The route that runs a chain or registers it as a tool."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from pydantic import Field, model_validator

from pegboard.model.chain import Chain
from pegboard.model.tool_definition import JsonObject, ToolResponse
from pegboard.registry.build_tool import build_tool_response
from pegboard.surfaces.rest.asgi_request import run_unless_disconnected
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, read_call_request

router = APIRouter(prefix="/v1/chains", tags=["calls"], route_class=KeyRoute)

_TOOL_FIELDS = ("name", "description", "input_schema", "output_schema", "is_public", "tags", "read_only")


class ChainBody(Chain):
    """A chain to run, with its input; or, with `save`, a chain to save as a tool.

    Without `save`, the input is checked against `input_schema` if there is one; the tool's other fields are ignored.
    """

    input: JsonObject = Field({}, description="The value that {{input.…}} refers to")
    save: bool = Field(False, description="Save it as a tool of this name instead of running it")
    name: str | None = Field(None, description="With save: the tool's name")
    description: str | None = Field(None, description="With save: what the tool does, for the model")
    input_schema: JsonObject = Field({"type": "object"}, description="The schema of its input")
    output_schema: JsonObject | None = Field(None, description="With save: the schema of its output")
    is_public: bool = Field(False, description="With save: whether others may call it")
    tags: list[str] = Field([], max_length=64, description="With save: for filtering lists")
    read_only: bool = Field(False, description="With save: running it changes nothing")

    @model_validator(mode="after")
    def _check_name(self) -> ChainBody:
        if self.save and not self.name:
            raise ValueError("save needs a name")
        return self


class StepResponse(ResponseBody):
    """The result of a step."""

    id: str
    tool: str
    status: str = Field(description="succeeded, failed, fallback, skipped or not_run")
    output: Any = Field(None, description="Its output; a list if it has a for_each")
    error: str | None = None
    code: str | None = None
    run_ids: list[str] = Field(description="The ids of its calls in the journal")
    execution_time_ms: float


class ChainResponse(ResponseBody):
    """The result of a chain and of each of its steps."""

    chain_id: str = Field(description="The chain_id of its calls in the journal")
    success: bool
    output: Any = None
    error: str | None = None
    code: str | None = None
    steps: list[StepResponse]
    execution_time_ms: float


@router.post(
    "",
    operation_id="run_chain",
    response_model=ChainResponse,
    responses={201: {"model": ToolResponse, "description": "Saved as a tool"}},
)
async def run_chain(
    body: ChainBody,
    request: Request,
    board: Board,
    caller: CurrentCaller,
    idempotency_key: Annotated[str | None, Header(description="Makes each of its calls run only once")] = None,
) -> Response:
    """Run a chain, each step as an ordinary call and independent steps side by side; or save it as a tool."""
    if body.save:
        fields = {name: getattr(body, name) for name in _TOOL_FIELDS}
        tool = await board.add(board.chains.define_tool(body, fields), caller=caller)
        return Response(build_tool_response(tool, caller).model_dump_json(), 201, media_type="application/json")
    outcome = await board.calls.run_chain(
        body,
        body.input,
        read_call_request(request, caller),
        functools.partial(run_unless_disconnected, request.receive),
        schema=body.input_schema if "input_schema" in body.model_fields_set else None,
        size=len(await request.body()),
    )
    if outcome is None:
        return Response(status_code=400)  # the client has disconnected
    return Response(outcome.json(), media_type="application/json")
