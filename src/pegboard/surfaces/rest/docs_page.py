"""The Swagger UI page of the API, with scripts and styles served by this server."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

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
    """Send a browser to the page."""
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
