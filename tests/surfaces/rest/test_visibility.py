"""Who sees, calls, transfers and may change which tools (member, admin, a key bound to an agent)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, mock, new_user, problem, walked

BUILTINS = {
    "batch_baseline_query",
    "calculate_rsi",
    "current_time",
    "echo",
    "json_query",
    "math_eval",
    "query_baseline",
    "record_findings",
    "resolve_findings",
}


class VisibilityBoard:
    """An admin and two members, each with a private and a public tool of their own."""

    def __init__(self, admin: httpx.AsyncClient, ada: httpx.AsyncClient, bob: httpx.AsyncClient, ada_id: str) -> None:
        self.admin, self.ada, self.bob, self.ada_id = admin, ada, bob, ada_id


@pytest.fixture
async def visibility(board: Pegboard, admin: httpx.AsyncClient) -> AsyncIterator[VisibilityBoard]:
    """A board with all users and tools of these tests."""
    (ada_id, ada_key), (_, bob_key) = await new_user(admin, "ada"), await new_user(admin, "bob")
    async with client(board, ada_key) as ada, client(board, bob_key) as bob:
        for name, speaker in (("admin", admin), ("ada", ada), ("bob", bob)):
            good(await speaker.post("/v1/tools", json=mock(f"{name}_private")), 201)
            good(await speaker.post("/v1/tools", json=mock(f"{name}_public", is_public=True)), 201)
        yield VisibilityBoard(admin, ada, bob, ada_id)


async def listed(speaker: httpx.AsyncClient) -> set[str]:
    return {tool["name"] for tool in await walked(speaker, "/v1/tools")} - BUILTINS


async def offered(speaker: httpx.AsyncClient) -> set[str]:
    return {tool["name"] for tool in good(await speaker.get("/v1/definitions"))} - BUILTINS


async def callable_(speaker: httpx.AsyncClient) -> set[str]:
    names = [f"{name}_{kind}" for name in ("admin", "ada", "bob") for kind in ("private", "public")]
    return {name for name in names if good(await speaker.post(f"/v1/tools/{name}/call"))["success"]}


async def test_a_member_calls_and_lists_their_own_tools_and_public_ones(visibility: VisibilityBoard) -> None:
    theirs = {"ada_private", "ada_public", "admin_public", "bob_public"}
    assert await callable_(visibility.ada) == await listed(visibility.ada) == theirs


async def test_an_admin_calls_and_lists_all(visibility: VisibilityBoard) -> None:
    assert len(await callable_(visibility.admin)) == 6
    assert await listed(visibility.admin) == await callable_(visibility.admin)


async def test_a_model_is_handed_ones_own_tools_and_the_public_ones_of_admins(visibility: VisibilityBoard) -> None:
    assert await offered(visibility.ada) == {"ada_private", "ada_public", "admin_public"}
    assert await offered(visibility.admin) == {"admin_private", "admin_public"}
    assert {tool["name"] for tool in good(await visibility.bob.get("/v1/definitions"))} >= BUILTINS


async def test_an_inactive_tool_is_not_handed_and_still_listed(visibility: VisibilityBoard) -> None:
    good(await visibility.ada.patch("/v1/tools/ada_private", json={"is_active": False}))
    assert "ada_private" not in await offered(visibility.ada)
    assert "ada_private" in await listed(visibility.ada)


async def test_another_users_private_tool_is_not_found_in_every_way(visibility: VisibilityBoard) -> None:
    answer = good(await visibility.ada.post("/v1/tools/bob_private/call"))
    missing = good(await visibility.ada.post("/v1/tools/nonesuch/call"))
    assert answer["error"] == "Tool 'bob_private' not found"
    assert answer["error_details"] == missing["error_details"]
    tool_id = good(await visibility.bob.get("/v1/tools/bob_private"))["id"]
    for ref in ("bob_private", tool_id):
        for found in (
            await visibility.ada.get(f"/v1/tools/{ref}"),
            await visibility.ada.get(f"/v1/tools/{ref}/definition"),
            await visibility.ada.get(f"/v1/tools/{ref}/versions"),
            await visibility.ada.patch(f"/v1/tools/{ref}", json={"is_public": True}),
            await visibility.ada.delete(f"/v1/tools/{ref}"),
        ):
            assert f"Tool '{ref}' not found" in problem(found, 404)["detail"]
        restored = problem(await visibility.ada.post(f"/v1/tools/{ref}/restore"), 404)
        missing = problem(await visibility.ada.post("/v1/tools/nonesuch/restore"), 404)
        assert restored["detail"].replace(ref, "nonesuch") == missing["detail"]


async def test_registering_a_taken_name_shows_nothing_else_of_a_private_tool(visibility: VisibilityBoard) -> None:
    detail = problem(await visibility.ada.post("/v1/tools", json=mock("bob_private")), 409)["detail"]
    assert detail == "A tool named 'bob_private' exists already; names are unique without regard to case"


async def test_another_users_public_tool_can_be_read_and_not_changed(visibility: VisibilityBoard) -> None:
    shown = good(await visibility.ada.get("/v1/tools/bob_public"))
    assert (shown["config"], shown["auth_config"]) == (None, None)
    assert good(await visibility.bob.get("/v1/tools/bob_public"))["config"] == {"mock_response": 1}
    assert good(await visibility.admin.get("/v1/tools/bob_public"))["config"] == {"mock_response": 1}
    for answer in (
        await visibility.ada.patch("/v1/tools/bob_public", json={"is_public": False}),
        await visibility.ada.delete("/v1/tools/bob_public"),
        await visibility.ada.get("/v1/tools/bob_public/versions"),
    ):
        assert "belongs to another user" in problem(answer, 403)["detail"]


async def test_deleted_tools_are_listed_to_their_owner_and_admins(visibility: VisibilityBoard) -> None:
    good(await visibility.ada.delete("/v1/tools/ada_public"), 204)
    for speaker, expected in (
        (visibility.ada, ["ada_public"]),
        (visibility.bob, []),
        (visibility.admin, ["ada_public"]),
    ):
        assert [tool["name"] for tool in await walked(speaker, "/v1/tools", deleted="true")] == expected
    tool_id = (await walked(visibility.ada, "/v1/tools", deleted="true"))[0]["id"]
    problem(await visibility.bob.post(f"/v1/tools/{tool_id}/restore"), 404)
    assert good(await visibility.admin.post(f"/v1/tools/{tool_id}/restore"))["owner_id"] == visibility.ada_id


async def test_the_journal_shows_ones_own_calls_and_everybodys_to_admins(visibility: VisibilityBoard) -> None:
    for speaker in (visibility.ada, visibility.bob):
        good(await speaker.post("/v1/tools/echo/call"))
    assert {row["caller"] for row in await walked(visibility.ada, "/v1/executions")} == {"ada"}
    rows = await walked(visibility.admin, "/v1/executions")
    assert {row["caller"] for row in rows} == {"ada", "bob"}
    of_bob = next(row["id"] for row in rows if row["caller"] == "bob")
    problem(await visibility.ada.get(f"/v1/executions/{of_bob}"), 404)
    good(await visibility.admin.get(f"/v1/executions/{of_bob}"))


class TestKeyBoundToAnAgent:
    """The key calls the tools of its agent and does nothing else."""

    @pytest.fixture
    async def bound(self, board: Pegboard, visibility: VisibilityBoard) -> AsyncIterator[httpx.AsyncClient]:
        agent = good(
            await visibility.ada.post(
                "/v1/agents", json={"name": "helper", "tools": ["ada_private", "bob_public", "echo"]}
            ),
            201,
        )
        body = {"agent_id": agent["id"], "name": "bound"}
        made = good(await visibility.ada.post(f"/v1/users/{visibility.ada_id}/keys", json=body), 201)
        async with client(board, made["key"]) as speaker:
            yield speaker

    async def test_it_calls_lists_and_is_handed_the_agents_tools_alone(self, bound: httpx.AsyncClient) -> None:
        assert await callable_(bound) == {"ada_private", "bob_public"}
        assert good(await bound.post("/v1/tools/echo/call"))["success"]
        assert good(await bound.post("/v1/tools/math_eval/call"))["error"] == "Tool 'math_eval' not found"
        names = {"ada_private", "bob_public", "echo"}
        assert {tool["name"] for tool in await walked(bound, "/v1/tools")} == names
        assert {tool["name"] for tool in good(await bound.get("/v1/definitions"))} == names

    async def test_its_list_is_whole_however_many_other_tools_there_are(
        self, visibility: VisibilityBoard, bound: httpx.AsyncClient
    ) -> None:
        many = [mock(f"a{number:02}", is_public=True) for number in range(30)]
        good(await visibility.admin.post("/v1/apply", json={"tools": many}))
        for limit in (1, 2, 50):
            found = [tool["name"] for tool in await walked(bound, "/v1/tools", limit=limit)]
            assert found == ["ada_private", "bob_public", "echo"]
        assert [tool["name"] for tool in await walked(bound, "/v1/tools", q="PUBLIC")] == ["bob_public"]
        assert await walked(bound, "/v1/tools", deleted="true") == []

    async def test_it_changes_nothing(self, visibility: VisibilityBoard, bound: httpx.AsyncClient) -> None:
        agent_id = good(await bound.get("/v1/me"))["agent_id"]
        for answer in (
            await bound.post("/v1/tools", json=mock("x")),
            await bound.patch("/v1/tools/ada_private", json={"is_active": False}),
            await bound.delete("/v1/tools/ada_private"),
            await bound.post("/v1/apply", json={"tools": []}),
            await bound.post(f"/v1/users/{visibility.ada_id}/keys", json={}),
            await bound.put("/v1/secrets/a", json={"value": "x"}),
            await bound.delete("/v1/secrets/a"),
            await bound.post("/v1/agents", json={"name": "other"}),
            await bound.patch(f"/v1/agents/{agent_id}", json={"tools": []}),
            await bound.delete(f"/v1/agents/{agent_id}"),
        ):
            assert "bound to an agent" in problem(answer, 403)["detail"]

    async def test_a_key_of_an_admin_that_is_bound_is_no_master_key(
        self, board: Pegboard, visibility: VisibilityBoard
    ) -> None:
        agent = good(await visibility.admin.post("/v1/agents", json={"name": "mine", "tools": ["echo"]}), 201)
        admin_id = good(await visibility.admin.get("/v1/me"))["user"]["id"]
        made = good(await visibility.admin.post(f"/v1/users/{admin_id}/keys", json={"agent_id": agent["id"]}), 201)
        async with client(board, made["key"]) as bound:
            assert await callable_(bound) == set()
            problem(await bound.get("/v1/users"), 403)
            problem(await bound.post("/v1/secrets/rotate"), 403)

    async def test_a_tool_taken_off_the_agent_or_an_agent_removed_is_felt_at_once(
        self, visibility: VisibilityBoard, bound: httpx.AsyncClient
    ) -> None:
        agent_id = good(await bound.get("/v1/me"))["agent_id"]
        good(await visibility.ada.patch(f"/v1/agents/{agent_id}", json={"tools": ["echo"]}))
        assert await callable_(bound) == set()
        good(await visibility.ada.delete(f"/v1/agents/{agent_id}"), 204)
        refused = problem(await bound.post("/v1/tools/echo/call"), 401)
        assert "The agent of this key was removed" in refused["detail"]

    async def test_it_can_only_be_bound_to_an_agent_of_its_user(self, visibility: VisibilityBoard) -> None:
        agent = good(await visibility.bob.post("/v1/agents", json={"name": "his"}), 201)
        for agent_id in (agent["id"], "nonesuch"):
            found = problem(
                await visibility.ada.post(f"/v1/users/{visibility.ada_id}/keys", json={"agent_id": agent_id}), 422
            )
            assert found["errors"][0]["field"] == "agent_id"
