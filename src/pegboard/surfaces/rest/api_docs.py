"""The documentation of the API: the Swagger UI page, and the OpenAPI description of routes that are not FastAPI's."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from pegboard.model.idempotency_key import MAX_IDEMPOTENCY_KEY_LENGTH
from pegboard.registry.tool_create import describe_plugin_configs
from pegboard.surfaces.rest.bodies import ErrorDetails, PlainResult, ProblemBody

router = APIRouter(include_in_schema=False)

# The package that contains the files of Swagger UI.
_PACKAGE = "fastapi_swagger"
_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
# Swagger UI uses an inline script; nothing is loaded from other hosts.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; "
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
)


@router.get("/")
async def redirect_to_docs(request: Request) -> RedirectResponse:
    """Redirect a browser to the page."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}/docs")


@router.get("/docs")
async def show_docs() -> HTMLResponse:
    """The page; its links are relative, so that it works under any prefix."""
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title="Pegboard API",
        swagger_js_url="docs/swagger-ui-bundle.js",
        swagger_css_url="docs/swagger-ui.css",
        swagger_favicon_url="docs/favicon-32x32.png",
    )
    page.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    return page


@router.get("/docs/{name}")
async def get_asset(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in _ASSETS:
        raise HTTPException(404, "Not Found")
    return Response(_read_asset(name), media_type=_ASSETS[name], headers={"Cache-Control": "public, max-age=86400"})


@cache
def _read_asset(name: str) -> bytes:
    return (files(_PACKAGE) / "resources" / name).read_bytes()


_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the call run once: a repeat with the same key within a day gets the recorded result",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY_LENGTH},
}

CALL_PATH: dict[str, Any] = {
    "/v1/tools/{name}/call": {
        "post": {
            "tags": ["calls"],
            "operationId": "call_tool",
            "summary": "Call a tool",
            "description": "The body is the arguments. A failed call is a result and no HTTP error: see `success`.",
            "security": [{"bearer": []}],
            "parameters": [
                {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}},
                {
                    "name": "as",
                    "in": "query",
                    "required": False,
                    "description": "The dialect of the response; by default the tool's own result_style",
                    "schema": {"type": "string"},
                },
                _IDEMPOTENCY_KEY,
            ],
            "requestBody": {
                "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
            },
            "responses": {
                "200": {
                    "description": "The result of the call",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlainResult"}}},
                },
                **{
                    str(status): {
                        "description": text,
                        "content": {
                            "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}
                        },
                    }
                    for status, text in (
                        (400, "The body is not JSON"),
                        (401, "The key is missing or invalid"),
                        (408, "The body arrived too slowly"),
                        (413, "The body is too large"),
                        (422, "The dialect or the idempotency key is invalid"),
                    )
                },
                "503": {
                    "description": "The call could not be accepted or recorded; try again after Retry-After seconds",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlainResult"}}},
                },
            },
        }
    }
}


def describe_calls(rest: FastAPI) -> None:
    """Add the call route, which is not a FastAPI route, to the OpenAPI document."""
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
            _add_plugin_kinds(schemas)
            rest.openapi_schema = document
        return rest.openapi_schema

    rest.openapi = openapi  # type: ignore[method-assign]


def _add_plugin_kinds(schemas: dict[str, Any]) -> None:
    """Add the kinds of installed packages to the schema `Kind`, and a schema `Config_NAME` for the config of each."""
    kind = schemas["Kind"]
    for name, config in describe_plugin_configs("#/components/schemas/Config_{name}/$defs/{{model}}").items():
        if name not in kind["enum"]:
            kind["enum"].append(name)
        schemas[f"Config_{name}"] = config
        kind.setdefault("x-configs", {})[name] = {"$ref": f"#/components/schemas/Config_{name}"}
