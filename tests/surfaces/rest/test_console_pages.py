"""The files of the web console: policy, caching, compression; and compressed JSON."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from pegboard import Pegboard
from pegboard.surfaces.rest.app import create_app
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import bearer, good, mock, problem

SCRIPT = "console.log('hello');\n" * 100
PAGE = """<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__">
<script type="module" src="__BASE_PATH__/console/assets/index-abc123.js"></script>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small build."""
    built = tmp_path / "static"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text(PAGE)
    (built / "assets" / "index-abc123.js").write_text(SCRIPT)
    (built / "assets" / "logo-1.png").write_bytes(b"\x89PNG")
    (built / "THIRD_PARTY.txt").write_text("MIT")
    (tmp_path / "secret.txt").write_text("private")
    return built


@asynccontextmanager
async def visitor(board: Pegboard, folder: Path, prefix: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a board that serves the build in this folder."""
    app = FastAPI()
    app.mount(prefix, create_app(board, "test", console_folder=folder))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as opened:
        yield opened


async def test_the_page_has_a_policy_with_a_nonce_of_its_own(board: Pegboard, folder: Path) -> None:
    async with visitor(board, folder) as page:
        nonces = set()
        for path in ("/console/", "/console/tools/quote", "/console/index.html"):
            answer = await page.get(path)
            assert answer.status_code == 200
            headers = answer.headers
            [nonce] = re.findall(r'nonce="([^"]+)"', answer.text)
            nonces.add(nonce)
            policy = headers["content-security-policy"].split("; ")
            assert f"style-src 'self' 'nonce-{nonce}'" in policy
            assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
            assert {"require-trusted-types-for 'script'", "trusted-types default", "base-uri 'none'"} <= set(policy)
            assert headers["cache-control"] == "no-store"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
            assert headers["x-frame-options"] == "DENY"
            assert "camera=()" in headers["permissions-policy"]
            assert 'src="/console/assets/' in answer.text
        assert len(nonces) == 3


async def test_hashed_files_are_immutable_and_compressed_for_those_who_accept_it(board: Pegboard, folder: Path) -> None:
    async with visitor(board, folder) as page:
        path = "/console/assets/index-abc123.js"
        packed = await page.get(path, headers={"Accept-Encoding": "br, gzip"})
        assert (packed.headers["content-encoding"], packed.text) == ("gzip", SCRIPT)
        assert int(packed.headers["content-length"]) < len(SCRIPT)
        assert packed.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert packed.headers["content-type"] == "text/javascript; charset=utf-8"
        assert packed.headers["x-content-type-options"] == "nosniff"
        for refused in ("identity", "gzip;q=0", "gzip; q=0.0", "br"):
            plain = await page.get(path, headers={"Accept-Encoding": refused})
            assert "content-encoding" not in plain.headers
            assert plain.text == SCRIPT
        image = await page.get("/console/assets/logo-1.png")
        assert (image.headers["content-type"], "content-encoding" in image.headers) == ("image/png", False)
        assert (await page.get("/console/THIRD_PARTY.txt")).headers["cache-control"] == "public, max-age=3600"
        head = await page.head(path)
        assert (head.status_code, head.content) == (200, b"")


async def test_only_files_of_the_build_are_served(board: Pegboard, folder: Path) -> None:
    async with visitor(board, folder) as page:
        assert "reload the page" in problem(await page.get("/console/assets/old-1.js"), 404)["detail"]
        for path in ("%2e%2e/secret.txt", "..%2fsecret.txt", "assets/%2e%2e/%2e%2e/secret.txt"):
            assert "private" not in (await page.get(f"/console/{path}")).text
        assert (await page.post("/console/")).status_code == 404


async def test_the_root_leads_to_the_console_under_any_prefix(board: Pegboard, folder: Path) -> None:
    for prefix in ("", "/board"):
        async with visitor(board, folder, prefix) as page:
            for path in ("/", "/console"):
                moved = await page.get(prefix + path)
                assert (moved.status_code, moved.headers["location"]) == (307, f"{prefix}/console/")
            assert f'src="{prefix}/console/assets/' in (await page.get(f"{prefix}/console/")).text
            assert (await page.get(f"{prefix}/healthz")).json() == {"status": "ok"}


async def test_a_proxy_may_remove_the_path_of_the_public_url(folder: Path) -> None:
    public_url = "https://tools.example/board/"
    async with memory_board(admin_key=KEY, public_url=public_url) as board, visitor(board, folder) as page:
        through_proxy = {"Host": "tools.example"}
        moved = await page.get("/", headers=through_proxy)
        assert moved.headers["location"] == "/board/console/"
        assert 'src="/board/console/assets/' in (await page.get("/console/", headers=through_proxy)).text
        assert 'src="/console/assets/' in (await page.get("/console/")).text


async def test_without_a_build_or_switched_off_there_is_no_console(folder: Path, tmp_path: Path) -> None:
    async with memory_board(admin_key=KEY) as board, visitor(board, tmp_path / "absent") as page:
        assert (await page.get("/console/")).status_code == 404
        assert (await page.get("/")).headers["location"] == "/docs"
    async with memory_board(admin_key=KEY, console=False) as board, visitor(board, folder) as page:
        assert (await page.get("/console/")).status_code == 404
        assert (await page.get("/")).headers["location"] == "/docs"


async def test_the_page_learns_that_the_server_has_another_build(board: Pegboard, folder: Path) -> None:
    same = {"Origin": "http://127.0.0.1:8080"}
    async with visitor(board, folder) as page:
        good(await page.post("/v1/sessions", json={"key": KEY}, headers=same), 201)
        build = (await page.get("/console/")).headers["x-console-build"]
        assert (await page.get("/v1/me")).headers["x-console-build"] == build
        assert "x-console-build" not in (await page.get("/v1/me", headers=bearer(KEY))).headers
    (folder / "index.html").write_text(PAGE + "<p>newer")
    async with visitor(board, folder) as page:
        assert (await page.get("/console/")).headers["x-console-build"] != build


async def test_json_over_a_kilobyte_is_compressed_but_not_of_calls(board: Pegboard, folder: Path) -> None:
    async with visitor(board, folder) as page:
        page.headers.update(bearer(KEY))
        good(await page.post("/v1/tools", json=mock(config={"mock_response": "x" * 5000})), 201)
        answer = await page.get("/v1/tools")
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept-Encoding"
        plain = await page.get("/v1/tools", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.headers["vary"] == "Accept-Encoding"
        assert plain.json() == answer.json()
        assert int(answer.headers["content-length"]) < int(plain.headers["content-length"])
        assert "content-encoding" not in (await page.get("/v1/me")).headers
        for called in (
            await page.post("/v1/tools/quote/call", json={}),
            await page.post("/v1/calls", json={"name": "quote"}),
            await page.post("/v1/chains", json={"steps": [{"id": "a", "tool": "quote"}]}),
        ):
            assert called.status_code == 200
            assert len(called.content) > 5000
            assert "content-encoding" not in called.headers
