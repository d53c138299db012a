"""Routes that register, change, find and list tools, and check them against the rules of providers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Response

from pegboard.board import Pegboard
from pegboard.dialects.base import Dialect
from pegboard.dialects.definition_lint import TOKENIZER_NOTE, lint_definitions
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller
from pegboard.model.filters import ToolFilter, ToolSort
from pegboard.model.tool import Tool
from pegboard.model.tool_definition import ToolResponse
from pegboard.registry.build_tool import build_tool_response
from pegboard.registry.draft_tools import build_drafts
from pegboard.registry.secret_fields import mask_auth, mask_config
from pegboard.registry.tool_access import list_access
from pegboard.registry.tool_create import KnownKind, ToolCreate, ToolUpdate
from pegboard.registry.tool_summary import build_tool_summary
from pegboard.surfaces.rest.bodies import (
    ApplyBody,
    CountedToolPage,
    DraftsBody,
    PlanResponse,
    ResponseBody,
    ToolAccessResponse,
    ToolPage,
    ToolSummaryPage,
    VersionPage,
    VersionResponse,
)
from pegboard.surfaces.rest.routing import (
    Board,
    CurrentCaller,
    Cursor,
    KeyRoute,
    Limit,
    allow,
    refuse_agent_keys,
    require_own_tool,
)

router = APIRouter(prefix="/v1", tags=["tools"], route_class=KeyRoute)
DryRunQuery = Annotated[bool, Query(description="Only check; the answer is the tool as it would be")]
DialectQuery = Annotated[str, Query(alias="as", description="The dialect of the definition")]
StrictQuery = Annotated[
    bool, Query(description="Make the model follow the schema exactly, if the dialect and the schema allow it")
]


@router.get("/tools", operation_id="list_tools", response_model=ToolPage | CountedToolPage | ToolSummaryPage)
async def list_tools(
    board: Board,
    caller: CurrentCaller,
    tool_type: KnownKind | None = None,
    is_active: bool | None = None,
    is_public: bool | None = None,
    tag: Annotated[str | None, Query(max_length=64)] = None,
    q: Annotated[str | None, Query(max_length=255, description="Part of the name or description")] = None,
    mine: Annotated[bool, Query(description="Only the caller's own")] = False,
    deleted: Annotated[bool, Query(description="Deleted tools instead")] = False,
    drifted: Annotated[bool | None, Query(description="Whether their MCP server has changed them")] = None,
    owner: Annotated[str | None, Query(description="Only tools of the user with this id")] = None,
    agent: Annotated[str | None, Query(description="Only tools of the agent with this id")] = None,
    sort: Annotated[ToolSort, Query(description="By name, or last updated first")] = "name",
    view: Annotated[Literal["full", "summary"], Query(description="summary: short rows without schemas")] = "full",
    count: Annotated[bool, Query(description="Also return how many tools match")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Any:
    """The tools this caller may see, by name."""
    if mine and owner is not None:
        raise Invalid.of("The request is not valid", [Fault("owner", "is not possible with mine=true")])
    wanted = ToolFilter(
        owner_id=caller.user_id if mine else owner,
        tool_type=tool_type,
        is_active=is_active,
        is_public=is_public,
        tag=tag,
        q=q,
        deleted=deleted,
        drifted=drifted,
        among=None if agent is None else frozenset(board.people.get_agent(agent, caller).tools),
    )
    page = await board.tools.page(wanted, caller, cursor=cursor, limit=limit, sort=sort)
    number = await board.tools.count(wanted, caller) if count else None
    if view == "summary":
        rows = [build_tool_summary(tool) for tool in page.items]
        body = {"items": rows, "next_cursor": page.next_cursor, "count": number}
        return Response(orjson.dumps(body, option=orjson.OPT_UTC_Z), media_type="application/json")
    items = [build_tool_response(tool, caller) for tool in page.items]
    if number is not None:
        return CountedToolPage.model_construct(items=items, next_cursor=page.next_cursor, count=number)
    return ToolPage.model_construct(items=items, next_cursor=page.next_cursor)


@router.post(
    "/tools",
    operation_id="create_tool",
    status_code=201,
    responses={200: {"model": ToolResponse, "description": "The tool as it would be; nothing is saved"}},
)
@allow(refuse_agent_keys)
async def create_tool(
    spec: ToolCreate, board: Board, caller: CurrentCaller, response: Response, dry_run: DryRunQuery = False
) -> ToolResponse:
    """Register a tool; it can be called at once."""
    if dry_run:
        response.status_code = 200
    return build_tool_response(await board.tools.create(spec, caller, dry_run=dry_run), caller)


@router.get("/tools/{ref}", operation_id="get_tool")
async def get_tool(ref: str, board: Board, caller: CurrentCaller) -> ToolResponse:
    """One tool by id or name."""
    return build_tool_response(await board.tools.get(ref, caller), caller)


@router.patch("/tools/{ref}", operation_id="update_tool")
@allow(require_own_tool)
async def update_tool(
    ref: str, change: ToolUpdate, board: Board, caller: CurrentCaller, dry_run: DryRunQuery = False
) -> ToolResponse:
    """Update a tool: absent fields and masked values stay, null clears."""
    given: dict[str, Any] = change.model_dump(exclude_unset=True)
    return build_tool_response(await board.tools.update(ref, given, caller, dry_run=dry_run), caller)


@router.delete("/tools/{ref}", operation_id="delete_tool", status_code=204)
@allow(require_own_tool)
async def delete_tool(ref: str, board: Board, caller: CurrentCaller) -> None:
    """Remove a tool; it can be restored by its name or id."""
    await board.tools.delete(ref, caller)


@router.post("/tools/{ref}/restore", operation_id="restore_tool")
@allow(refuse_agent_keys)
async def restore_tool(ref: str, board: Board, caller: CurrentCaller) -> ToolResponse:
    """Restore a deleted tool."""
    return build_tool_response(await board.tools.restore(ref, caller), caller)


@router.get("/tools/{ref}/versions", operation_id="list_tool_versions")
@allow(refuse_agent_keys)
async def list_versions(
    ref: str, board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None
) -> VersionPage:
    """The versions of the tool, newest first."""
    page = await board.tools.versions(ref, caller, cursor=cursor, limit=limit)
    return VersionPage(
        items=[
            VersionResponse(
                version=version.version,
                created_at=version.created_at,
                created_by=version.created_by,
                created_by_name=_find_shown_name(board, version.created_by, caller),
                definition=_mask_definition(dict(version.definition)),
            )
            for version in page.items
        ],
        next_cursor=page.next_cursor,
    )


@router.get("/tools/{ref}/access", operation_id="get_tool_access")
@allow(refuse_agent_keys)
async def get_tool_access(ref: str, board: Board, caller: CurrentCaller) -> ToolAccessResponse:
    """Who can call the tool, and why; for its owner and admins."""
    tool = await board.tools.get(ref, caller)
    return ToolAccessResponse.model_validate(list_access(board.snapshot, tool, caller))


@router.get("/tools/{ref}/definition", operation_id="get_definition")
async def get_definition(
    ref: str, board: Board, caller: CurrentCaller, shape: DialectQuery = "plain", strict: StrictQuery = False
) -> Any:
    """The definition of the tool for a provider."""
    tool = await board.tools.get(ref, caller)
    dialect = board.dialects.named(shape, "as")
    return dialect.define_strictly(tool) if strict else dialect.define(tool)


@router.get("/definitions", operation_id="list_definitions")
async def list_definitions(
    board: Board, caller: CurrentCaller, shape: DialectQuery = "plain", strict: StrictQuery = False
) -> Any:
    """The tool definitions for a model: the caller's own tools and the public tools of admins."""
    board.dialects.named(shape, "as")
    return await board.definitions(shape, strict=strict, caller=caller)


