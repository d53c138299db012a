"""The state of the running board, for admins."""

from __future__ import annotations

import os
from pathlib import Path

import httpx

from pegboard import Pegboard
from pegboard.settings import Settings
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import client, good, new_user, problem

SECRET_KEY = "Z29sZGVuLWpvdXJuYWwta2V5LW9mLTMyLWJ5dGVzISE="


async def test_an_admin_sees_the_state_of_the_board(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, secret_key=SECRET_KEY, database_url=database_url)
    async with Pegboard.open(settings=settings) as board, client(board) as admin:
        await board.call("echo", {})
        answer = await admin.get("/v1/board")
        state = good(answer)
        assert (state["version"], state["not_ready"]) == ("test", [])
        assert state["database"]["kind"] == board.database.kind
        assert state["database"]["revision"] == board.snapshot.revision
        assert [process["pid"] for process in state["processes"]] == [os.getpid()]
        assert state["spool"]["trouble"] is None
        assert {"database", "migrations", "encryption key"} <= {each["check"] for each in state["checks"]}
        assert all(each["level"] == "ok" for each in state["checks"] if each["check"] in ("database", "migrations"))
        assert [each["check"] for each in state["spool"]["checks"]] == ["journal spool"]
        assert state["sandbox"]["checks"]
        # The server still works: the check of spools did not remove the spool of this process.
        assert (await board.call("echo", {})).problem is None
        hidden = {"admin_key", "secret_key", "redis_url", "database_url"}
        assert set(state["settings"]) == set(Settings.model_fields) - hidden
        assert state["settings"]["max_depth"] == 64
        for secret in (KEY, SECRET_KEY):
            assert secret not in answer.text


async def test_the_checks_are_shared_for_a_while(board: Pegboard, admin: httpx.AsyncClient) -> None:
    first, second = good(await admin.get("/v1/board")), good(await admin.get("/v1/board"))
    assert first["checks"] == second["checks"]
    assert second["checked_seconds_ago"] >= first["checked_seconds_ago"]


async def test_a_member_does_not_see_it(admin: httpx.AsyncClient, board: Pegboard) -> None:
    _, key = await new_user(admin, "ada")
    async with client(board, key) as ada:
        problem(await ada.get("/v1/board"), 403)
