"""Serves the pages of the console at /console/, in front of the application for all other paths."""

from __future__ import annotations

import html
import secrets

from pegboard.model.ids import new_id
from pegboard.surfaces.console.console_files import ConsoleFile, ConsoleFiles
from pegboard.surfaces.rest.asgi_request import ASGIApp, Receive, Scope, Send, choose_request_id, send_problem
from pegboard.surfaces.rest.json_compression import accepts_gzip
from pegboard.surfaces.rest.page_security import FILE_HEADERS, PAGE_HEADERS, PAGE_POLICY
from pegboard.surfaces.rest.request_origin import OriginPolicy

# In the page of the build; the server replaces them in each response.
NONCE_PLACEHOLDER = "__CSP_NONCE__"
BASE_PLACEHOLDER = "__BASE_PATH__"
# Which build a page is of; sent with the page and with the responses to its requests.
BUILD_HEADER = "X-Console-Build"

_ROOT = "/console"
_IMMUTABLE = b"public, max-age=31536000, immutable"
_SHORT_TIME = b"public, max-age=3600"
_POLICY = (
    f"{PAGE_POLICY}; style-src 'self' 'nonce-{{nonce}}'; require-trusted-types-for 'script'; trusted-types default"
)
_FILE_HEADERS = [(name.lower().encode(), value.encode()) for name, value in FILE_HEADERS.items()]
_PAGE_HEADERS = [
    *((name.lower().encode(), value.encode()) for name, value in PAGE_HEADERS.items()),
    (b"cache-control", b"no-store"),
]


class ConsolePages:
    """Serves the files of the console, and its page for every other path below /console/."""

    def __init__(self, app: ASGIApp, files: ConsoleFiles, origins: OriginPolicy) -> None:
        self._app = app
        self._files = files
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            root: str = scope.get("root_path", "")
            path = scope["path"].removeprefix(root)
            base = root or self._origins.find_path_prefix(dict(scope["headers"]).get(b"host"))
            if path in ("/", _ROOT):
                await _redirect(scope, send, f"{base}{_ROOT}/")
                return
            if path.startswith(f"{_ROOT}/"):
                await self._serve(scope, send, base, path.removeprefix(f"{_ROOT}/"))
                return
        await self._app(scope, receive, send)

    async def _serve(self, scope: Scope, send: Send, base: str, name: str) -> None:
        file = await self._files.find(name)
        if file is not None:
            await _send_file(scope, send, file)
        elif self._files.is_file_path(name):
            given = dict(scope["headers"]).get(b"x-request-id")
            request_id = new_id() if given is None else choose_request_id(given)
            message = "The console has no such file; reload the page to get its new version"
            await send_problem(send, 404, message, request_id)
        else:
            await self._send_page(scope, send, base)

    async def _send_page(self, scope: Scope, send: Send, base: str) -> None:
        nonce = secrets.token_urlsafe(18)
        page = self._files.page.replace(NONCE_PLACEHOLDER, nonce).replace(BASE_PLACEHOLDER, html.escape(base))
        headers = [
            *_PAGE_HEADERS,
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-security-policy", _POLICY.format(nonce=nonce).encode()),
            (BUILD_HEADER.lower().encode(), self._files.build_id.encode()),
        ]
        await _send(scope, send, 200, page.encode(), headers)


async def _send_file(scope: Scope, send: Send, file: ConsoleFile) -> None:
    headers = [
        *_FILE_HEADERS,
        (b"content-type", file.media_type.encode()),
        (b"cache-control", _IMMUTABLE if file.is_hashed else _SHORT_TIME),
    ]
    body = file.content
    if file.compressed is not None:
        headers.append((b"vary", b"Accept-Encoding"))
        if accepts_gzip(scope["headers"]):
            body = file.compressed
            headers.append((b"content-encoding", b"gzip"))
    await _send(scope, send, 200, body, headers)


async def _redirect(scope: Scope, send: Send, target: str) -> None:
    await _send(scope, send, 307, b"", [(b"location", target.encode()), (b"cache-control", b"no-store")])


async def _send(scope: Scope, send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    head = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
