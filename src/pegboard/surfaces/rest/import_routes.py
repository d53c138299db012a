"""Routes that import tools from OpenAPI documents and MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.requests import ClientDisconnect

from pegboard.model.api_errors import UNEXPECTED_ERROR_MESSAGE, Refusal
from pegboard.model.base_model import Bounded, Model
from pegboard.model.call_errors import ToolError
from pegboard.model.import_report import EntryChanges, ImportReport, ReportProgress, ignore_progress
from pegboard.model.mcp_peer import EntryKind
from pegboard.model.tool_definition import JsonObject, ToolResponse
from pegboard.model.validation_messages import validate_model
from pegboard.registry.build_tool import build_tool_response
from pegboard.surfaces.rest.asgi_request import run_unless_disconnected
from pegboard.surfaces.rest.bodies import PageBody, ResponseBody
from pegboard.surfaces.rest.event_stream import EVENT_STREAM_TYPE, wants_events
from pegboard.surfaces.rest.json_bodies import read_document
from pegboard.surfaces.rest.problem_json import describe_refusal, encode_problem
from pegboard.surfaces.rest.routing import Board, CurrentCaller, Cursor, KeyRoute, Limit, allow, refuse_agent_keys
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# The only import route that accepts a whole document as its body.
OPENAPI_IMPORT_PATH = "/v1/imports/openapi"
# Progress may be reported thousands of times per second; events are sent at most this often.
_PROGRESS_INTERVAL_SECONDS = 0.1

router = APIRouter(tags=["imports"], route_class=KeyRoute)


Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class _ImportBody(Model):
    prefix: str = Field("", max_length=64, description="Prefix for the name of every tool")
    include: list[Pattern] = Field([], max_length=100, description="Patterns of names, such as get_*; by default all")
    auth_config: JsonObject | None = Field(None, description="Credentials for the upstream, on each tool")
    is_public: bool | None = Field(None, description="Whether others may call the tools; if absent, it stays as it is")
    dry_run: bool = Field(False, description="Only report what would be done, with each change")


class OpenApiImportBody(_ImportBody):
    """An OpenAPI 3.0, 3.1 or Swagger 2.0 document, or its URL."""

    document: JsonObject | str | None = Field(None, description="The document, as an object or as JSON or YAML text")
    url: str | None = Field(None, description="The URL of the document")
    server_url: str | None = Field(None, description="The URL of the API, instead of the document's servers")


class McpImportBody(_ImportBody):
    """An MCP server, by its URL or, for admins, by the command that starts it."""

    server_url: str | None = Field(None, description="The server's streamable HTTP endpoint")
    command: Annotated[list[str], Bounded] | None = Field(
        None, min_length=1, description="The command and its arguments; admins only"
    )
    headers: Annotated[dict[str, str], Bounded] = Field({}, description="Sent with each request")
    env: Annotated[dict[str, str], Bounded] = Field({}, description="The command's environment")
    working_dir: str | None = Field(None, description="The folder the command runs in")
    name: str | None = Field(
        None, min_length=1, max_length=60, description="For the tag `mcp:NAME` of its tools; by default host or program"
    )
    follow: bool | None = Field(
        None, description="Whether to add what the server offers later; if absent, it stays as it is"
    )
    accept: bool = Field(False, description="Accept changed definitions instead of marking the tools as drifted")


class LeftOutResponse(ResponseBody):
    """A part of the source that was not imported, or not completely."""

    name: str
    reason: str


class EntryChangesResponse(ResponseBody):
    """Names or URIs of prompts, resources or templates, by what was done with them."""

    created: list[str]
    updated: list[str]
    unchanged: list[str]
    drifted: list[str] = Field(description="Changed upstream, and refused until accepted")
    gone: list[str] = Field(description="No longer listed by the server")
    changes: dict[str, JsonObject] = Field(description="Of each updated or drifted one: fields before and after")
    digests: dict[str, str] = Field(description="Of each updated or drifted one: the digest of its new definition")


class EntryListsResponse(ResponseBody):
    """What an MCP server offers beside its tools; null if there is none of a kind."""

    prompts: EntryChangesResponse | None = None
    resources: EntryChangesResponse | None = None
    resource_templates: EntryChangesResponse | None = None


def build_entry_lists(changes: Mapping[EntryKind, EntryChanges]) -> dict[str, EntryChangesResponse]:
    """Return the fields of `EntryListsResponse`."""
    names: Mapping[EntryKind, str] = {"resourceTemplates": "resource_templates"}
    return {names.get(kind, kind): EntryChangesResponse.model_validate(found) for kind, found in changes.items()}


class ImportResponse(ResponseBody):
    """The changes that an import made, or that a dry run would make."""

    created: list[str]
    updated: list[str]
    unchanged: list[str]
    drifted: list[str] = Field(description="Changed upstream, and refused until accepted")
    gone: list[str] = Field(description="Imported before, but no longer in the source")
    left_out: list[LeftOutResponse]
    warnings: list[str] = Field(description="What may prevent tools from working, and changes to their schemas")
    changes: dict[str, JsonObject] = Field(description="Of each updated or drifted tool: fields before and after")


class McpImportResponse(ImportResponse, EntryListsResponse):
    """The same of an MCP server, with its prompts, resources and resource templates."""

    upstream_id: str | None = Field(
        None, description="The server in `GET /v1/upstreams`; null in a dry run of a new import"
    )


class OpenApiSourceResponse(ResponseBody):
    """An API document that tools were imported from, as far as they still have its tag."""

    tag: str = Field(description="`openapi:` and the title of the document; the tag of its tools")
    owner_id: str
    servers: list[str] = Field(description="The first five servers that its tools call")
    tools: int
    active: int = Field(description="Those of them that can be called")
    updated_at: datetime = Field(description="When one of the tools was changed last")


class OpenApiSourcePage(PageBody[OpenApiSourceResponse]):
    """One page of API documents."""


class AcceptResponse(ToolResponse):
    """A tool with the definition of its upstream, and the fields that this changes."""

    changes: JsonObject = Field(description="The fields that differ, before and after")


def _build_body_schema(model: type[Model]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


@router.post(
    OPENAPI_IMPORT_PATH,
    operation_id="import_openapi",
    response_model=ImportResponse,
    openapi_extra=_build_body_schema(OpenApiImportBody),
)
@allow(refuse_agent_keys)
async def import_openapi(request: Request, board: Board, caller: CurrentCaller) -> Any:
    """Make a tool of each operation; with `Accept: text/event-stream`, report progress."""
    given = _get_fields(validate_model(OpenApiImportBody, await read_document(request), ""))
    return await run_import(
        request,
        lambda on_progress: board.imports.openapi(caller, **given, on_progress=on_progress),
        ImportResponse.model_validate,
    )


@router.get(OPENAPI_IMPORT_PATH, operation_id="list_openapi_sources")
@allow(refuse_agent_keys)
async def list_openapi_sources(
    board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None
) -> OpenApiSourcePage:
    """The API documents that your tools were imported from, by tag; for an admin, those of all users."""
    return OpenApiSourcePage.model_validate(board.imports.sources.page(caller, cursor=cursor, limit=limit))


@router.post("/v1/imports/mcp", operation_id="import_mcp", response_model=McpImportResponse)
@allow(refuse_agent_keys)
async def import_mcp(body: McpImportBody, request: Request, board: Board, caller: CurrentCaller) -> Any:
    """Make a tool of each tool that the server offers, and register the server with its prompts and resources.

    With `Accept: text/event-stream`, report progress.
    """
    given = _get_fields(body)
    return await run_import(
        request, lambda on_progress: board.imports.mcp(caller, **given, on_progress=on_progress), build_mcp_response
    )


@router.post("/v1/tools/{ref}/accept", operation_id="accept_tool")
@allow(refuse_agent_keys)
async def accept_tool(
    ref: str,
    board: Board,
    caller: CurrentCaller,
    dry_run: Annotated[bool, Query(description="Only report what would change")] = False,
    digest: Annotated[
        str | None,
        Query(
            max_length=100,
            description="Only accept the definition with this digest: `config.pinned` after the changes of a dry run. "
            "409 if the server has changed it again",
        ),
    ] = None,
) -> AcceptResponse:
    """Accept the current definition of a tool from its MCP server, so that it can be called again."""
    tool, changes = await board.imports.mcp.accept(ref, caller, digest=digest, dry_run=dry_run)
    return AcceptResponse.model_construct(**dict(build_tool_response(tool, caller)), changes=changes)


def build_mcp_response(report: ImportReport) -> McpImportResponse:
    """Return the response with the report on an MCP server."""
    return McpImportResponse.model_validate(report).model_copy(update=build_entry_lists(report.entries))


def _get_fields(body: Model) -> dict[str, Any]:
    return {name: getattr(body, name) for name in type(body).model_fields}


async def run_import(
    request: Request,
    work: Callable[[ReportProgress], Awaitable[ImportReport]],
    build: Callable[[ImportReport], ImportResponse],
) -> Response | ImportResponse:
    """Return the report of an import, or a stream of its progress if the client asks for events."""
    if wants_events(request.headers.getlist("accept")):
        return StreamingResponse(_stream_events(work, build), media_type=EVENT_STREAM_TYPE)

    async def whole() -> ImportReport:
        return await work(ignore_progress)

    taken = await run_unless_disconnected(request.receive, whole())
    if taken is None:
        raise ClientDisconnect
    return build(taken)


async def _stream_events(
    work: Callable[[ReportProgress], Awaitable[ImportReport]], build: Callable[[ImportReport], ImportResponse]
) -> AsyncIterator[bytes]:
    """Yield progress events, then the final event; a client disconnect cancels the import."""
    latest: dict[str, Any] = {}
    news = asyncio.Event()

    def on_progress(what: str, done: int, total: int) -> None:
        latest.update(what=what, done=done, total=total)
        news.set()

    async def whole() -> ImportReport:
        return await work(on_progress)

    running = asyncio.create_task(whole())
    running.add_done_callback(lambda _task: news.set())
    try:
        while not running.done():
            await news.wait()
            news.clear()
            if latest:
                yield _encode_event("progress", latest)
            await asyncio.wait({running}, timeout=_PROGRESS_INTERVAL_SECONDS)
        yield _build_final_event(running, build)
    finally:
        running.cancel()
        await asyncio.wait({running})


def _build_final_event(ended: asyncio.Task[ImportReport], build: Callable[[ImportReport], ImportResponse]) -> bytes:
    try:
        report = build(ended.result())
    except (Refusal, ToolError) as error:
        status, detail, errors = describe_refusal(error)
        return _encode_event("error", orjson.loads(encode_problem(status, detail, errors=errors)))
    except Exception:
        log.exception("import_broke")
        return _encode_event("error", orjson.loads(encode_problem(500, UNEXPECTED_ERROR_MESSAGE)))
    return _encode_event("complete", report.model_dump(mode="json"))


def _encode_event(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))
