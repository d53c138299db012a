"""The tables file over REST: the active version, and reloading it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from dirty_equals import IsStr

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import client, good, new_user, problem
from tests.table_databases import A_MOOD, log_mood, make_mood_entries, rows_of, write_tables


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with a table of moods."""
    found = f"sqlite:///{tmp_path}/mood.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    await make_mood_entries(found)
    return str(found)


@pytest.fixture
def file(tmp_path: Path, url: str) -> Path:
    """The tables file, with one table."""
    return write_tables(tmp_path / "tables.json", log_mood(public=True), database=url)


@pytest.fixture
async def tabled(file: Path) -> AsyncIterator[Pegboard]:
    """A board with that file."""
    async with memory_board(admin_key=KEY, tables=file, drain_seconds=2) as board:
        yield board


@pytest.fixture
async def speaker(tabled: Pegboard) -> AsyncIterator[httpx.AsyncClient]:
    """The admin of that board."""
    async with client(tabled) as opened:
        yield opened


async def test_the_tables_in_force_are_listed_with_how_they_are(
    speaker: httpx.AsyncClient, file: Path, url: str
) -> None:
    missing = log_mood(toolId="log-other", tableName="other_entries", batch=True, public=False, audit=True)
    write_tables(file, log_mood(public=True), missing, database=url)
    good(await speaker.post("/v1/tables/reload"))
    answer = good(await speaker.get("/v1/tables"))
    assert answer["file"] == str(file)
    assert answer["loaded_at"]
    assert answer["error"] is None
    mood, other = answer["items"]
    assert {key: mood[key] for key in ("tool_id", "table", "status", "problems", "public", "audit")} == {
        "tool_id": "log-mood",
        "table": "mood_entries",
        "status": "ok",
        "problems": [],
        "public": True,
        "audit": False,
    }
    assert (mood["batch_tool_id"], mood["schema"], mood["source"], mood["display_name"]) == (
        None,
        None,
        None,
        "Log mood",
    )
    assert mood["database"].startswith(("sqlite:///", "postgresql://"))
    assert (other["status"], other["batch_tool_id"], other["public"], other["audit"]) == (
        "disabled",
        "log-other-batch",
        False,
        True,
    )
    assert [found["code"] for found in other["problems"]] == ["table_not_found"]
    assert "other_entries" in other["problems"][0]["message"]


async def test_a_table_tool_is_called_like_any_other(speaker: httpx.AsyncClient, url: str) -> None:
    answer = good(await speaker.post("/v1/tools/log-mood/call", json=A_MOOD))
    assert answer["success"] is True
    assert answer["data"]["id"] == 1
    assert await rows_of(url, "SELECT count(*) FROM mood_entries") == [(1,)]
    tool = good(await speaker.get("/v1/tools/log-mood"))
    assert (tool["tool_type"], tool["config"]["tableName"]) == ("table", "mood_entries")


async def test_a_password_is_not_shown(speaker: httpx.AsyncClient, file: Path) -> None:
    write_tables(file, log_mood(), database="postgresql://nobody:not-a-secret@127.0.0.1:1/nowhere")
    answer = await speaker.post("/v1/tables/reload")
    assert good(answer)["items"][0]["database"] == "postgresql://nobody:***@127.0.0.1:1/nowhere"
    assert good(answer)["items"][0]["problems"][0]["code"] == "P1001"
    assert "not-a-secret" not in answer.text


async def test_a_broken_file_is_refused_with_every_fault_and_the_former_stays(
    speaker: httpx.AsyncClient, file: Path
) -> None:
    write_tables(file, log_mood(tableNam="x"), log_mood(description=1))
    refused = problem(await speaker.post("/v1/tables/reload"), 422)
    assert {fault["field"] for fault in refused["errors"]} >= {"tables.0.tableNam", "tables.1.description"}
    answer = good(await speaker.get("/v1/tables"))
    assert answer["error"] == {"message": refused["detail"], "errors": refused["errors"]}
    assert [item["tool_id"] for item in answer["items"]] == ["log-mood"]
    assert good(await speaker.post("/v1/tools/log-mood/call", json=A_MOOD))["success"] is True


async def test_only_admins_see_or_reload_the_tables(tabled: Pegboard, speaker: httpx.AsyncClient) -> None:
    _, key = await new_user(speaker, "somebody")
    async with client(tabled, key) as other_user:
        assert "admins" in problem(await other_user.get("/v1/tables"), 403)["detail"]
        problem(await other_user.post("/v1/tables/reload"), 403)
        assert good(await other_user.post("/v1/tools/log-mood/call", json=A_MOOD))["success"] is True


async def test_a_table_tool_is_private_unless_the_file_says_public(
    tabled: Pegboard, speaker: httpx.AsyncClient, file: Path, url: str
) -> None:
    _, key = await new_user(speaker, "somebody")
    write_tables(file, log_mood(), database=url)
    good(await speaker.post("/v1/tables/reload"))
    async with client(tabled, key) as other_user:
        answer = good(await other_user.post("/v1/tools/log-mood/call", json=A_MOOD))
        assert answer["error"] == IsStr(regex="Tool 'log-mood' not found.*")
        problem(await other_user.get("/v1/tools/log-mood"), 404)
    assert await rows_of(url, "SELECT count(*) FROM mood_entries") == [(0,)]


async def test_a_key_of_an_agent_sees_nothing_of_it_though_an_admin_made_it(
    tabled: Pegboard, speaker: httpx.AsyncClient
) -> None:
    me = good(await speaker.get("/v1/me"))["user"]["id"]
    agent = good(await speaker.post("/v1/agents", json={"name": "one", "tools": ["log-mood"]}), 201)
    made = good(await speaker.post(f"/v1/users/{me}/keys", json={"agent_id": agent["id"]}), 201)
    async with client(tabled, made["key"]) as bound:
        problem(await bound.get("/v1/tables"), 403)
        assert good(await bound.post("/v1/tools/log-mood/call", json=A_MOOD))["success"] is True


async def test_without_a_file_the_list_is_empty_and_a_reload_says_what_to_set(admin: httpx.AsyncClient) -> None:
    empty: dict[str, Any] = {"file": None, "loaded_at": None, "error": None, "items": []}
    assert good(await admin.get("/v1/tables")) == empty
    assert "PEGBOARD_TABLES" in problem(await admin.post("/v1/tables/reload"), 409)["detail"]


async def test_a_tool_of_the_file_is_changed_in_the_file_alone(speaker: httpx.AsyncClient) -> None:
    refused = problem(await speaker.patch("/v1/tools/log-mood", json={"description": "x"}), 403)
    assert "PEGBOARD_TABLES" in refused["detail"]
    problem(await speaker.delete("/v1/tools/log-mood"), 403)
