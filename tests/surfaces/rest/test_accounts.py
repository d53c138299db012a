"""Users, keys, agents and secrets over HTTP, and the permissions for each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Conflict
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem, walked


@pytest.fixture
async def ada(board: Pegboard, admin: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """A member."""
    _, key = await new_user(admin, "ada")
    async with client(board, key) as speaker:
        yield speaker


async def me(speaker: httpx.AsyncClient) -> str:
    return str(good(await speaker.get("/v1/me"))["user"]["id"])


class TestUsers:
    async def test_an_admin_makes_lists_reads_and_removes_them(self, admin: httpx.AsyncClient) -> None:
        made = good(await admin.post("/v1/users", json={"name": "ada", "role": "member"}), 201)
        assert set(made) == {"id", "name", "role", "created_at", "updated_at"}
        assert good(await admin.get(f"/v1/users/{made['id']}")) == made
        assert [user["name"] for user in await walked(admin, "/v1/users")] == ["admin", "ada"]
        good(await admin.delete(f"/v1/users/{made['id']}"), 204)
        problem(await admin.get(f"/v1/users/{made['id']}"), 404)
        problem(await admin.delete(f"/v1/users/{made['id']}"), 404)
        assert good(await admin.post("/v1/users", json={"name": "ada"}), 201)["id"] != made["id"]

    async def test_members_see_themselves_alone(self, admin: httpx.AsyncClient, ada: httpx.AsyncClient) -> None:
        assert good(await ada.get(f"/v1/users/{await me(ada)}"))["name"] == "ada"
        problem(await ada.get(f"/v1/users/{await me(admin)}"), 404)
        problem(await ada.delete(f"/v1/users/{await me(admin)}"), 403)

    async def test_names_are_checked(self, admin: httpx.AsyncClient) -> None:
        for body in ({"name": ""}, {"name": "x" * 256}, {"name": "a\u0000b"}, {"name": "a\nb"}, {}, {"name": 3}):
            assert problem(await admin.post("/v1/users", json=body), 422)["errors"][0]["field"] == "name"
        assert problem(await admin.post("/v1/users", json={"name": "x", "role": "root"}), 422)

    async def test_the_boards_own_admin_stays(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        problem(await admin.delete(f"/v1/users/{await me(admin)}"), 409)
        _, key = await new_user(admin, "second", "admin")
        async with client(board, key) as second:
            assert (
                "is the board's own admin"
                in problem(await second.delete(f"/v1/users/{await me(admin)}"), 409)["detail"]
            )
            problem(await second.delete(f"/v1/users/{await me(second)}"), 409)
        good(await admin.get("/v1/me"))

    async def test_a_removed_users_keys_are_void_at_once(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        good(await ada.post("/v1/tools", json=mock(is_public=True)), 201)
        good(await admin.delete(f"/v1/users/{await me(ada)}"), 204)
        problem(await ada.get("/v1/me"), 401)
        problem(await ada.post("/v1/tools/quote/call"), 401)
        assert good(await admin.post("/v1/tools/quote/call"))["success"]


class TestKeys:
    async def test_a_key_is_shown_once_and_opens_what_its_user_may(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        made = good(await ada.post(f"/v1/users/{await me(ada)}/keys", json={"name": "laptop"}), 201)
        key = made.pop("key")
        assert key.startswith(made["prefix"])
        assert len(made["prefix"]) < len(key) / 2
        listed = good(await ada.get(f"/v1/users/{await me(ada)}/keys"))["items"]
        assert made in listed
        assert not any("key" in row or "key_hash" in row for row in listed)
        assert good(await ada.get("/v1/me", headers=bearer(key)))["key_id"] == made["id"]

    async def test_a_user_sees_which_of_their_keys_an_admin_made(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        keys = f"/v1/users/{await me(ada)}/keys"
        good(await ada.post(keys, json={"name": "own"}), 201)
        made = good(await admin.post(keys, json={"name": "admin's"}), 201)
        assert (made["created_by"], made["created_by_name"]) == (await me(admin), "admin")
        creators = {key["name"]: key["created_by_name"] for key in good(await ada.get(keys))["items"]}
        assert creators == {"": "admin", "own": "ada", "admin's": "admin"}

    async def test_no_one_makes_or_sees_or_revokes_keys_of_others(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        theirs = f"/v1/users/{await me(admin)}/keys"
        key_id = good(await admin.get(theirs))["items"][0]["id"]
        problem(await ada.get(theirs), 404)
        problem(await ada.post(theirs, json={}), 404)
        problem(await ada.delete(f"{theirs}/{key_id}"), 404)
        problem(await ada.delete(f"/v1/users/{await me(ada)}/keys/{key_id}"), 404)
        good(await admin.get("/v1/me"))

    async def test_a_revoked_key_is_refused_from_then_on(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        keys = f"/v1/users/{await me(ada)}/keys"
        made = good(await ada.post(keys, json={}), 201)
        good(await ada.get("/v1/me", headers=bearer(made["key"])))
        for _ in range(2):
            good(await ada.delete(f"{keys}/{made['id']}"), 204)
        for answer in (
            await ada.get("/v1/me", headers=bearer(made["key"])),
            await ada.post("/v1/tools/echo/call", headers=bearer(made["key"])),
        ):
            assert "This key was revoked" in problem(answer, 401)["detail"]
        revoked = next(row for row in good(await ada.get(keys))["items"] if row["id"] == made["id"])
        assert revoked["revoked_at"] is not None

    async def test_the_key_of_the_request_is_revoked_only_with_force(self, ada: httpx.AsyncClient) -> None:
        own = good(await ada.get("/v1/me"))
        path = f"/v1/users/{own['user']['id']}/keys/{own['key_id']}"
        detail = problem(await ada.delete(path), 409)["detail"]
        assert "You are using this key now" in detail and "force=true" in detail
        assert detail.endswith("an admin gives you a new key with: pegboard keys create ada")
        good(await ada.delete(path, params={"force": "true"}), 204)
        problem(await ada.get("/v1/me"), 401)

    async def test_the_last_valid_key_of_an_admin_is_revoked_only_with_force(
        self, stored_board: Pegboard, stored_admin: httpx.AsyncClient
    ) -> None:
        admin = stored_admin
        own = good(await admin.get("/v1/me"))
        user = own["user"]["id"]
        path = f"/v1/users/{user}/keys/{own['key_id']}"
        other = good(await admin.post(f"/v1/users/{user}/keys", json={}), 201)["id"]
        await new_user(admin, "ada")
        # With a second key, the refusal is about the key in use; without, about the last key.
        assert "You are using this key now" in problem(await admin.delete(path), 409)["detail"]
        good(await admin.delete(f"/v1/users/{user}/keys/{other}"), 204)
        detail = problem(await admin.delete(path), 409)["detail"]
        assert "the last valid key of an admin" in detail
        assert detail.endswith("on the machine of the board, run: pegboard --local keys create")
        with pytest.raises(Conflict, match="the last valid key of an admin"):
            await stored_board.people.revoke_key(user, own["key_id"], stored_board.admin)
        good(await admin.delete(path, params={"force": "true"}), 204)
        problem(await admin.get("/v1/me"), 401)

    async def test_an_expired_key_is_refused_from_its_moment_on(
        self, ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keys = f"/v1/users/{await me(ada)}/keys"
        soon = datetime.now(UTC) + timedelta(hours=1)
        made = good(await ada.post(keys, json={"expires_at": soon.isoformat()}), 201)
        good(await ada.get("/v1/me", headers=bearer(made["key"])))
        monkeypatch.setattr(time, "time", lambda: soon.timestamp() + 0.001)
        for answer in (
            await ada.get("/v1/me", headers=bearer(made["key"])),
            await ada.post("/v1/tools/echo/call", headers=bearer(made["key"])),
        ):
            assert "This key has expired" in problem(answer, 401)["detail"]
        good(await ada.get("/v1/me"))

    async def test_an_expiry_in_the_past_is_refused(self, ada: httpx.AsyncClient) -> None:
        past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
        answer = await ada.post(f"/v1/users/{await me(ada)}/keys", json={"expires_at": past})
        assert problem(answer, 422)["errors"] == [{"field": "expires_at", "message": "must be in the future"}]


class TestAgents:
    async def test_an_owner_makes_lists_changes_and_removes_them(self, ada: httpx.AsyncClient) -> None:
        tool = good(await ada.post("/v1/tools", json=mock()), 201)
        made = good(await ada.post("/v1/agents", json={"name": "helper", "tools": ["quote"], "description": "d"}), 201)
        assert made["tools"] == [tool["id"]]
        assert good(await ada.get(f"/v1/agents/{made['id']}")) == made
        assert await walked(ada, "/v1/agents") == [made]
        changed = good(await ada.patch(f"/v1/agents/{made['id']}", json={"tools": ["echo", "quote"]}))
        assert (changed["name"], changed["description"], len(changed["tools"])) == ("helper", "d", 2)
        assert [tool["name"] for tool in good(await ada.get(f"/v1/agents/{made['id']}/definitions"))] == [
            "echo",
            "quote",
        ]
        good(await ada.delete(f"/v1/agents/{made['id']}"), 204)
        problem(await ada.get(f"/v1/agents/{made['id']}"), 404)
        problem(await ada.patch(f"/v1/agents/{made['id']}", json={"name": "x"}), 404)
        problem(await ada.delete(f"/v1/agents/{made['id']}"), 404)

    async def test_others_do_not_see_them_and_an_admin_sees_all(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        made = good(await admin.post("/v1/agents", json={"name": "helper"}), 201)
        path = f"/v1/agents/{made['id']}"
        for answer in (
            await ada.get(path),
            await ada.patch(path, json={"name": "mine"}),
            await ada.delete(path),
            await ada.get(f"{path}/definitions"),
        ):
            problem(answer, 404)
        assert await walked(ada, "/v1/agents") == []
        mine = good(await ada.post("/v1/agents", json={"name": "helper"}), 201)
        assert [agent["id"] for agent in await walked(admin, "/v1/agents")] == [made["id"], mine["id"]]

    async def test_a_tool_that_one_may_not_call_cannot_be_put_on_one(
        self, admin: httpx.AsyncClient, ada: httpx.AsyncClient
    ) -> None:
        good(await admin.post("/v1/tools", json=mock("private")), 201)
        found = problem(await ada.post("/v1/agents", json={"name": "a", "tools": ["echo", "private"]}), 422)
        assert found["errors"] == [{"field": "tools.1", "message": "Tool 'private' not found"}]

    async def test_two_changes_at_once_both_hold(self, board: Pegboard, ada: httpx.AsyncClient) -> None:
        made = good(await ada.post("/v1/agents", json={"name": "helper"}), 201)
        await asyncio.gather(
            ada.patch(f"/v1/agents/{made['id']}", json={"name": "renamed"}),
            ada.patch(f"/v1/agents/{made['id']}", json={"tools": ["echo"]}),
            ada.patch(f"/v1/agents/{made['id']}", json={"description": "words"}),
        )
        after = good(await ada.get(f"/v1/agents/{made['id']}"))
        assert (after["name"], len(after["tools"]), after["description"]) == ("renamed", 1, "words")


class TestSecrets:
    async def test_a_secret_is_set_listed_renewed_and_removed_and_never_shown(self, ada: httpx.AsyncClient) -> None:
        for value in ("first-hush", "second-hush"):
            answer = await ada.put("/v1/secrets/API_TOKEN", json={"value": value})
            assert set(good(answer)) == {"name", "created_at", "updated_at"}
            assert "hush" not in answer.text
        listed = await walked(ada, "/v1/secrets")
        assert [secret["name"] for secret in listed] == ["API_TOKEN"]
        assert "hush" not in str(listed)
        good(await ada.delete("/v1/secrets/API_TOKEN"), 204)
        problem(await ada.delete("/v1/secrets/API_TOKEN"), 404)
        assert await walked(ada, "/v1/secrets") == []

    async def test_a_secret_names_what_refers_to_it(self, admin: httpx.AsyncClient, ada: httpx.AsyncClient) -> None:
        base: dict[str, Any] = {"tool_type": "http", "input_schema": {"type": "object"}}
        bearer = {"type": "bearer", "token": "prefix-{{secret:A}}"}
        headers = {"X-One": "{{secret:A}}", "X-Two": "sealed {{secret:B}}"}
        url = "https://api.example/x"
        one = good(
            await ada.post(
                "/v1/tools", json={**base, "name": "one", "config": {"url": url, "method": "GET", "headers": headers}}
            ),
            201,
        )
        config = {"url": f"{url}?key={{{{secret:B}}}}", "method": "GET"}
        two = good(
            await ada.post("/v1/tools", json={**base, "name": "two", "config": config, "auth_config": bearer}), 201
        )
        good(
            await admin.post(
                "/v1/tools", json={**base, "name": "other", "config": {"url": url, "method": "GET", "headers": headers}}
            ),
            201,
        )
        for name in "ABC":
            good(await ada.put(f"/v1/secrets/{name}", json={"value": "x"}))
        found = {each["name"]: (each["used_by"], each["uses"]) for each in await walked(ada, "/v1/secrets")}
        uses = [{"type": "tool", "id": tool["id"], "name": tool["name"]} for tool in (one, two)]
        assert found == {"A": (uses, 2), "B": (uses, 2), "C": ([], 0)}

    async def test_every_user_has_their_own(self, admin: httpx.AsyncClient, ada: httpx.AsyncClient) -> None:
        good(await admin.put("/v1/secrets/A", json={"value": "x"}))
        assert await walked(ada, "/v1/secrets") == []
        problem(await ada.delete("/v1/secrets/A"), 404)
        assert [secret["name"] for secret in await walked(admin, "/v1/secrets")] == ["A"]

    @pytest.mark.parametrize(
        ("name", "body", "field"),
        [
            ("$root", {"value": "x"}, "name"),
            ("1a", {"value": "x"}, "name"),
            ("a b", {"value": "x"}, "name"),
            ("é", {"value": "x"}, "name"),
            ("A", {"value": "x" * 70_000}, "value"),
            ("A", {"value": 3}, "value"),
            ("A", {}, "value"),
            ("A", {"value": "x", "more": 1}, "more"),
        ],
    )
    async def test_names_and_values_are_checked(
        self, admin: httpx.AsyncClient, name: str, body: dict[str, Any], field: str
    ) -> None:
        found = problem(await admin.put(f"/v1/secrets/{name}", json=body), 422)
        assert [fault["field"] for fault in found["errors"]] == [field]
        problem(await admin.delete(f"/v1/secrets/{name}"), 404)
