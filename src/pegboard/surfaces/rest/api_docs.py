"""The documentation of the API: the Swagger UI page, and the OpenAPI description of routes that are not FastAPI's."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from pegboard.model.idempotency_key import MAX_IDEMPOTENCY_KEY_LENGTH
from pegboard.registry.tool_create import describe_plugin_configs
from pegboard.surfaces.rest.bodies import ErrorDetails, PlainResult, ProblemBody
from pegboard.surfaces.rest.page_security import FILE_HEADERS, PAGE_HEADERS, PAGE_POLICY

router = APIRouter(include_in_schema=False)

# The package that contains the files of Swagger UI.
_PACKAGE = "fastapi_swagger"
_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
# Swagger UI writes styles only by the style objects of elements, which `style-src` allows; its data is no script.
_CACHED = {"Cache-Control": "public, max-age=86400"}
_HEADERS = PAGE_HEADERS | {"Content-Security-Policy": f"{PAGE_POLICY}; style-src 'self'"}
# The links are relative, so that the page works under any prefix.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pegboard API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js" defer></script>
<script src="docs/start.js" defer></script>
</head>
<body><div id="swagger-ui"></div></body>
</html>
"""
_START_SCRIPT = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  layout: "BaseLayout",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
})
"""


@router.get("/")
async def redirect_to_docs(request: Request) -> RedirectResponse:
    """Redirect a browser to the page."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}/docs")


@router.get("/docs")
async def show_docs() -> HTMLResponse:
    """The page of Swagger UI."""
    return HTMLResponse(_PAGE, headers=_HEADERS)


@router.get("/docs/start.js")
async def get_start_script() -> Response:
    """The script that starts Swagger UI; the policy of the page allows no script within the page."""
    return Response(_START_SCRIPT, media_type="text/javascript", headers=FILE_HEADERS | _CACHED)


@router.get("/docs/{name}")
async def get_asset(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in _ASSETS:
        raise HTTPException(404, "Not Found")
    return Response(_read_asset(name), media_type=_ASSETS[name], headers=FILE_HEADERS | _CACHED)


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
