"""Lists: complete when read page by page, stable while others write, hostile cursors refused, on both databases."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import orjson
import pytest

from pegboard import Pegboard
from pegboard.model.ids import new_id
from tests.surfaces.rest.clients import good, mock, problem, walked

LISTS = ["/v1/tools", "/v1/tools/quote/versions", "/v1/users", "/v1/agents", "/v1/secrets", "/v1/executions"]


def cursor(*parts: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


async def fill(admin: httpx.AsyncClient, number: int) -> None:
    """Add this many rows to each list."""
    good(await admin.post("/v1/tools", json=mock()), 201)
    for each in range(number):
        good(await admin.patch("/v1/tools/quote", json={"description": f"words {each}"}))
        good(await admin.post("/v1/users", json={"name": f"user {each}"}), 201)
        good(await admin.post("/v1/agents", json={"name": f"agent {each}"}), 201)
        good(await admin.put(f"/v1/secrets/s{each}", json={"value": "x"}))
        good(await admin.post("/v1/tools/echo/call", json={"n": each}))
    tools = [mock(f"{'tool' if each % 2 else 'TOOL'}_{each}") for each in range(number)]
    good(await admin.post("/v1/apply", json={"tools": tools}))


async def test_every_list_is_the_same_in_pages_of_any_size(stored_admin: httpx.AsyncClient) -> None:
    await fill(stored_admin, 4)
    for path in LISTS:
        whole = await walked(stored_admin, path, limit=200)
        assert len(whole) >= 4
        for limit in (1, 2, 3, len(whole), len(whole) - 1):
            assert await walked(stored_admin, path, limit=limit) == whole, path


async def test_the_orders_are_by_name_newest_first_and_oldest_first(stored_admin: httpx.AsyncClient) -> None:
    await fill(stored_admin, 3)
    names = [tool["name"] for tool in await walked(stored_admin, "/v1/tools")]
    assert names == sorted(names, key=str.lower)
    versions = [version["version"] for version in await walked(stored_admin, "/v1/tools/quote/versions")]
    assert versions == [4, 3, 2, 1]
    executions = [row["id"] for row in await walked(stored_admin, "/v1/executions")]
    assert executions == sorted(executions, reverse=True)
    assert [user["name"] for user in await walked(stored_admin, "/v1/users")][1:] == ["user 0", "user 1", "user 2"]


async def test_a_walk_sees_what_was_there_once_while_others_write(stored_admin: httpx.AsyncClient) -> None:
    await fill(stored_admin, 4)
    for path in ("/v1/tools", "/v1/executions", "/v1/users"):
        before = [row["id"] for row in await walked(stored_admin, path)]
        seen: list[str] = []
        place: str | None = None
        step = 0
        while True:
            page = good(await stored_admin.get(path, params={"limit": 2, **({"cursor": place} if place else {})}))
            seen += [row["id"] for row in page["items"]]
            place = page["next_cursor"]
            if place is None:
                break
            step += 1
            good(await stored_admin.post("/v1/tools", json=mock(f"{'azm'[step % 3]}{path[4]}_{step}")), 201)
            good(await stored_admin.post("/v1/tools/echo/call", json={}))
        assert len(seen) == len(set(seen))
        assert [row for row in seen if row in set(before)] == before


HOSTILE = [
    "garbage",
    "é",
    "",
    "=",
    cursor(),
    cursor("x"),
    cursor("x", "y"),
    cursor("x", new_id(), "z"),
    cursor("\0"),
    cursor("a\0", new_id()),
    cursor("é", new_id()),
    cursor("a", "\0"),
    cursor("²"),
    cursor("9" * 30),
    cursor("-1"),
    cursor("00000000-0000-0000-0000-00000000000g"),
    cursor(1),
    cursor(None),
    cursor(["x"]),
    base64.urlsafe_b64encode(b'{"a": 1}').decode(),
    base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    "A" * 5000,
]


async def test_a_hostile_cursor_is_refused_by_every_list(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools", json=mock()), 201)
    for path in LISTS:
        for hostile in HOSTILE:
            found = problem(await stored_admin.get(path, params={"cursor": hostile}), 422)
            assert found["errors"][0]["field"] == "cursor"


async def test_a_cursor_of_another_list_or_of_nothing_there_does_no_harm(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools", json=mock()), 201)
    assert good(await stored_admin.get("/v1/tools", params={"cursor": cursor("zzz", new_id())}))["items"] == []
    assert good(await stored_admin.get("/v1/users", params={"cursor": cursor(new_id())}))["items"] == []


@pytest.mark.parametrize("limit", ["0", "-1", "201", "many", "1.5", "99999999999999999999"])
async def test_a_page_has_1_to_200_items(admin: httpx.AsyncClient, limit: str) -> None:
    good(await admin.post("/v1/tools", json=mock()), 201)
    for path in LISTS:
        found = problem(await admin.get(path, params={"limit": limit}), 422)
        assert found["errors"][0]["field"] == "limit"


class TestToolFilters:
    async def test_by_kind_state_tag_owner_and_words(
        self, stored_board: Pegboard, stored_admin: httpx.AsyncClient
    ) -> None:
        for body in (
            mock("weather", tags=["city", "free"], description="Rain and SUN in a town"),
            mock("stocks", tags=["money"], is_active=False),
            mock("forecast", tags=["city"], is_public=True, tool_type="builtin", config={"operation": "echo"}),
            mock("odd_100", description="100% sure_thing \\ 'quoted'"),
        ):
            good(await stored_admin.post("/v1/tools", json=body), 201)

        async def found(**params: str) -> list[str]:
            return [tool["name"] for tool in await walked(stored_admin, "/v1/tools", limit=2, **params)]

        assert await found(tag="city") == ["forecast", "weather"]
        assert await found(tag="cit") == []
        assert await found(is_active="false") == ["stocks"]
        assert await found(is_public="true", tag="city") == ["forecast"]
        assert await found(tool_type="mock") == ["odd_100", "stocks", "weather"]
        assert await found(tool_type="builtin", is_public="true", q="fore") == ["forecast"]
        assert await found(q="SUN IN") == ["weather"]
        assert await found(q="sun in") == ["weather"]
        assert await found(q="WEATH") == ["weather"]
        assert await found(mine="true", tag="money") == ["stocks"]
        for letters in ("100%", "sure_thing", "\\", "'quoted'", "100% s"):
            assert await found(q=letters) == ["odd_100"]
        for nothing in ("%", "_", "*", "\0", "'; DROP TABLE tools; --"):
            assert "weather" not in await found(q=nothing)
            assert await found(tag=nothing) == []

    async def test_tools_of_this_process_are_in_the_list_in_their_place(
        self, board: Pegboard, admin: httpx.AsyncClient
    ) -> None:
        @board.tool(is_public=True, tags=["local"])
        async def eagle(n: int) -> int:
            """Flies high."""
            return n

        names = [tool["name"] for tool in await walked(admin, "/v1/tools", limit=1)]
        assert names == sorted(names)
        assert "eagle" in names
        assert [tool["name"] for tool in await walked(admin, "/v1/tools", q="flies")] == ["eagle"]
        assert [tool["name"] for tool in await walked(admin, "/v1/tools", tag="local")] == ["eagle"]
        internal = await walked(admin, "/v1/tools", tool_type="internal")
        assert [tool["name"] for tool in internal if "baseline" not in tool["tags"]] == ["eagle"]
        for answer in (
            await admin.patch("/v1/tools/eagle", json={"is_active": False}),
            await admin.delete("/v1/tools/eagle"),
        ):
            assert "is defined in the code of the process" in problem(answer, 403)["detail"]
        assert "exists already" in problem(await admin.post("/v1/tools", json=mock("EAGLE")), 409)["detail"]


class TestExecutionFilters:
    async def test_by_tool_status_code_and_time(self, stored_admin: httpx.AsyncClient) -> None:
        made = good(await stored_admin.post("/v1/tools", json=mock(input_schema=NEEDS_A)), 201)
        for name, body in (("quote", {"a": 1}), ("quote", {}), ("nonesuch", {}), ("math_eval", {"expression": "1/0"})):
            good(await stored_admin.post(f"/v1/tools/{name}/call", json=body))

        async def found(**params: str) -> list[tuple[str, str, str | None]]:
            rows = await walked(stored_admin, "/v1/executions", limit=1, **params)
            return [(row["tool_name"], row["status"], row["code"]) for row in rows]

        refused, succeeded = ("quote", "refused", "missing"), ("quote", "succeeded", None)
        missing, failed = ("nonesuch", "refused", "tool_not_found"), ("math_eval", "failed", "execution_failed")
        assert await found() == [failed, missing, refused, succeeded]
        assert await found(tool="quote") == await found(tool=made["id"]) == [refused, succeeded]
        assert await found(tool=made["id"].upper()) == [refused, succeeded]
        assert await found(status="refused") == [missing, refused]
        assert await found(code="missing") == [refused]
        assert await found(status="failed", tool="math_eval") == [failed]
        assert await found(since="2020-01-01T00:00:00Z", until="2020-01-02T00:00Z") == []
        assert len(await found(since="2020-01-01T00:00:00+02:00")) == 4
        for nothing in ("\0", "x" * 5000, "'; --"):
            assert await found(tool=nothing) == []
            assert await found(code=nothing) == []


NEEDS_A = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
