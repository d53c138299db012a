"""The route of the statistics, and whose calls a caller may read."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from pegboard.core.call import Caller
from pegboard.core.refusals import Forbidden
from pegboard.store.types import is_uuid
from pegboard.surfaces.rest.deps import Board, Who
from pegboard.surfaces.rest.fields import Moment
from pegboard.surfaces.rest.models import Shown
from pegboard.surfaces.rest.routing import KeyRoute, allow, not_agents

router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)

CallerId = Annotated[str | None, Query(alias="caller", description="A user's id; another than one's own is for admins")]
_OF_RUNS = "of the calls that ran, in milliseconds and to within 3 per cent; null if none did"


class ToolStatisticsResponse(Shown):
    """How the calls of one tool ended."""

    tool_name: str | None = Field(description="null for calls of tools that there were not")
    calls: int
    succeeded: int
    failed: int
    refused: int
    in_doubt: int
    errors: dict[str, int] = Field(description="How often each code, the most frequent first")
    p50_ms: float | None = Field(description=f"The median {_OF_RUNS}")
    p95_ms: float | None = Field(description=f"The 95th percentile {_OF_RUNS}")
    p99_ms: float | None = Field(description=f"The 99th percentile {_OF_RUNS}")
    max_ms: float | None = Field(description=f"The longest {_OF_RUNS}")


class StatisticsResponse(Shown):
    """How each tool that was called did, the most called first."""

    since: datetime = Field(description="The beginning of the first hour told of")
    until: datetime = Field(description="The end of the last one")
    tools: list[ToolStatisticsResponse]


@router.get("/statistics", operation_id="get_statistics")
@allow(not_agents)
async def get_statistics(
    board: Board,
    caller: Who,
    tool: Annotated[str | None, Query(description="A tool's name or id")] = None,
    user_id: CallerId = None,
    since: Annotated[Moment | None, Query(description="From this hour on; a day before `until` if absent")] = None,
    until: Annotated[Moment | None, Query(description="Up to the end of this hour; now if absent")] = None,
) -> StatisticsResponse:
    """Calls, errors and latencies by tool in whole hours: of one's own calls, or everybody's for an admin."""
    named = board.snapshot.find(tool) if tool is not None else None
    report = await board.statistics.read(
        since, until, tool_name=named.tool.name if named is not None else tool, caller_id=whose(caller, user_id)
    )
    return StatisticsResponse.model_validate(report)


def whose(caller: Caller, user_id: str | None) -> str | None:
    """The id of the user whose calls are meant, None for everybody's; raises Forbidden for others than one's own."""
    if user_id is not None and is_uuid(user_id):
        user_id = user_id.lower()
    if caller.is_admin:
        return user_id
    if user_id not in (None, caller.user_id):
        raise Forbidden("Only admins can read the calls of others")
    return caller.user_id
