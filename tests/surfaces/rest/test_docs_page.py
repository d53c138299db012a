"""/docs works without any other network, and / redirects to it."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from pegboard import Pegboard
from pegboard.surfaces.rest.app import create_app
from tests.surfaces.rest.clients import client, problem


@pytest.mark.parametrize("prefix", ["", "/board"])
async def test_the_page_and_all_that_it_loads_come_from_the_board(board: Pegboard, prefix: str, tmp_path: Path) -> None:
    app = create_app(board, "test", console_folder=tmp_path)
    outer = FastAPI(docs_url=None, redoc_url=None)
    outer.mount(prefix, app)
    transport = httpx.ASGITransport(outer if prefix else app)
    async with httpx.AsyncClient(transport=transport, base_url="http://board", follow_redirects=True) as browser:
        page = await browser.get(f"{prefix}/")
        assert (page.status_code, page.url.path) == (200, f"{prefix}/docs")
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= set(policy.split("; "))
        assert "unsafe" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert re.findall(r"https?://|[\"']//", page.text) == []
        links = re.findall(r"(?:src|href)=\"([^\"]+)\"", page.text)
        assert len(links) == 4
        for link in links:
            loaded = await browser.get(str(page.url.join(link)))
            assert (link, loaded.status_code) == (link, 200)
            assert len(loaded.content) > 100


async def test_the_script_is_swagger_ui(board: Pegboard) -> None:
    async with client(board, None) as browser:
        script = await browser.get("/docs/swagger-ui-bundle.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "SwaggerUIBundle" in script.text


async def test_nothing_else_is_served_from_there(board: Pegboard) -> None:
    async with client(board, None) as browser:
        for path in ("/docs/__init__.py", "/docs/..%2fmain.py", "/redoc"):
            problem(await browser.get(path), 404)
