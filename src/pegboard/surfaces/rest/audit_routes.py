"""Routes for admins to verify, export and prune the journal, and the statistics route."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field, ValidationError, model_validator

from pegboard.board import Pegboard
from pegboard.journal.export import MAX_ROWS_PER_PAGE, ExportPosition
from pegboard.journal.prune import MAX_ROWS_PER_TURN as ROWS_A_PRUNE
from pegboard.journal.statistics import Period, StatisticsSeries
from pegboard.journal.tamper_report import TamperKind
from pegboard.journal.verify import MAX_ROWS_PER_TURN, Position, Scope
from pegboard.journal.verify_export import LinesPosition
from pegboard.model.api_errors import Fault, Forbidden, Invalid
from pegboard.model.base_model import Model
from pegboard.model.call import Caller
from pegboard.model.json_text import is_uuid
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.routing import (
    Board,
    CurrentCaller,
    KeyRoute,
    UtcTime,
    allow,
    allow_admins,
    refuse_agent_keys,
)

_NEXT_DESCRIPTION = "`next` of the previous response; absent in the first request"


class VerifyBody(Model):
    """The part of the journal to verify: all of it, the rows of one writer, or the calls that finished in a period."""

    writer: int | None = Field(None, ge=1, le=2**31 - 1, description="Only this writer's chain")
    first: int | None = Field(None, ge=1, le=2**63 - 1, description="From this row of the writer on")
    last: int | None = Field(None, ge=1, le=2**63 - 1, description="Up to this row of the writer")
    since: UtcTime | None = Field(None, description="Finished at or after")
    until: UtcTime | None = Field(None, description="Finished before")
    limit: int = Field(MAX_ROWS_PER_TURN, ge=1, le=MAX_ROWS_PER_TURN, description="Maximum number of rows")
    next: Position | None = Field(None, description=_NEXT_DESCRIPTION)

    @model_validator(mode="after")
    def _check_single_writer(self) -> VerifyBody:
        if self.writer is None and (self.first is not None or self.last is not None):
            raise ValueError("`first` and `last` are rows of one writer: give its number as `writer`")
        return self

    @property
    def scope(self) -> Scope:
        """The part of the journal to verify."""
        return Scope(writer=self.writer, first=self.first, last=self.last, since=self.since, until=self.until)


class FindingBody(ResponseBody):
    """One violation of the integrity of the journal."""

    kind: TamperKind
    message: str
    writer: int | None
    first: int | None = Field(description="The first row concerned, by its number in the writer's chain")
    last: int | None = Field(description="The last row concerned")
    execution_id: str | None


class _Checked(ResponseBody):
    checked: int = Field(description="The number of rows that this request checked")
    findings: list[FindingBody]
    notes: list[str] = Field(description="What could not be verified, and why")


class VerifyResponse(_Checked):
    """The result of verifying some rows."""

    next: Position | None = Field(description="`next` of the following request; null at the end")
    total: int | None = Field(description="The approximate number of all rows, in the first response")


class VerifyExportBody(Model):
    """Some lines of an export."""

    lines: list[str] = Field(max_length=100_000)
    last: bool = Field(True, description="Whether these are the last lines")
    compare: bool = Field(False, description="Also check that the board still has these rows")
    next: LinesPosition | None = Field(None, description=_NEXT_DESCRIPTION)


class VerifyExportResponse(_Checked):
    """The result of verifying some lines."""

    next: LinesPosition | None = Field(description="`next` of the following request; null at the end")


class PruneBody(Model):
    """The rows to remove from the journal."""

    before: UtcTime = Field(description="Remove calls that finished before; not in the future")
    limit: int = Field(ROWS_A_PRUNE, ge=1, le=100_000, description="Maximum number of rows")
    dry_run: bool = Field(False, description="Only return the number of all rows to remove")
    force: bool = Field(False, description="Remove rows that were tampered with too")


class PruneResponse(ResponseBody):
    """The number of rows that were removed, or that a dry run would remove."""

    removed: int
    more: bool = Field(description="Whether there are more rows to remove: send the request again")


NEXT_CURSOR_HEADER = "X-Next-Cursor"

audit_router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)


class JsonLinesResponse(Response):
    """A response in JSON Lines."""

    media_type = "application/x-ndjson"


@audit_router.post("/verify", operation_id="verify_executions")
@allow_admins("verify the journal")
async def verify_executions(body: VerifyBody, board: Board, caller: CurrentCaller) -> VerifyResponse:
    """Verify the journal against its hash chain, some rows per request; admins only."""
    report = await board.audit.verify(body.scope, next=body.next, limit=body.limit, by=caller.name)
    return VerifyResponse.model_validate(report)


@audit_router.post("/verify-export", operation_id="verify_export")
@allow_admins("verify an export of the journal")
async def verify_export(body: VerifyExportBody, board: Board, caller: CurrentCaller) -> VerifyExportResponse:
    """Verify an export of the journal, some lines per request; admins only."""
    report = await board.audit.verify_lines(body.lines, next=body.next, last=body.last, compare=body.compare)
    return VerifyExportResponse.model_validate(report)


@audit_router.get(
    "/export",
    operation_id="export_executions",
    response_class=Response,
    responses={
        200: {
            # Not as `content`: client generators reject media types that they do not know.
            "description": f"Some lines of the export, {JsonLinesResponse.media_type}",
            "headers": {
                NEXT_CURSOR_HEADER: {
                    "description": "`cursor` of the next request; absent in the last response",
                    "schema": {"type": "string"},
                }
            },
        }
    },
)
@allow_admins("export the journal")
async def export_executions(
    board: Board,
    caller: CurrentCaller,
    since: Annotated[UtcTime | None, Query(description="Finished at or after")] = None,
    until: Annotated[UtcTime | None, Query(description="Finished before")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS_PER_PAGE, description="Maximum number of rows")] = MAX_ROWS_PER_PAGE,
    cursor: Annotated[str | None, Query(description=f"{NEXT_CURSOR_HEADER} of the previous response")] = None,
) -> Response:
    """The journal with its hash chain as JSON Lines, some rows per request; admins only."""
    page = await board.audit.export(since=since, until=until, next=_decode_position(cursor), limit=limit)
    headers = {} if page.next is None else {NEXT_CURSOR_HEADER: _encode_position(page.next)}
    return JsonLinesResponse("".join(f"{line}\n" for line in page.lines), headers=headers)


@audit_router.post("/prune", operation_id="prune_executions")
@allow_admins("prune the journal")
async def prune_executions(body: PruneBody, board: Board, caller: CurrentCaller) -> PruneResponse:
    """Remove the oldest rows of the journal, some per request, so that the rest still verifies; admins only."""
    done = await board.audit.prune(
        body.before, limit=body.limit, dry_run=body.dry_run, force=body.force, by=caller.name
    )
    return PruneResponse.model_validate(done)


def _encode_position(position: ExportPosition) -> str:
    text = position.model_dump_json(exclude_defaults=True)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode_position(cursor: str | None) -> ExportPosition | None:
    if cursor is None:
        return None
    try:
        return ExportPosition.model_validate_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, ValidationError):
        fault = Fault("cursor", "not a cursor of an export")
        raise Invalid(
            f"Invalid cursor. Pass {NEXT_CURSOR_HEADER} from the previous answer unchanged.", [fault]
        ) from None


statistics_router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)

CallerId = Annotated[str | None, Query(alias="caller", description="A user's id; only admins may give another's")]
_LATENCY_DESCRIPTION = "of the calls that ran, in milliseconds and to within 3 per cent; null if none ran"


class ToolStatisticsResponse(ResponseBody):
    """Statistics of the calls of one tool."""

    tool_name: str | None = Field(description="null for calls of tools that did not exist")
    calls: int
    succeeded: int
    failed: int
    refused: int
    in_doubt: int
    errors: dict[str, int] = Field(description="The number of calls by error code, most frequent first")
    p50_ms: float | None = Field(description=f"The median {_LATENCY_DESCRIPTION}")
    p95_ms: float | None = Field(description=f"The 95th percentile {_LATENCY_DESCRIPTION}")
    p99_ms: float | None = Field(description=f"The 99th percentile {_LATENCY_DESCRIPTION}")
    max_ms: float | None = Field(description=f"The longest {_LATENCY_DESCRIPTION}")


class StatisticsResponse(ResponseBody):
    """Statistics of each tool that was called, most called first."""

    since: datetime = Field(description="The beginning of the first hour in the statistics")
    until: datetime = Field(description="The end of the last hour")
    tools: list[ToolStatisticsResponse]


class PeriodStatisticsResponse(ResponseBody):
    """Statistics of the calls of one hour or day."""

    start: datetime
    calls: int
    succeeded: int
    failed: int
    refused: int
    in_doubt: int
    p50_ms: float | None = Field(description=f"The median {_LATENCY_DESCRIPTION}")
    p95_ms: float | None = Field(description=f"The 95th percentile {_LATENCY_DESCRIPTION}")


class SeriesStatisticsResponse(StatisticsResponse):
    """Statistics of each tool, and of each hour or day."""

    by: Period
    series: list[PeriodStatisticsResponse] = Field(
        description="Every hour or day of the time span; of the first and the last day only the hours in it"
    )


class LatencyCountResponse(ResponseBody):
    """How many calls took how long."""

    from_ms: float
    below_ms: float | None = Field(description="null for the longest")
    calls: int


class LatencyStatisticsResponse(StatisticsResponse):
    """Statistics of each tool, and how long the calls took."""

    latencies: list[LatencyCountResponse] = Field(
        description="The calls that ran, by duration; each limit is about 6 per cent above the one before"
    )


class ToolSeries(ResponseBody):
    """The calls of one tool in each hour or day, one after the other."""

    tool_name: str
    calls: list[int]
    succeeded: list[int]
    p95_ms: list[float | None]


class CompactStatisticsResponse(ResponseBody):
    """The calls of some tools in each hour or day."""

    since: datetime
    until: datetime
    by: Period
    starts: list[datetime] = Field(description="When each hour or day begins")
    tools: list[ToolSeries] = Field(description="In the order of the request")


@statistics_router.get("/statistics", operation_id="get_statistics")
@allow(refuse_agent_keys)
async def get_statistics(
    board: Board,
    caller: CurrentCaller,
    tool: Annotated[
        list[str] | None, Query(max_length=200, description="A tool's name or id; with `compact` several")
    ] = None,
    user_id: CallerId = None,
    since: Annotated[UtcTime | None, Query(description="From this hour on; by default a day before `until`")] = None,
    until: Annotated[UtcTime | None, Query(description="Up to the end of this hour; by default now")] = None,
    by: Annotated[Period | None, Query(description="Also each hour or day in the time span")] = None,
    compact: Annotated[bool, Query(description="Only each hour or day of the tools, as arrays")] = False,
    latencies: Annotated[bool, Query(description="Also how many calls took how long; without `by`")] = False,
) -> StatisticsResponse | SeriesStatisticsResponse | LatencyStatisticsResponse | CompactStatisticsResponse:
    """Calls, errors and latencies by tool, in whole hours: of the caller's own calls, or of all calls for an admin."""
    if latencies and (by is not None or compact):
        fault = Fault("latencies", "is not possible with by and compact")
        raise Invalid.of("The request is not valid", [fault])
    names = [_find_tool_name(board, each) for each in dict.fromkeys(tool or ())]
    caller_id = resolve_caller_filter(caller, user_id)
    if compact:
        if not names:
            raise Invalid.of("The request is not valid", [Fault("tool", "compact=true needs 1 to 200 of it")])
        found = await board.statistics.read_series_of_tools(
            since, until, by=by or "hour", tool_names=dict.fromkeys(names), caller_id=caller_id
        )
        return _build_compact_response(found)
    if len(names) > 1:
        raise Invalid.of("The request is not valid", [Fault("tool", "several tools need compact=true")])
    name = names[0] if names else None
    report = await board.statistics.read(since, until, tool_name=name, caller_id=caller_id, latencies=latencies)
    if latencies:
        return LatencyStatisticsResponse.model_validate(report)
    totals = StatisticsResponse.model_validate(report)
    if by is None:
        return totals
    series = await board.statistics.read_series(since, until, by=by, tool_name=name, caller_id=caller_id)
    return SeriesStatisticsResponse.model_validate({**dict(totals), "by": by, "series": series})


def _find_tool_name(board: Pegboard, ref: str) -> str:
    named = board.snapshot.find(ref)
    return named.tool.name if named is not None else ref


def _build_compact_response(found: StatisticsSeries) -> CompactStatisticsResponse:
    return CompactStatisticsResponse.model_construct(
        since=found.since,
        until=found.until,
        by=found.by,
        starts=[each.start for each in next(iter(found.tools.values()))],
        tools=[
            ToolSeries.model_construct(
                tool_name=name,
                calls=[each.calls for each in periods],
                succeeded=[each.succeeded for each in periods],
                p95_ms=[each.p95_ms for each in periods],
            )
            for name, periods in found.tools.items()
        ],
    )


def resolve_caller_filter(caller: Caller, user_id: str | None) -> str | None:
    """Return the user id to filter by, None for all; raise Forbidden if a member requests another user's calls."""
    if user_id is not None and is_uuid(user_id):
        user_id = user_id.lower()
    if caller.is_admin:
        return user_id
    if user_id not in (None, caller.user_id):
        raise Forbidden("Only admins can read the calls of others")
    return caller.user_id