@router.post("/definitions", operation_id="declare_drafts")
@allow(refuse_agent_keys)
async def declare_drafts(
    body: DraftsBody, board: Board, caller: CurrentCaller, shape: DialectQuery = "plain", strict: StrictQuery = False
) -> Any:
    """The definitions of the body for a model; nothing is saved."""
    board.dialects.named(shape, "as")
    return await board.definitions(shape, strict=strict, caller=caller, drafts=body.tools)


@router.post("/apply", operation_id="apply_tools")
@allow(refuse_agent_keys)
async def apply_tools(body: ApplyBody, board: Board, caller: CurrentCaller) -> PlanResponse:
    """Make the caller's tools match these definitions, all or nothing."""
    plan = await board.apply(body.tools, prune=body.prune, dry_run=body.dry_run, caller=caller)
    return PlanResponse.model_validate(plan)


def _find_shown_name(board: Pegboard, user_id: str, caller: Caller) -> str | None:
    user = board.snapshot.user(user_id) if caller.is_admin or user_id == caller.user_id else None
    return None if user is None else user.name


def _mask_definition(definition: dict[str, Any]) -> dict[str, Any]:
    definition.pop("bound_tools", None)
    if isinstance(definition.get("config"), dict):
        definition["config"] = mask_config(definition["config"])
    if "sealed_auth" in definition:
        definition["auth_config"] = mask_auth(definition.pop("sealed_auth"))
    return definition


