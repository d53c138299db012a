"""Routes that describe what this board has: kinds of tools, error codes of calls, and a search by name."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from pegboard.model.error_codes import ERROR_CODES
from pegboard.model.tool_definition import JsonObject
from pegboard.registry.tool_create import describe_definition
from pegboard.surfaces.rest.bodies import ErrorType, ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow, refuse_agent_keys

router = APIRouter(prefix="/v1", tags=["reference"], route_class=KeyRoute)


class KindResponse(ResponseBody):
    """One kind of tool."""

    name: str
    purpose: str = Field(description="What its tools do; empty for a kind of a package that does not describe it")
    config_schema: JsonObject = Field(description="JSON Schema of `config`")
    example: JsonObject | None = Field(description="A definition; its values are to be changed")
    derives_schema: bool = Field(description="Whether a definition may be without an `input_schema`")
    default_timeout: float = Field(description="Seconds that an attempt may take by default")
    registered_by: Literal["users", "admins"] | None = Field(
        description="Who may register such tools; null if that is not known before"
    )
    restriction: str | None = Field(description="What members may not register")


class KindList(ResponseBody):
    """All kinds of tools."""

    items: list[KindResponse]
    definition_schema: JsonObject = Field(description="JSON Schema of a definition, without that of `config`")


class CodeResponse(ResponseBody):
    """One error code of calls."""

    code: str
    type: ErrorType
    retryable: bool | None = Field(
        description="Whether the same call may succeed later; null if that depends on the case"
    )
    meaning: str
    remedy: str = Field(description="What to do")


class CodeList(ResponseBody):
    """All error codes of calls."""

    items: list[CodeResponse]


class FoundResponse(ResponseBody):
    """One thing that a search found."""

    type: Literal["tool", "agent", "user", "execution"]
    id: str
    name: str = Field(description="Its name; of an execution, the name of its tool")


class FoundList(ResponseBody):
    """What a search found, at most 20."""

    items: list[FoundResponse]


@router.get("/search", operation_id="search_board")
@allow(refuse_agent_keys)
async def search_board(
    board: Board,
    caller: CurrentCaller,
    q: Annotated[str, Query(min_length=1, max_length=255, description="Part of a name, or an id")],
) -> FoundList:
    """Tools, agents and users by a part of their name, and an execution by its id, of those the caller may see."""
    return FoundList.model_validate({"items": await board.search(q, caller=caller)})


@router.get("/kinds", operation_id="list_kinds")
async def list_kinds(board: Board, caller: CurrentCaller) -> KindList:
    """The kinds of tools: what they are for, the schema of their config, an example, and who may register them."""
    return KindList.model_validate({"items": board.kinds(), "definition_schema": describe_definition()})


@router.get("/codes", operation_id="list_codes")
async def list_codes(caller: CurrentCaller) -> CodeList:
    """The error codes of calls: type, meaning, and what to do."""
    return CodeList.model_validate({"items": ERROR_CODES})
