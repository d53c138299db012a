"""Routes that describe what this board has: its kinds of tools, and the error codes of calls."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from pegboard.model.error_codes import ERROR_CODES
from pegboard.model.tool_definition import JsonObject
from pegboard.surfaces.rest.bodies import ErrorType, ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute

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


@router.get("/kinds", operation_id="list_kinds")
async def list_kinds(board: Board, caller: CurrentCaller) -> KindList:
    """The kinds of tools: what they are for, the schema of their config, an example, and who may register them."""
    return KindList.model_validate({"items": board.kinds()})


@router.get("/codes", operation_id="list_codes")
async def list_codes(caller: CurrentCaller) -> CodeList:
    """The error codes of calls: type, meaning, and what to do."""
    return CodeList.model_validate({"items": ERROR_CODES})