ProvidersQuery = Annotated[
    list[str] | None, Query(alias="for", description="A provider's dialect; by default the main providers")
]

lint_router = APIRouter(prefix="/v1", tags=["tools"], route_class=KeyRoute)

# The dialects of the most common providers.
DEFAULT_PROVIDERS = (
    "openai_chat",
    "anthropic_messages",
    "gemini_generate_content",
    "bedrock_converse",
    "mistral",
    "cohere_v2",
    "mcp",
)


class LintFinding(ResponseBody):
    """One finding about a definition that a provider gets, with its remedy."""

    severity: Literal["refuse", "misread", "note"]
    field: str
    message: str


class LintedTool(ResponseBody):
    """One tool as it is declared to a provider."""

    tool: str
    name: str
    tokens: int
    findings: list[LintFinding]


class LintedProvider(ResponseBody):
    """The tools that are declared to a provider together."""

    dialect: str
    tokens: int
    findings: list[LintFinding]
    tools: list[LintedTool]


class LintResponse(ResponseBody):
    """What each provider would refuse or misread, and how tokens were counted."""

    counted: str
    providers: list[LintedProvider]


@lint_router.get("/lint", operation_id="lint_tools")
async def lint_tools(
    board: Board,
    caller: CurrentCaller,
    shapes: ProvidersQuery = None,
    names: Annotated[
        list[str] | None, Query(alias="tool", description="A tool by name or id; by default those of /v1/definitions")
    ] = None,
    agent: Annotated[str | None, Query(description="The tools that a key of the agent with this id gets")] = None,
) -> LintResponse:
    """What providers would refuse or misread in the definitions of the tools, and their size in tokens."""
    wanted = _select_providers(board, shapes)
    if names is not None and agent is not None:
        raise Invalid.of("The request is not valid", [Fault("agent", "is not possible together with tool")])
    if agent is not None:
        holder = board.people.get_agent(agent, caller)
        tools = [item.tool for item in board.snapshot.list_agent_tools(holder.id)]
    elif names is None:
        tools = [item.tool for item in board.snapshot.list_offered_tools(caller)]
    else:
        found = [await board.tools.get(name, caller) for name in names]
        tools = list({tool.id: tool for tool in found}.values())
    return await _lint(board, tools, wanted)


@lint_router.post("/lint", operation_id="lint_drafts")
@allow(refuse_agent_keys)
async def lint_drafts(
    body: DraftsBody, board: Board, caller: CurrentCaller, shapes: ProvidersQuery = None
) -> LintResponse:
    """What providers would refuse or misread in the definitions of the body; nothing is saved."""
    wanted = _select_providers(board, shapes)
    return await _lint(board, await build_drafts(body.tools, caller, board.tools), wanted)


def _select_providers(board: Pegboard, shapes: list[str] | None) -> Sequence[str]:
    if shapes is None:
        return DEFAULT_PROVIDERS
    return list(dict.fromkeys(_require_define(board.dialects.named(shape, "for")).name for shape in shapes))


async def _lint(board: Pegboard, tools: list[Tool], providers: Sequence[str]) -> LintResponse:
    # One OS thread call per provider, so that other tasks run in between, even with many tools.
    linted = [await asyncio.to_thread(lint_definitions, tools, board.dialects[name]) for name in providers]
    return LintResponse(counted=TOKENIZER_NOTE, providers=[LintedProvider.model_validate(each) for each in linted])


def _require_define(dialect: Dialect) -> Dialect:
    if "define" not in dialect.abilities:
        raise Invalid.of("There is nothing to check", [Fault("for", f"'{dialect.name}' declares no tools")])
    return dialect
