"""Routes of the MCP servers that were imported."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from pegboard.model.tool_definition import JsonObject
from pegboard.registry.http_origins import HttpOrigin
from pegboard.surfaces.rest.bodies import PageBody, ResponseBody
from pegboard.surfaces.rest.import_routes import (
    EntryListsResponse,
    McpImportResponse,
    build_entry_lists,
    build_mcp_response,
    run_import,
)
from pegboard.surfaces.rest.routing import (
    Board,
    CurrentCaller,
    Cursor,
    KeyRoute,
    Limit,
    allow,
    refuse_agent_keys,
    require_own_upstream,
)

router = APIRouter(prefix="/v1/upstreams", tags=["upstreams"], route_class=KeyRoute)


class UpstreamCountsResponse(ResponseBody):
    """How much an upstream offers."""

    tools: int = Field(description="Tools of the board that were imported from it")
    prompts: int
    resources: int
    resource_templates: int
    drifted: int = Field(description="Tools and entries that changed, and are refused until accepted")


class UpstreamConnectionResponse(ResponseBody):
    """Whether an upstream answers, as seen by the process that answers this request."""

    is_open: bool = Field(description="Whether there is a session; a command runs as long as its session is open")
    calls: int = Field(description="Calls and requests that run now")
    circuit: Literal["closed", "open"] = Field(description="`open` while calls of its owner are refused after failures")
    checked_at: datetime | None = Field(description="When its lists were read last; null if not yet by this process")
    last_error: str | None = Field(description="Why its lists could not be read then")


class UpstreamResponse(ResponseBody):
    """An imported MCP server; credentials are masked."""

    id: str
    owner_id: str
    name: str
    prefix: str = Field(description="In front of the names of its tools and prompts")
    server_url: str | None
    command: list[str] | None
    config: JsonObject = Field(description="Address, headers, environment; values are masked")
    auth_config: JsonObject | None
    include: list[str] = Field(description="Patterns of names of tools; empty for all")
    is_public: bool | None = Field(description="Of tools that are added; null if the import did not say")
    follow: bool = Field(description="Whether what it offers later is added")
    state: Literal["ok", "drifted", "unavailable"]
    counts: UpstreamCountsResponse
    connection: UpstreamConnectionResponse
    created_at: datetime
    updated_at: datetime


class UpstreamPage(PageBody[UpstreamResponse]):
    """One page of upstreams."""


class UpstreamToolResponse(ResponseBody):
    """A tool that was imported from an upstream."""

    id: str
    name: str
    is_active: bool
    drifted: bool


class UpstreamEntryResponse(ResponseBody):
    """A prompt, resource or resource template of an upstream."""

    name: str = Field(description="Its name, URI or URI template at the upstream")
    listed_as: str = Field(description="The same with the prefix, as MCP clients see it")
    title: str | None
    description: str | None
    state: Literal["active", "drifted", "gone"] = Field(
        description="`drifted`: changed, and refused until accepted; `gone`: no longer listed by the upstream"
    )


class UpstreamDetails(UpstreamResponse):
    """An imported MCP server with everything that it offers."""

    tools: list[UpstreamToolResponse]
    prompts: list[UpstreamEntryResponse]
    resources: list[UpstreamEntryResponse]
    resource_templates: list[UpstreamEntryResponse]


class OriginToolResponse(ResponseBody):
    """A tool that calls an origin."""

    id: str
    name: str


class OriginResponse(ResponseBody):
    """An origin that HTTP tools call, as seen by the process that answers this request."""

    origin: str = Field(description="Scheme, host and port")
    tools: list[OriginToolResponse] = Field(description="The first 20 by name")
    tool_count: int = Field(description="The number of all of them")
    circuit: Literal["closed", "open"] = Field(description="`open` while calls are refused after failures")
    open_circuits: int = Field(description="How many users' calls are refused; each user has a circuit breaker")
    last_failed_at: datetime | None = Field(description="When a call failed last; null if none has")
    last_error_code: str | None = Field(description="The error code of that call")


class OriginList(ResponseBody):
    """The origins that HTTP tools call, those with refused calls first."""

    items: list[OriginResponse] = Field(description="At most 200")
    more: bool = Field(description="Whether there are more")


class AcceptedEntriesResponse(EntryListsResponse):
    """The prompts, resources and templates whose change was accepted."""

    id: str


@router.get("", operation_id="list_upstreams")
@allow(refuse_agent_keys)
async def list_upstreams(board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None) -> UpstreamPage:
    """The imported MCP servers: your own; for an admin, those of all users."""
    page = await board.upstreams.page(caller, cursor=cursor, limit=limit)
    items = [UpstreamResponse.model_validate(board.upstreams.describe(each)) for each in page.items]
    return UpstreamPage(items=items, next_cursor=page.next_cursor)


@router.get("/origins", operation_id="list_origins")
@allow(refuse_agent_keys)
async def list_origins(board: Board, caller: CurrentCaller) -> OriginList:
    """The origins that your HTTP tools call, or for an admin those of all users: circuit breakers and last errors."""
    found = await board.upstreams.list_origins(caller)
    return OriginList(items=[_build_origin_response(each) for each in found.items], more=found.more)


@router.get("/{upstream_id}", operation_id="get_upstream")
@allow(require_own_upstream)
async def get_upstream(upstream_id: str, board: Board, caller: CurrentCaller) -> UpstreamDetails:
    """An imported MCP server, with its tools, prompts, resources and resource templates."""
    return UpstreamDetails.model_validate(board.upstreams.describe(board.upstreams.get_owned(upstream_id, caller)))


@router.delete("/{upstream_id}", operation_id="remove_upstream", status_code=204)
@allow(require_own_upstream)
async def remove_upstream(
    upstream_id: str,
    board: Board,
    caller: CurrentCaller,
    tools: Annotated[bool, Query(description="Also delete the tools that were imported from it")] = False,
) -> None:
    """Remove an MCP server: its prompts, resources and credentials; its tools stay unless `tools` is true."""
    await board.upstreams.remove(upstream_id, caller, tools=tools)


@router.post("/{upstream_id}/accept", operation_id="accept_upstream")
@allow(require_own_upstream)
async def accept_upstream(
    upstream_id: str,
    board: Board,
    caller: CurrentCaller,
    entry: Annotated[
        str | None, Query(description="Only the prompt, resource or template of this name, URI or URI template")
    ] = None,
    digest: Annotated[
        str | None,
        Query(max_length=100, description="Only accept a definition with this digest; 409 if it has changed again"),
    ] = None,
    dry_run: Annotated[bool, Query(description="Only report what would change")] = False,
) -> AcceptedEntriesResponse:
    """Accept the current definitions of changed prompts, resources and templates; tools are accepted one by one."""
    upstream, changes = await board.imports.changes.accept(
        upstream_id, caller, entry=entry, digest=digest, dry_run=dry_run
    )
    return AcceptedEntriesResponse(id=upstream.id, **build_entry_lists(changes))


@router.post("/{upstream_id}/check", operation_id="check_upstream", response_model=McpImportResponse)
@allow(require_own_upstream)
async def check_upstream(upstream_id: str, request: Request, board: Board, caller: CurrentCaller) -> Any:
    """Read what the server offers now, and mark the tools and entries that it has changed; adds and accepts nothing.

    Returns the report of a dry run. With `Accept: text/event-stream`, reports progress.
    """
    return await run_import(
        request,
        lambda on_progress: board.imports.checks.check(upstream_id, caller, on_progress=on_progress),
        build_mcp_response,
    )


@router.post("/{upstream_id}/import", operation_id="import_upstream", response_model=McpImportResponse)
@allow(require_own_upstream)
async def import_upstream(
    upstream_id: str,
    request: Request,
    board: Board,
    caller: CurrentCaller,
    dry_run: Annotated[bool, Query(description="Only report what would be done")] = False,
) -> Any:
    """Import the server again, with the address, credentials and options that it has: adds what is new.

    With `Accept: text/event-stream`, reports progress.
    """
    return await run_import(
        request,
        lambda on_progress: board.imports.checks.repeat(upstream_id, caller, dry_run=dry_run, on_progress=on_progress),
        build_mcp_response,
    )


def _build_origin_response(found: HttpOrigin) -> OriginResponse:
    failure = found.health.last_failure
    return OriginResponse(
        origin=found.origin,
        tools=[OriginToolResponse.model_validate(tool) for tool in found.tools],
        tool_count=found.count,
        circuit="open" if found.health.open_circuits else "closed",
        open_circuits=found.health.open_circuits,
        last_failed_at=None if failure is None else failure.at,
        last_error_code=None if failure is None else failure.code,
    )
