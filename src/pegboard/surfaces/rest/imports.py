"""Routes that take tools on from elsewhere: API documents and other MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from pegboard.core.definitions import JsonObject, ToolResponse
from pegboard.core.errors import ToolError
from pegboard.core.model import Bounded, Model
from pegboard.core.refusals import Fault, Invalid, Refusal
from pegboard.imports.workshop import Tell, silent
from pegboard.registry.definition import checked, shown
from pegboard.registry.taking import TakenOn
from pegboard.surfaces.rest.deps import Board, Who
from pegboard.surfaces.rest.edge import unless_gone
from pegboard.surfaces.rest.json_bodies import MAX_DOCUMENT_CONTAINERS, JsonBodies
from pegboard.surfaces.rest.models import Shown
from pegboard.surfaces.rest.problems import problem, refusal_of, status_of
from pegboard.surfaces.rest.routing import KeyRoute, allow, not_agents
from pegboard.surfaces.rest.stream import EVENTS, wants_events
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# The only import whose body may be as large as a document.
OPENAPI = "/v1/imports/openapi"
# Told between two turns of the loop there may be thousands; people see a few a second.
_PAUSE = 0.1

router = APIRouter(tags=["imports"], route_class=KeyRoute)


Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class _ImportBody(Model):
    prefix: str = Field("", max_length=64, description="Put in front of every tool's name")
    include: list[Pattern] = Field([], max_length=100, description="Patterns such as get_*; without any, everything")
    auth_config: JsonObject | None = Field(None, description="Credentials for the upstream, on each tool")
    is_public: bool | None = Field(None, description="Whether others may call the tools; absent keeps what they are")
    dry_run: bool = Field(False, description="Only say what would be done, with each change")


class OpenApiImportBody(_ImportBody):
    """An OpenAPI 3.0, 3.1 or Swagger 2.0 document, itself or where it is."""

    document: JsonObject | str | None = Field(None, description="The document, as an object or as JSON or YAML text")
    url: str | None = Field(None, description="Where the document can be fetched")
    server_url: str | None = Field(None, description="Where the API is, in place of the document's servers")


class McpImportBody(_ImportBody):
    """An MCP server, by its URL or, for admins, by the command that starts it."""

    server_url: str | None = Field(None, description="The server's streamable HTTP endpoint")
    command: Annotated[list[str], Bounded] | None = Field(
        None, min_length=1, description="The command and its arguments; admins only"
    )
    headers: Annotated[dict[str, str], Bounded] = Field({}, description="Sent with each request")
    env: Annotated[dict[str, str], Bounded] = Field({}, description="The command's environment")
    working_dir: str | None = Field(None, description="The folder the command runs in")
    accept: bool = Field(False, description="Take changed definitions on at once instead of flagging them")


class LeftOutResponse(Shown):
    """Something of the source that did not become a tool, or not wholly."""

    name: str
    reason: str


class ImportResponse(Shown):
    """What an import did, or would do."""

    created: list[str]
    updated: list[str]
    unchanged: list[str]
    drifted: list[str] = Field(description="Changed upstream, and refused until accepted")
    gone: list[str] = Field(description="Imported before, and no longer there")
    left_out: list[LeftOutResponse]
    warnings: list[str] = Field(description="What may keep tools from working, or was changed in their schemas")
    changes: dict[str, JsonObject] = Field(description="Of each updated or drifted tool: fields before and after")


class AcceptResponse(ToolResponse):
    """A tool with its upstream's definition, and what that changes of it."""

    changes: JsonObject = Field(description="The fields that differ, before and after")


Body = TypeVar("Body", bound=Model)


def _described(model: type[Model]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


@router.post(
    OPENAPI,
    operation_id="import_openapi",
    response_model=ImportResponse,
    openapi_extra=_described(OpenApiImportBody),
)
@allow(not_agents)
async def import_openapi(request: Request, board: Board, caller: Who) -> Any:
    """Make a tool of each operation; with `Accept: text/event-stream`, tell how far it has come."""
    given = _given(await _read(request, OpenApiImportBody))
    return await _answer(request, lambda tell: board.imports.openapi(caller, **given, tell=tell))


@router.post("/v1/imports/mcp", operation_id="import_mcp", response_model=ImportResponse)
@allow(not_agents)
async def import_mcp(body: McpImportBody, request: Request, board: Board, caller: Who) -> Any:
    """Make a tool of each tool that the server offers; with `Accept: text/event-stream`, tell how far it has come."""
    given = _given(body)
    return await _answer(request, lambda tell: board.imports.mcp(caller, **given, tell=tell))


@router.post("/v1/tools/{ref}/accept", operation_id="accept_tool")
@allow(not_agents)
async def accept_tool(
    ref: str,
    board: Board,
    caller: Who,
    dry_run: Annotated[bool, Query(description="Only say what would change")] = False,
) -> AcceptResponse:
    """Take the definition that a tool's MCP server has now, so that it can be called again."""
    tool, changes = await board.imports.mcp.accept(ref, caller, dry_run=dry_run)
    return AcceptResponse.model_construct(**dict(shown(tool, caller)), changes=changes)


async def _read(request: Request, model: type[Body]) -> Body:
    """The body, read by a parser that is fast with large documents."""
    bodies: JsonBodies = request.app.state.bodies
    try:
        data = await bodies.parse(await request.body(), orjson.loads, MAX_DOCUMENT_CONTAINERS)
    except orjson.JSONDecodeError as error:
        raise HTTPException(400, f"Not valid JSON at character {error.pos}: {error.msg}") from None
    if not isinstance(data, dict):
        raise Invalid.of("The request is not valid", [Fault("body", "must be a JSON object")])
    return checked(model, data, "")


def _given(body: Model) -> dict[str, Any]:
    return {name: getattr(body, name) for name in type(body).model_fields}


async def _answer(request: Request, work: Callable[[Tell], Awaitable[TakenOn]]) -> Response | ImportResponse:
    if wants_events(request.headers.getlist("accept")):
        return StreamingResponse(_events(work), media_type=EVENTS)

    async def whole() -> TakenOn:
        return await work(silent)

    taken = await unless_gone(request.receive, whole())
    if taken is None:
        raise ClientDisconnect
    return ImportResponse.model_validate(taken)


async def _events(work: Callable[[Tell], Awaitable[TakenOn]]) -> AsyncIterator[bytes]:
    """Progress a few times a second, then how it ended; a reader who goes away cancels the work."""
    latest: dict[str, Any] = {}
    news = asyncio.Event()

    def tell(what: str, done: int, total: int) -> None:
        latest.update(what=what, done=done, total=total)
        news.set()

    async def whole() -> TakenOn:
        return await work(tell)

    running = asyncio.create_task(whole())
    running.add_done_callback(lambda _task: news.set())
    try:
        while not running.done():
            await news.wait()
            news.clear()
            if latest:
                yield _event("progress", latest)
            await asyncio.wait({running}, timeout=_PAUSE)
        yield _ending(running)
    finally:
        running.cancel()
        await asyncio.wait({running})


def _ending(ended: asyncio.Task[TakenOn]) -> bytes:
    try:
        report = ImportResponse.model_validate(ended.result())
    except Refusal as error:
        status, detail, errors = refusal_of(error)
        return _event("error", orjson.loads(problem(status, detail, errors=errors)))
    except ToolError as error:
        return _event("error", orjson.loads(problem(status_of(error), error.message)))
    except Exception:
        log.exception("import_broke")
        return _event("error", orjson.loads(problem(500, "Something went wrong on the board; its log says what")))
    return _event("complete", report.model_dump(mode="json"))


def _event(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))
