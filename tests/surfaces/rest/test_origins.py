"""The servers that HTTP tools call: which tools, and whether calls to them fail."""

from __future__ import annotations

from typing import Any

import httpx

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import client, good, new_user
from tests.upstreams import answer, answer_json, upstream


def fetch(name: str, url: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "tool_type": "http",
        "config": {"url": url, "method": "GET"},
        "input_schema": {"type": "object"},
        **more,
    }


async def list_origins(speaker: httpx.AsyncClient) -> list[dict[str, Any]]:
    found = good(await speaker.get("/v1/upstreams/origins"))
    assert found["more"] is False
    return list(found["items"])


async def test_an_origin_has_its_tools_and_its_circuit_opens_with_the_code_of_the_failure() -> None:
    async with memory_board(admin_key=KEY, egress_allow="127.0.0.1") as board, client(board) as admin:
        async with upstream(answer(503)) as failing, upstream(answer_json(1)) as server:
            broken = failing.url
            for definition in (
                fetch("b", f"{broken}/b", retry={"max_attempts": 1}),
                fetch("a", f"{broken}/a?x=1"),
                fetch("fine", f"{server.url}/fine"),
            ):
                good(await admin.post("/v1/tools", json=definition), 201)
            assert [each["circuit"] for each in await list_origins(admin)] == ["closed", "closed"]
            assert good(await admin.post("/v1/tools/fine/call", json={}))["success"]
            for _ in range(5):
                assert good(await admin.post("/v1/tools/b/call", json={}))["error_details"]["code"] == "upstream_failed"
            first, second = await list_origins(admin)
        assert (first["origin"], first["circuit"], first["open_circuits"]) == (broken, "open", 1)
        assert [tool["name"] for tool in first["tools"]] == ["a", "b"]
        assert first["tool_count"] == 2
        assert first["last_error_code"] == "upstream_failed"
        assert first["last_failed_at"] is not None
        assert (second["circuit"], second["open_circuits"], second["last_failed_at"]) == ("closed", 0, None)


async def test_a_member_sees_the_origins_of_their_own_tools(admin: httpx.AsyncClient, board: Pegboard) -> None:
    _, key = await new_user(admin, "ada")
    good(await admin.post("/v1/tools", json=fetch("theirs", "https://one.example/x")), 201)
    async with client(board, key) as ada:
        good(await ada.post("/v1/tools", json=fetch("own", "https://two.example:8443/x")), 201)
        assert [each["origin"] for each in await list_origins(ada)] == ["https://two.example:8443"]
    assert [each["origin"] for each in await list_origins(admin)] == [
        "https://one.example:443",
        "https://two.example:8443",
    ]
