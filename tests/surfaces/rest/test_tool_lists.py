"""Lists of tools: as summaries, by the time of the last update, filtered and counted, on both databases."""

from __future__ import annotations

from typing import Any

import httpx
import orjson

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, mock, new_user, problem

TOOLS = "/v1/tools"


async def names(speaker: httpx.AsyncClient, **params: Any) -> list[str]:
    return [tool["name"] for tool in good(await speaker.get(TOOLS, params=params))["items"]]


async def test_a_summary_has_at_most_300_bytes(stored_admin: httpx.AsyncClient) -> None:
    texts = {
        "plain": "A short text.",
        "long": "word " * 400,
        "quoted": '"\\\x7f\u2028' * 400,
        "wide": "\U0001f600é" * 900,
        "lines": "one\n\ttwo",
    }
    for name, text in texts.items():
        made = mock(
            name, description=text, tags=[f"{name}-{number}" for number in range(20)] if name != "plain" else []
        )
        good(await stored_admin.post(TOOLS, json=made), 201)
    page = good(await stored_admin.get(TOOLS, params={"view": "summary", "limit": 200}))
    rows = {row["name"]: row for row in page["items"]}
    assert (page["next_cursor"], page["count"]) == (None, None)
    assert all(len(orjson.dumps(row)) <= 300 for row in rows.values())
    whole = good(await stored_admin.get(f"{TOOLS}/plain"))
    assert rows["plain"] == {
        "id": whole["id"],
        "name": "plain",
        "tool_type": "mock",
        "owner_id": whole["owner_id"],
        "version": 1,
        "updated_at": whole["updated_at"][:19] + "Z",
        "description": "A short text.",
    }
    assert rows["long"]["tags"] == [f"long-{number}" for number in range(len(rows["long"]["tags"]))]
    good(await stored_admin.patch(f"{TOOLS}/plain", json={"is_active": False, "is_public": True}))
    (row,) = good(await stored_admin.get(TOOLS, params={"view": "summary", "q": "plain"}))["items"]
    assert (row["is_active"], row["is_public"], row["version"]) == (False, True, 2)


async def test_a_long_name_is_whole_in_a_summary(stored_admin: httpx.AsyncClient) -> None:
    name = "n" * 200
    good(await stored_admin.post(TOOLS, json=mock(name, description="text", tags=["a"])), 201)
    (row,) = good(await stored_admin.get(TOOLS, params={"view": "summary", "q": name}))["items"]
    assert row["name"] == name
    assert "description" not in row


async def test_the_last_updated_tool_comes_first_page_by_page(
    stored_admin: httpx.AsyncClient, stored_board: Pegboard
) -> None:
    for name in ("a", "b", "c"):
        good(await stored_admin.post(TOOLS, json=mock(name)), 201)
    stored_board.tool(name="local")(lambda: 1)
    good(await stored_admin.patch(f"{TOOLS}/a", json={"description": "changed"}))
    whole = await names(stored_admin, sort="updated_at", limit=200)
    assert whole[:4] == ["a", "local", "c", "b"]
    assert sorted(whole, key=str.lower) == await names(stored_admin, limit=200)
    walked: list[str] = []
    cursor = None
    for _ in whole:
        params: dict[str, Any] = {"sort": "updated_at", "limit": 1, **({"cursor": cursor} if cursor else {})}
        page = good(await stored_admin.get(TOOLS, params=params))
        walked += [tool["name"] for tool in page["items"]]
        cursor = page["next_cursor"]
    assert (walked, cursor) == (whole, None)


async def test_a_cursor_of_another_order_is_refused(stored_admin: httpx.AsyncClient) -> None:
    for one, other in (("name", "updated_at"), ("updated_at", "name")):
        page = good(await stored_admin.get(TOOLS, params={"sort": one, "limit": 1}))
        problem(await stored_admin.get(TOOLS, params={"sort": other, "cursor": page["next_cursor"]}), 422)


async def test_tools_are_filtered_by_drift_owner_and_agent_and_counted(
    stored_admin: httpx.AsyncClient, stored_board: Pegboard
) -> None:
    ada_id, key = await new_user(stored_admin, "ada")
    for name in ("one", "two"):
        good(await stored_admin.post(TOOLS, json=mock(name)), 201)
    async with client(stored_board, key) as ada:
        for name in ("hers", "shared"):
            good(await ada.post(TOOLS, json=mock(name, is_public=name == "shared")), 201)
        agent = good(await ada.post("/v1/agents", json={"name": "robot", "tools": ["hers", "echo"]}), 201)
        assert await names(stored_admin, owner=ada_id) == ["hers", "shared"]
        assert await names(stored_admin, agent=agent["id"]) == ["echo", "hers"]
        assert await names(stored_admin, agent=agent["id"], sort="updated_at") == ["hers", "echo"]
        assert await names(ada, agent=agent["id"], q="her") == ["hers"]
        assert "one" not in await names(ada, owner=stored_board.admin.user_id, limit=200)
        tool = await stored_board.tools.get("one", stored_board.admin)
        await stored_board.tools.flag([tool])
        assert await names(stored_admin, drifted=True) == ["one"]
        assert await names(ada, drifted=True) == []
        stored_board.tool(name="local", is_public=True)(lambda: 1)
        for speaker in (stored_admin, ada):
            filters: tuple[dict[str, Any], ...] = (
                {},
                {"agent": agent["id"]},
                {"owner": ada_id},
                {"drifted": True},
                {"q": "o"},
            )
            for params in filters:
                found = await names(speaker, **params, limit=200)
                for view in ("full", "summary"):
                    page = good(await speaker.get(TOOLS, params={**params, "count": True, "view": view, "limit": 1}))
                    assert page["count"] == len(found)
        good(await stored_admin.delete(f"{TOOLS}/one"), 204)
        assert await names(ada, deleted=True, owner=stored_board.admin.user_id) == []
        assert await names(stored_admin, deleted=True, owner=stored_board.admin.user_id) == ["one"]
        other = good(await stored_admin.post("/v1/agents", json={"name": "other", "tools": ["two"]}), 201)
        problem(await ada.get(TOOLS, params={"agent": other["id"]}), 404)
        problem(await ada.get(TOOLS, params={"owner": ada_id, "mine": True}), 422)


async def test_a_key_of_an_agent_counts_the_tools_of_that_agent(board: Pegboard, admin: httpx.AsyncClient) -> None:
    agent = good(await admin.post("/v1/agents", json={"name": "robot", "tools": ["echo"]}), 201)

    made = good(await admin.post(f"/v1/users/{board.admin.user_id}/keys", json={"agent_id": agent["id"]}), 201)
    async with client(board, made["key"]) as speaker:
        page = good(await speaker.get(TOOLS, params={"count": True, "view": "summary"}))
        assert ([row["name"] for row in page["items"]], page["count"]) == (["echo"], 1)
        assert await names(speaker, agent=agent["id"]) == ["echo"]
