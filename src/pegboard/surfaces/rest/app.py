"""The HTTP application: the call route in front, FastAPI behind."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware

from pegboard.board import Pegboard
from pegboard.core.version import __version__
from pegboard.surfaces.rest import (
    audit,
    baseline,
    calls,
    cancelling,
    chains,
    docs_page,
    imports,
    lint,
    people,
    replay,
    statistics,
    tables,
    threads,
    tools,
    watching,
)
from pegboard.surfaces.rest.described import CALL_PATH
from pegboard.surfaces.rest.edge import ASGIApp, Edge
from pegboard.surfaces.rest.hot import CallRoute, HotRoutes
from pegboard.surfaces.rest.json_bodies import JsonBodies
from pegboard.surfaces.rest.models import ErrorDetails, PlainResult, ProblemBody
from pegboard.surfaces.rest.payload_route import PayloadRoute
from pegboard.surfaces.rest.problems import add_problem_handlers
from pegboard.surfaces.rest.stream import Readers

# In this order: what comes after calls.journal, whose paths end in an id, would be taken for one.
_ROUTERS = (
    audit.router,
    statistics.router,
    watching.watch,
    watching.follow,
    cancelling.router,
    calls.calls,
    chains.router,
    threads.router,
    tools.router,
    people.agents,
    people.users,
    people.secrets,
    calls.journal,
    calls.state,
    lint.router,
    replay.router,
    imports.router,
    tables.router,
    baseline.router,
)
_ROUTES = [route for router in _ROUTERS for route in router.routes if isinstance(route, APIRoute)]
# By path, as the API's description has them, which takes a quarter of a second to make.
METHODS = {
    path: frozenset(method for route in _ROUTES if route.path_format == path for method in route.methods or ())
    for path in dict.fromkeys(route.path_format for route in _ROUTES)
} | {path: frozenset(map(str.upper, operations)) for path, operations in CALL_PATH.items()}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "Refused",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}},
    }
}


def create_app(board: Pegboard, version: str = __version__) -> ASGIApp:
    """The board over HTTP, as an ASGI application."""
    rest = FastAPI(
        title="Pegboard",
        version=version,
        summary="Every tool that an agent may call",
        license_info={"name": "Apache 2.0", "identifier": "Apache-2.0"},
        responses=_PROBLEMS,
        docs_url=None,
        redoc_url=None,
    )
    rest.state.board = board
    rest.state.readers = Readers(board.settings.max_event_readers)
    rest.state.views = watching.Views(board.onlookers, board.snapshot)
    for router in _ROUTERS:
        rest.include_router(router)
    rest.include_router(docs_page.router)
    add_problem_handlers(rest, METHODS)
    _document_calls(rest)
    settings = board.settings
    larger = {
        imports.OPENAPI: settings.max_import_bytes,
        **dict.fromkeys(baseline.LARGE_BODIES, max(settings.max_body_bytes, baseline.MAX_BODY)),
    }
    bodies = rest.state.bodies = JsonBodies()
    most = settings.max_body_bytes
    app: ASGIApp = HotRoutes(
        Edge(rest, most, larger),
        CallRoute(
            pipeline=board.pipeline, snapshot=board.snapshot, dialects=board.dialects, bodies=bodies, max_body=most
        ),
        PayloadRoute(payloads=board.payloads, threads=board.threads, bodies=bodies, max_body=most),
    )
    origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    if origins:
        app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-Id"],
            expose_headers=[
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


def _document_calls(rest: FastAPI) -> None:
    """Add the call route, which the framework never sees, to the API's description."""
    described = rest.openapi

    def openapi() -> dict[str, Any]:
        if rest.openapi_schema is None:
            document = described()
            document["paths"].update(CALL_PATH)
            schemas = document["components"]["schemas"]
            for model in (PlainResult, ErrorDetails, ProblemBody):
                schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
                schemas.update(schema.pop("$defs", {}))
                schemas[model.__name__] = schema
            rest.openapi_schema = document
        return rest.openapi_schema

    rest.openapi = openapi  # type: ignore[method-assign]
