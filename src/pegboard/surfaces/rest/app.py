"""The ASGI application: the fast call routes first, FastAPI for all other requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware

from pegboard.board import Pegboard
from pegboard.surfaces.console.console_files import BUILD_FOLDER, ConsoleFiles
from pegboard.surfaces.console.console_pages import BUILD_HEADER, ConsolePages
from pegboard.surfaces.mcp.http_endpoint import McpEndpoint
from pegboard.surfaces.mcp.mcp_server import create_mcp_server
from pegboard.surfaces.rest import (
    account_routes,
    api_docs,
    audit_routes,
    baseline_routes,
    board_routes,
    call_routes,
    chain_routes,
    change_routes,
    connect_routes,
    conversation_routes,
    import_routes,
    proof_routes,
    reference_routes,
    replay_routes,
    session_routes,
    table_routes,
    tool_routes,
    upstream_routes,
    watch_routes,
)
from pegboard.surfaces.rest.asgi_request import ASGIApp, RequestLimitMiddleware
from pegboard.surfaces.rest.event_stream import EventReaders
from pegboard.surfaces.rest.fast_call_routes import FastCallRoutes
from pegboard.surfaces.rest.json_bodies import JsonBodyParser
from pegboard.surfaces.rest.json_compression import JsonCompression
from pegboard.surfaces.rest.login_limit import LoginLimit
from pegboard.surfaces.rest.problem_json import add_problem_handlers
from pegboard.surfaces.rest.request_caller import RequestCallers
from pegboard.surfaces.rest.request_origin import OriginPolicy
from pegboard.version import __version__

# The order matters: audit, statistics and watch paths must match before the `/v1/executions/{id}` route of the journal.
_ROUTERS = (
    audit_routes.audit_router,
    audit_routes.statistics_router,
    proof_routes.router,
    watch_routes.watch_router,
    watch_routes.follow_router,
    call_routes.cancel_router,
    call_routes.call_router,
    chain_routes.router,
    conversation_routes.router,
    tool_routes.router,
    account_routes.agents_router,
    account_routes.users_router,
    account_routes.secrets_router,
    session_routes.router,
    call_routes.journal_router,
    call_routes.server_router,
    tool_routes.lint_router,
    replay_routes.router,
    import_routes.router,
    upstream_routes.router,
    table_routes.router,
    baseline_routes.router,
    reference_routes.router,
    change_routes.router,
    connect_routes.router,
    board_routes.router,
)
_ROUTES = [route for router in _ROUTERS for route in router.routes if isinstance(route, APIRoute)]
# Computed from the routes, because building the OpenAPI document takes a quarter of a second.
METHODS_BY_PATH = {
    path: frozenset(method for route in _ROUTES if route.path_format == path for method in route.methods or ())
    for path in dict.fromkeys(route.path_format for route in _ROUTES)
} | {path: frozenset(map(str.upper, operations)) for path, operations in api_docs.CALL_PATH.items()}
_PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "Refused",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}},
    }
}


def _join_routers() -> APIRouter:
    joined = APIRouter(responses=_PROBLEM_RESPONSES)
    for router in (*_ROUTERS, api_docs.router):
        joined.include_router(router)
    return joined


# FastAPI analyses included routes at the first request and keeps the result, so all applications share one router.
_API = _join_routers()


def create_app(board: Pegboard, version: str = __version__, *, console_folder: Path = BUILD_FOLDER) -> ASGIApp:
    """Return the ASGI application that serves the board over HTTP, with the web console if it is in the folder."""
    rest = FastAPI(
        title="Pegboard",
        version=version,
        summary="Every tool that an agent may call",
        license_info={"name": "Apache 2.0", "identifier": "Apache-2.0"},
        routes=_API.routes,
        docs_url=None,
        redoc_url=None,
    )
    rest.state.board = board
    rest.state.readers = EventReaders(board.settings.max_event_readers)
    rest.state.views = watch_routes.WatchViews(board.watchers, board.snapshot)
    add_problem_handlers(rest, METHODS_BY_PATH)
    api_docs.describe_calls(rest)
    settings = board.settings
    limits = {
        session_routes.LOGIN_PATH: session_routes.MAX_LOGIN_BYTES,
        import_routes.OPENAPI_IMPORT_PATH: settings.max_import_bytes,
        **dict.fromkeys(baseline_routes.LARGE_BODY_PATHS, max(settings.max_body_bytes, baseline_routes.MAX_BODY_BYTES)),
    }
    bodies = rest.state.bodies = JsonBodyParser()
    most = settings.max_body_bytes
    origins = OriginPolicy(settings.host, settings.allowed_hosts, settings.cors_origins, settings.public_url)
    callers = rest.state.callers = RequestCallers(board.calls, origins, settings.port)
    rest.state.login_limit = LoginLimit()
    rest.state.checks = board_routes.BoardChecks(board)
    rest_app: ASGIApp = JsonCompression(RequestLimitMiddleware(rest, most, limits))
    console = ConsoleFiles.open(console_folder) if settings.console else None
    rest.state.session_headers = {} if console is None else {BUILD_HEADER: console.build_id}
    if console is not None:
        rest_app = ConsolePages(rest_app, console, origins)
    app: ASGIApp = FastCallRoutes(
        McpEndpoint(rest_app, create_mcp_server(board), origins, callers, bodies, max_body=most),
        board.calls,
        callers,
        board.dialects,
        bodies,
        max_body=most,
    )
    cors_origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    if cors_origins:
        app = CORSMiddleware(
            app,
            allow_origins=cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "Last-Event-ID",
                "X-Request-Id",
                "Mcp-Session-Id",
                "MCP-Protocol-Version",
                "Mcp-Method",
                "Mcp-Name",
            ],
            expose_headers=[
                "Mcp-Session-Id",
                "MCP-Protocol-Version",
                "WWW-Authenticate",
                "X-Request-Id",
                "X-Execution-Id",
                "X-Run-Id",
                "X-Thread-Error",
                "X-Next-Cursor",
                "Idempotent-Replayed",
                "Retry-After",
            ],
        )
    return app
