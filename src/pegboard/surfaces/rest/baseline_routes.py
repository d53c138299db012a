"""Routes that record, resolve, list and remove findings of the baseline; queries are tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from pegboard.baseline.baseline_tools import RECORD_FINDINGS, RESOLVE_FINDINGS
from pegboard.baseline.read_findings import MAX_RECORDED_FINDINGS
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.baseline_finding import KnownStatus, Scope, read_hash
from pegboard.model.page import cut_page, read_cursor
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.json_bodies import read_document
from pegboard.surfaces.rest.routing import Board, CurrentCaller, Cursor, KeyRoute, Limit, allow, refuse_agent_keys

# The routes with the body limit MAX_BODY_BYTES.
LARGE_BODY_PATHS = ("/v1/baseline/findings", "/v1/baseline/resolve")
# Large enough for the maximum number of findings in one request, each with a timestamp.
MAX_BODY_BYTES = 48 * 2**20

router = APIRouter(prefix="/v1/baseline", tags=["baseline"], route_class=KeyRoute)

ScopeQuery = Annotated[Scope, Query(description="The caller's own baseline, or the shared one")]


class RecordResponse(ResponseBody):
    """The number of recorded sightings, which is the sum of `new`, `recurring` and `reopened`."""

    recorded: int
    new: int = Field(description="Sightings of findings that were not known")
    recurring: int = Field(description="Sightings of findings that were known")
    reopened: int = Field(description="Sightings of findings that were resolved, and that are open again now")


class ResolveResponse(ResponseBody):
    """The number of different findings by outcome."""

    resolved: int
    already_resolved: int
    unknown: int


class FindingResponse(ResponseBody):
    """A finding in the baseline."""

    composite_hash: str
    finding_id: str = Field(description="The id with which it was last recorded")
    baseline_status: KnownStatus
    first_seen_at: datetime
    last_seen_at: datetime
    seen_count: int
    resolved_at: datetime | None


class FindingPage(ResponseBody):
    """Findings in the order of their hashes."""

    items: list[FindingResponse]
    next_cursor: str | None


class RemovedResponse(ResponseBody):
    """How many findings were removed."""

    removed: int


def _build_body_schema(needed: Sequence[str], *names: str) -> dict[str, Any]:
    """Return the body schema of the corresponding tool, with higher limits on its lists."""
    known = {**RECORD_FINDINGS.input_schema["properties"], **RESOLVE_FINDINGS.input_schema["properties"]}
    properties: dict[str, Any] = {name: {**known[name], "maxItems": MAX_RECORDED_FINDINGS} for name in names}
    properties["scope"] = {**known["additional_params"]["properties"]["scope"], "default": "own"}
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


@router.post("/findings", operation_id="record_findings", openapi_extra=_build_body_schema(["findings"], "findings"))
@allow(refuse_agent_keys)
async def record_findings(request: Request, board: Board, caller: CurrentCaller) -> RecordResponse:
    """Record that findings were seen, all of them or none; each sighting counts, including repeated ones."""
    body = await _read_known_keys(request, ("findings", "scope"))
    done = await board.baseline.record(body.pop("findings", None), caller, **body)
    return RecordResponse.model_validate(done)


@router.post(
    "/resolve", operation_id="resolve_findings", openapi_extra=_build_body_schema([], "composite_hashes", "findings")
)
@allow(refuse_agent_keys)
async def resolve_findings(request: Request, board: Board, caller: CurrentCaller) -> ResolveResponse:
    """Mark findings resolved, all of them or none; a finding that is seen again is open again."""
    body = await _read_known_keys(request, ("composite_hashes", "findings", "scope"))
    return ResolveResponse.model_validate(await board.baseline.resolve(caller, **body))


@router.get("/findings", operation_id="list_findings")
@allow(refuse_agent_keys)
async def list_findings(
    board: Board,
    caller: CurrentCaller,
    scope: ScopeQuery = "own",
    status: Annotated[KnownStatus | None, Query(description="Only findings with this status")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> FindingPage:
    """The findings of a baseline, in the order of their hashes."""
    place = read_cursor(cursor, read_hash)
    after = place[0] if place else None
    found = await board.baseline.page(caller, scope=scope, status=status, after=after, limit=limit + 1)
    page = cut_page(found, limit, lambda finding: [finding.composite_hash])
    return FindingPage.model_validate(page)


@router.delete("/findings/{composite_hash}", operation_id="remove_finding", status_code=204)
@allow(refuse_agent_keys)
async def remove_finding(composite_hash: str, board: Board, caller: CurrentCaller, scope: ScopeQuery = "own") -> None:
    """Remove a finding, as if it had never been seen."""
    await board.baseline.remove(composite_hash, caller, scope=scope)


@router.delete("/findings", operation_id="remove_findings")
@allow(refuse_agent_keys)
async def remove_findings(
    board: Board,
    caller: CurrentCaller,
    status: Annotated[Literal["recurring", "resolved", "all"], Query(description="Their status; `all` for any")],
    scope: ScopeQuery = "own",
) -> RemovedResponse:
    """Remove every finding of a baseline that has this status, in batches."""
    removed = await board.baseline.remove_all(caller, scope=scope, status=None if status == "all" else status)
    return RemovedResponse(removed=removed)


async def _read_known_keys(request: Request, known: Sequence[str]) -> dict[str, Any]:
    """Return the body as a JSON object; raise Invalid if it has unknown keys."""
    data = await read_document(request)
    unknown = [Fault(str(key)[:64], f"is not known; known: {', '.join(known)}") for key in data if key not in known]
    if unknown:
        raise Invalid.of("The request is not valid", unknown[:20])
    return data
