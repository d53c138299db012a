"""Routes that register, change, find and list tools."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from pegboard.model.filters import ToolFilter
from pegboard.model.tool_definition import ToolResponse
from pegboard.registry.build_tool import build_tool_response
from pegboard.registry.secret_fields import mask_auth, mask_config
from pegboard.registry.tool_create import KnownKind, ToolCreate, ToolUpdate
from pegboard.surfaces.rest.bodies import ApplyBody, PlanResponse, ToolPage, VersionPage, VersionResponse
from pegboard.surfaces.rest.route_parameters import Board, CurrentCaller, Cursor, Limit
from pegboard.surfaces.rest.routing import KeyRoute, allow, refuse_agent_keys, require_own_tool

router = APIRouter(prefix="/v1", tags=["tools"], route_class=KeyRoute)
DialectQuery = Annotated[str, Query(alias="as", description="The dialect of the definition")]
StrictQuery = Annotated[
    bool, Query(description="Hold the model to the schema, where the dialect and the schema allow it")
]


@router.get("/tools", operation_id="list_tools")
async def list_tools(
    board: Board,
    caller: CurrentCaller,
    tool_type: KnownKind | None = None,
    is_active: bool | None = None,
    is_public: bool | None = None,
    tag: Annotated[str | None, Query(max_length=64)] = None,
    q: Annotated[str | None, Query(max_length=255, description="Part of the name or description")] = None,
    mine: Annotated[bool, Query(description="Only the caller's own")] = False,
    deleted: Annotated[bool, Query(description="Deleted ones instead")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ToolPage:
    """The tools this caller may see, by name."""
    wanted = ToolFilter(
        owner_id=caller.user_id if mine else None,
        tool_type=tool_type,
        is_active=is_active,
        is_public=is_public,
        tag=tag,
        q=q,
        deleted=deleted,
    )
    page = await board.tools.page(wanted, caller, cursor=cursor, limit=limit)
    return ToolPage.model_construct(
        items=[build_tool_response(tool, caller) for tool in page.items], next_cursor=page.next_cursor
    )


@router.post("/tools", operation_id="create_tool", status_code=201)
@allow(refuse_agent_keys)
async def create_tool(spec: ToolCreate, board: Board, caller: CurrentCaller) -> ToolResponse:
    """Register a tool; it can be called at once."""
    return build_tool_response(await board.tools.create(spec, caller), caller)


@router.get("/tools/{ref}", operation_id="get_tool")
async def get_tool(ref: str, board: Board, caller: CurrentCaller) -> ToolResponse:
    """One tool by id or name."""
    return build_tool_response(await board.tools.get(ref, caller), caller)


@router.patch("/tools/{ref}", operation_id="update_tool")
@allow(require_own_tool)
async def update_tool(ref: str, change: ToolUpdate, board: Board, caller: CurrentCaller) -> ToolResponse:
    """Change a tool: absent keeps, null clears, a masked value keeps."""
    given: dict[str, Any] = change.model_dump(exclude_unset=True)
    return build_tool_response(await board.tools.update(ref, given, caller), caller)


@router.delete("/tools/{ref}", operation_id="delete_tool", status_code=204)
@allow(require_own_tool)
async def delete_tool(ref: str, board: Board, caller: CurrentCaller) -> Response:
    """Remove a tool; it can be restored by its name or id."""
    await board.tools.delete(ref, caller)
    return Response(status_code=204)


@router.post("/tools/{ref}/restore", operation_id="restore_tool")
@allow(refuse_agent_keys)
async def restore_tool(ref: str, board: Board, caller: CurrentCaller) -> ToolResponse:
    """Put a deleted tool back."""
    return build_tool_response(await board.tools.restore(ref, caller), caller)


@router.get("/tools/{ref}/versions", operation_id="list_tool_versions")
@allow(refuse_agent_keys)
async def list_versions(
    ref: str, board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None
) -> VersionPage:
    """What the tool was before, newest first."""
    page = await board.tools.versions(ref, caller, cursor=cursor, limit=limit)
    return VersionPage(
        items=[
            VersionResponse(
                version=version.version,
                created_at=version.created_at,
                created_by=version.created_by,
                definition=_mask_definition(dict(version.definition)),
            )
            for version in page.items
        ],
        next_cursor=page.next_cursor,
    )


@router.get("/tools/{ref}/definition", operation_id="get_definition")
async def get_definition(
    ref: str, board: Board, caller: CurrentCaller, shape: DialectQuery = "plain", strict: StrictQuery = False
) -> Any:
    """How the tool is declared to a provider."""
    tool = await board.tools.get(ref, caller)
    dialect = board.dialects.named(shape, "as")
    return dialect.define_strictly(tool) if strict else dialect.define(tool)


@router.get("/definitions", operation_id="list_definitions")
async def list_definitions(
    board: Board, caller: CurrentCaller, shape: DialectQuery = "plain", strict: StrictQuery = False
) -> Any:
    """What to hand a model: the caller's own tools and the public ones of admins."""
    board.dialects.named(shape, "as")
    return await board.definitions(shape, strict=strict, caller=caller)


@router.post("/apply", operation_id="apply_tools")
@allow(refuse_agent_keys)
async def apply_tools(body: ApplyBody, board: Board, caller: CurrentCaller) -> PlanResponse:
    """Make the caller's tools match these definitions, all or nothing."""
    plan = await board.apply(body.tools, prune=body.prune, dry_run=body.dry_run, caller=caller)
    return PlanResponse.model_validate(plan)


def _mask_definition(definition: dict[str, Any]) -> dict[str, Any]:
    definition.pop("bound_tools", None)
    if isinstance(definition.get("config"), dict):
        definition["config"] = mask_config(definition["config"])
    if "sealed_auth" in definition:
        definition["auth_config"] = mask_auth(definition.pop("sealed_auth"))
    return definition
