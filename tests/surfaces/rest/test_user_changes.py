"""Renaming users and changing their role."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, new_user, problem


async def test_a_role_applies_to_the_keys_of_the_user_at_once(
    stored_board: Pegboard, stored_admin: httpx.AsyncClient
) -> None:
    user_id, key = await new_user(stored_admin, "ada")
    async with client(stored_board, key) as ada:
        problem(await ada.get("/v1/users"), 403)
        changed = good(await stored_admin.patch(f"/v1/users/{user_id}", json={"role": "admin"}))
        assert (changed["name"], changed["role"]) == ("ada", "admin")
        good(await ada.get("/v1/users"))
        good(await stored_admin.patch(f"/v1/users/{user_id}", json={"name": "ada l.", "role": "member"}))
        problem(await ada.get("/v1/users"), 403)
        assert good(await ada.get("/v1/me"))["user"]["name"] == "ada l."
        problem(await ada.patch(f"/v1/users/{user_id}", json={"role": "admin"}), 403)


async def test_a_name_must_be_free(admin: httpx.AsyncClient) -> None:
    user_id, _ = await new_user(admin, "ada")
    await new_user(admin, "bob")
    assert "exists already" in problem(await admin.patch(f"/v1/users/{user_id}", json={"name": "Bob"}), 409)["detail"]
    assert good(await admin.patch(f"/v1/users/{user_id}", json={"name": "Ada"}))["name"] == "Ada"
    assert good(await admin.patch(f"/v1/users/{user_id}", json={}))["name"] == "Ada"


async def test_a_change_of_another_admin_is_not_overwritten(stored_admin: httpx.AsyncClient) -> None:
    user_id, _ = await new_user(stored_admin, "ada")
    read = good(await stored_admin.get(f"/v1/users/{user_id}"))["updated_at"]
    good(await stored_admin.patch(f"/v1/users/{user_id}", json={"name": "ada l.", "updated_at": read}))
    stale = {"name": "countess", "updated_at": read}
    assert "changed meanwhile" in problem(await stored_admin.patch(f"/v1/users/{user_id}", json=stale), 409)["detail"]
    assert good(await stored_admin.get(f"/v1/users/{user_id}"))["name"] == "ada l."


async def test_the_last_admin_with_a_key_and_the_boards_own_admin_stay(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    own = f"/v1/users/{board.admin.user_id}"
    assert "own admin" in problem(await admin.patch(own, json={"role": "member"}), 409)["detail"]
    assert "own admin" in problem(await admin.patch(own, json={"name": "root"}), 409)["detail"]
    user_id, key = await new_user(admin, "ada", "admin")
    async with client(board, key) as ada:
        for row in good(await admin.get(f"{own}/keys"))["items"]:
            good(await ada.delete(f"{own}/keys/{row['id']}"), 204)
        refused = problem(await ada.patch(f"/v1/users/{user_id}", json={"role": "member"}), 409)
        assert "last admin" in refused["detail"]
        await new_user(ada, "bob", "admin")
        assert good(await ada.patch(f"/v1/users/{user_id}", json={"role": "member"}))["role"] == "member"


@pytest.mark.parametrize("body", [{"role": "owner"}, {"name": ""}, {"name": "a\u202eb"}, {"keys": 1}, [], {"name": 5}])
async def test_what_is_no_change_of_a_user_is_refused(admin: httpx.AsyncClient, body: Any) -> None:
    user_id, _ = await new_user(admin, "ada")
    problem(await admin.patch(f"/v1/users/{user_id}", json=body), 422)
    problem(await admin.patch("/v1/users/unknown", json={"name": "x"}), 404)
