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
    """A problem because of which the tools of a table are disabled."""

    code: str
    message: str
    field: str | None = None


class TableResponse(ResponseBody):
    """A table of the file, and the status of its tools."""

    tool_id: str
    batch_tool_id: str | None = Field(None, description="The tool that inserts many rows, if the file declares one")
    display_name: str
    table: str
    table_schema: str | None = Field(None, serialization_alias="schema")
    source: str | None = None
    database: str = Field(description="The database of the table; a password is not shown")
    public: bool
    audit: bool
    status: Literal["ok", "disabled"]
    problems: list[TableProblem]


class TablesError(ResponseBody):
    """Why the current file is not in use."""

    message: str
    errors: list[FaultBody]


class TablesResponse(ResponseBody):
    """The file of tables that is in use."""

    file: str | None = Field(description="PEGBOARD_TABLES")
    loaded_at: datetime | None = Field(description="When the file in use was read")
    error: TablesError | None = Field(description="Why the file was not used when it was last read")
    items: list[TableResponse]


@router.get("", operation_id="list_tables")
@allow_admins("see the file of tables")
async def list_tables(board: Board, caller: CurrentCaller) -> TablesResponse:
    """The tables of the file, each checked in its database; admins only."""
    return await _describe_tables(board, reload=False)


@router.post("/reload", operation_id="reload_tables")
@allow_admins("reload the file of tables")
async def reload_tables(board: Board, caller: CurrentCaller) -> TablesResponse:
    """Reload the file; if it is invalid, the previous one stays in use. Admins only."""
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
