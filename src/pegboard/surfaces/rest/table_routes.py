"""Routes for admins to show and reload the tables file."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from pegboard.board import Pegboard
from pegboard.surfaces.rest.bodies import FaultBody, ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow_admins

router = APIRouter(prefix="/v1/tables", tags=["tables"], route_class=KeyRoute)


class TableProblem(ResponseBody):
    """Something that keeps a table's tools from serving."""

    code: str
    message: str
    field: str | None = None


class TableResponse(ResponseBody):
    """A table of the file, and how its tools are."""

    tool_id: str
    batch_tool_id: str | None = Field(None, description="The tool that takes many rows, where the file asks for one")
    display_name: str
    table: str
    table_schema: str | None = Field(None, serialization_alias="schema")
    source: str | None = None
    database: str = Field(description="Where the table is; a password is not shown")
    public: bool
    audit: bool
    status: Literal["ok", "disabled"]
    problems: list[TableProblem]


class TablesError(ResponseBody):
    """Why the file as it is now is not in force."""

    message: str
    errors: list[FaultBody]


class TablesResponse(ResponseBody):
    """The file of tables that is in force."""

    file: str | None = Field(description="PEGBOARD_TABLES")
    loaded_at: datetime | None = Field(description="When what is in force was read")
    error: TablesError | None = Field(description="Why the file was not put in force when it was last read")
    items: list[TableResponse]


@router.get("", operation_id="list_tables")
@allow_admins("see the file of tables")
async def list_tables(board: Board, caller: CurrentCaller) -> TablesResponse:
    """The file's tables, each looked up in its database; admins only."""
    return await _describe_tables(board, reload=False)


@router.post("/reload", operation_id="reload_tables")
@allow_admins("have the file of tables read again")
async def reload_tables(board: Board, caller: CurrentCaller) -> TablesResponse:
    """Put the file as it is now in force; if it is broken, what was in force stays. Admins only."""
    return await _describe_tables(board, reload=True)


async def _describe_tables(board: Pegboard, *, reload: bool) -> TablesResponse:
    status = await (board.tables.reload() if reload else board.tables.status())
    error = status.error
    faults = [FaultBody.model_validate(fault) for fault in error.faults] if error is not None else []
    return TablesResponse(
        file=None if status.file is None else str(status.file),
        loaded_at=status.loaded_at,
        error=None if error is None else TablesError(message=error.message, errors=faults),
        items=[
            TableResponse(
                tool_id=item.entry.toolId,
                batch_tool_id=item.batch_tool_id,
                display_name=item.entry.displayName,
                table=item.entry.tableName,
                table_schema=item.entry.schema_,
                source=item.entry.source,
                database=item.database,
                public=item.entry.public,
                audit=item.entry.audit,
                status="disabled" if item.problems else "ok",
                problems=[TableProblem.model_validate(problem, from_attributes=True) for problem in item.problems],
            )
            for item in status.items
        ],
    )
