"""Search, and who can call a tool: members get only what they may see."""

from __future__ import annotations

from typing import Any

import httpx

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, mock, new_user, problem

SEARCH = "/v1/search"


async def search_types(speaker: httpx.AsyncClient, q: str) -> list[tuple[str, str]]:
    items = good(await speaker.get(SEARCH, params={"q": q}))["items"]
    return [(item["type"], item["name"]) for item in items]


async def test_tools_agents_users_and_executions_are_found(
    stored_admin: httpx.AsyncClient, stored_board: Pegboard
) -> None:
    user_id, key = await new_user(stored_admin, "Rob Otter")
    tool = good(await stored_admin.post("/v1/tools", json=mock("robot_arm")), 201)
    good(await stored_admin.post("/v1/tools", json=mock("arm", description="Part of a robot")), 201)
    agent = good(await stored_admin.post("/v1/agents", json={"name": "robot", "tools": ["echo"]}), 201)
    called = await stored_admin.post("/v1/tools/robot_arm/call", json={})
    execution_id = called.headers["x-execution-id"]
    assert await search_types(stored_admin, "ROB") == [
        ("tool", "robot_arm"),
        ("tool", "arm"),
        ("agent", "robot"),
        ("user", "Rob Otter"),
    ]
    assert await search_types(stored_admin, "arm") == [("tool", "arm"), ("tool", "robot_arm")]
    assert await search_types(stored_admin, execution_id.upper()) == [("execution", "robot_arm")]
    assert await search_types(stored_admin, tool["id"]) == [("tool", "robot_arm")]
    assert await search_types(stored_admin, agent["id"]) == [("agent", "robot")]
    assert await search_types(stored_admin, user_id) == [("user", "Rob Otter")]
    async with client(stored_board, key) as member:
        for text in ("rob", execution_id, tool["id"], agent["id"], user_id):
            assert await search_types(member, text) == []
        good(await member.post("/v1/agents", json={"name": "my robot"}), 201)
        assert await search_types(member, "rob") == [("agent", "my robot")]
    assert await search_types(stored_admin, "\0") == []
    for q in ("", "x" * 256):
        problem(await stored_admin.get(SEARCH, params={"q": q}), 422)


async def test_at_most_20_are_found_of_each_type_some(admin: httpx.AsyncClient, board: Pegboard) -> None:
    good(await admin.post("/v1/apply", json={"tools": [mock(f"crowd_{number}") for number in range(30)]}))
    for number in range(8):
        good(await admin.post("/v1/agents", json={"name": f"crowd {number}"}), 201)
        good(await admin.post("/v1/users", json={"name": f"crowd {number}"}), 201)
    types = [kind for kind, _ in await search_types(admin, "crowd")]
    assert [types.count(kind) for kind in ("tool", "agent", "user")] == [10, 5, 5]


async def reasons(speaker: httpx.AsyncClient, ref: str) -> list[tuple[Any, ...]]:
    items = good(await speaker.get(f"/v1/tools/{ref}/access"))["items"]
    return [(item["because"], item["user_name"], item["agent_name"], item["keys"]) for item in items]


async def test_who_can_call_a_tool_and_why(stored_admin: httpx.AsyncClient, stored_board: Pegboard) -> None:
    ada_id, adas = await new_user(stored_admin, "ada")
    ben_id, bens = await new_user(stored_admin, "ben")
    async with client(stored_board, adas) as ada, client(stored_board, bens) as ben:
        tool = good(await ada.post("/v1/tools", json=mock("hers")), 201)
        agent = good(await ada.post("/v1/agents", json={"name": "robot", "tools": ["hers"]}), 201)
        keys = [good(await ada.post(f"/v1/users/{ada_id}/keys", json={"agent_id": agent["id"]}), 201) for _ in "ab"]
        good(await ada.delete(f"/v1/users/{ada_id}/keys/{keys[0]['id']}"), 204)
        own = [("owner", "ada", None, 1), ("admin", None, None, None), ("agent", "ada", "robot", 1)]
        assert await reasons(ada, "hers") == own
        admin_name = stored_board.admin.name
        (_, (because, name, _, _), _) = await reasons(stored_admin, tool["id"])
        assert (because, name) == ("admin", admin_name)
        problem(await ben.get("/v1/tools/hers/access"), 404)
        good(await ada.patch("/v1/tools/hers", json={"is_public": True, "is_active": False}))
        problem(await ben.get("/v1/tools/hers/access"), 403)
        good(await ben.post("/v1/agents", json={"name": "other", "tools": ["hers"]}), 201)
        assert await reasons(ada, "hers") == [own[0], ("public", None, None, None), *own[1:]]
        assert ("agent", "ben", "other", 0) in await reasons(stored_admin, "hers")
        assert good(await ada.get("/v1/tools/hers/access"))["blocked_by"] == "inactive"
        # A private tool stays on the agent of another user, who can no longer call it.
        good(await ada.patch("/v1/tools/hers", json={"is_public": False}))
        assert ("agent", "ben", "other", 0) not in await reasons(stored_admin, "hers")
        good(await stored_admin.delete(f"/v1/users/{ben_id}"), 204)
    stored_board.tool(name="local")(lambda: 1)
    assert (await reasons(stored_admin, "local"))[0][:2] == ("owner", stored_board.admin.name)
