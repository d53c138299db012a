"""A board mounted in another application."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from pegboard import create_app
from pegboard.testing import memory_board
from tests.board_surfaces import KEY


@pytest.mark.parametrize("prefix", ["", "/board"])
async def test_every_route_is_there_wherever_the_board_is_mounted(prefix: str) -> None:
    async with memory_board(admin_key=KEY) as board:
        app = FastAPI()
        app.mount(prefix, create_app(board))
        headers = {"Authorization": f"Bearer {KEY}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://app", headers=headers) as client:
            called = await client.post(f"{prefix}/v1/tools/math_eval/call", json={"expression": "6*7"})
            assert called.json()["result"] == {"result": 42}
            assert (await client.get(f"{prefix}/v1/me")).json()["user"]["name"] == "admin"
            assert (await client.get(f"{prefix}/healthz")).json() == {"status": "ok"}
