"""Secrets appear in no response, log line or row; an unreadable credential affects only its tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from dirty_equals import IsPartialDict
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.storage.database import Database
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import client, good, mock, new_user, problem

HTTP = {"url": "https://example.com/{{secret:PATH}}", "method": "GET", "headers": {"X-Key": "hush-header"}}
REFERRING = {"url": "https://example.com", "method": "GET", "headers": {"Authorization": "Bearer {{secret:TOKEN}}"}}
AUTH = {"type": "basic", "username": "hush-user", "password": "hush-password"}


async def test_no_answer_log_line_or_row_holds_a_secret(
    stored_board: Pegboard, stored_admin: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", "pegboard")
    received: list[str] = []

    async def say(method: str, path: str, body: Any = None) -> Any:
        answer = await stored_admin.request(method, path, json=body)
        received.append(answer.text + str(answer.headers))
        return answer

    for name in ("TOKEN", "PATH"):
        await say("PUT", f"/v1/secrets/{name}", {"value": f"hush-{name}"})
    await say("POST", "/v1/tools", mock("a", tool_type="http", config=HTTP, auth_config=AUTH, is_public=True))
    await say("POST", "/v1/tools", mock("b", tool_type="http", config=REFERRING))
    await say("POST", "/v1/tools", mock("c", auth_config=AUTH, keep_arguments=True))
    await say("PATCH", "/v1/tools/a", {"auth_config": {**AUTH, "password": "hush-new"}})
    # Requests whose error messages must not repeat what was sent.
    await say("PATCH", "/v1/tools/a", {"auth_config": {**AUTH, "password": {"hush-nested": "hush"}}})
    await say("POST", "/v1/tools", mock("d", auth_config={"type": "hush-type", "token": "hush-x"}))
    await say("POST", "/v1/tools", mock("d", tool_type="http", config={**HTTP, "headers": {"X": ["hush-list"]}}))
    await say("PUT", "/v1/secrets/BAD", {"value": ["hush-list"]})
    for tool in ("a", "b", "c"):
        await say("POST", f"/v1/tools/{tool}/call", {"password": "mine"})
    for path in ("", "/a", "/b", "/a/versions", "/a/definition"):
        await say("GET", f"/v1/tools{path}")
    for path in ("/v1/secrets", "/v1/definitions", "/v1/executions", "/metrics", "/openapi.json"):
        await say("GET", path)
    await say("POST", "/v1/apply", {"tools": [mock("a", tool_type="http", config=HTTP, auth_config=AUTH)]})
    await say("DELETE", "/v1/tools/a")
    assert not [words for words in received if "hush-" in words.replace("hush-type", "")]
    assert "hush-" not in caplog.text.replace("hush-type", "")
    assert KEY not in caplog.text + "".join(received)
    assert "mock_called" in caplog.text
    assert "'password': '(hidden)'" in caplog.text


async def test_a_reference_to_a_named_secret_is_shown_unchanged(admin: httpx.AsyncClient) -> None:
    shown = good(await admin.post("/v1/tools", json=mock(tool_type="http", config=REFERRING)), 201)
    assert shown["config"]["headers"] == REFERRING["headers"]


async def test_a_reference_in_arguments_is_plain_text(admin: httpx.AsyncClient) -> None:
    good(await admin.put("/v1/secrets/TOKEN", json={"value": "hush"}))
    answer = good(await admin.post("/v1/tools/echo/call", json={"a": "{{secret:TOKEN}}"}))
    assert answer["result"] == {"echo": {"a": "{{secret:TOKEN}}"}}


async def test_a_missing_named_secret_fails_that_tool_until_it_is_set(admin: httpx.AsyncClient) -> None:
    config = {"mock_response": "{{secret:GREETING}}"}
    good(await admin.post("/v1/tools", json=mock(config=config)), 201)
    answer = good(await admin.post("/v1/tools/quote/call"))
    assert answer["error_details"] == {"type": "CONFIG_ERROR", "code": "secret_unreadable"}
    assert "Secret 'GREETING' does not exist" in answer["error"]
    good(await admin.put("/v1/secrets/GREETING", json={"value": "hello"}))
    assert good(await admin.post("/v1/tools/quote/call"))["result"] == "hello"
    good(await admin.put("/v1/secrets/GREETING", json={"value": "goodbye"}))
    assert good(await admin.post("/v1/tools/quote/call"))["result"] == "goodbye"
    good(await admin.delete("/v1/secrets/GREETING"), 204)
    assert good(await admin.post("/v1/tools/quote/call"))["success"] is False


async def test_a_secret_resolves_as_the_tools_owner_and_no_other_user(
    admin: httpx.AsyncClient, board: Pegboard
) -> None:
    _, key = await new_user(admin, "ada")
    good(await admin.put("/v1/secrets/S", json={"value": "of the admin"}))
    async with client(board, key) as ada:
        body = mock("hers", config={"mock_response": "{{secret:S}}"}, is_public=True)
        good(await ada.post("/v1/tools", json=body), 201)
        assert good(await admin.post("/v1/tools/hers/call"))["error_details"]["code"] == "secret_unreadable"
        good(await ada.put("/v1/secrets/S", json={"value": "of ada"}))
    assert good(await admin.post("/v1/tools/hers/call"))["result"] == "of ada"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a board's key file."""
    return tmp_path / "home"


@pytest.fixture
async def reopened(database_url: str, home: Path, request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    """A board with a credential that the test damaged while the board was closed."""
    settings = NoSettings(home=home, admin_key=KEY)
    async with Pegboard.open(database_url, settings=settings) as board:
        await board.add(mock("guarded", auth_config=AUTH))
        await board.add(mock("plain"))
    await request.param(database_url, home)
    async with Pegboard.open(database_url, settings=settings) as board, client(board) as speaker:
        yield speaker


async def corrupt(url: str, _home: Path) -> None:
    database = Database.create(url)
    column = "auth_config" if database.kind == "sqlite" else "auth_config::text"
    back = "" if database.kind == "sqlite" else "::jsonb"
    change = f"UPDATE tools SET auth_config = replace({column}, 'pb1:', 'pb1:0'){back} WHERE name = 'guarded'"
    async with database.change() as step:
        await step.conn.execute(text(change))
    await database.close()


async def flip(url: str, _home: Path) -> None:
    database = Database.create(url)
    async with database.change() as step:
        sealed = (await step.conn.execute(text("SELECT auth_config FROM tools WHERE name = 'guarded'"))).scalar_one()
        written = sealed if isinstance(sealed, str) else json.dumps(sealed)
        place = written.index("pb1:") + 30
        damaged = written[:place] + ("A" if written[place] != "A" else "B") + written[place + 1 :]
        cast = "" if database.kind == "sqlite" else "::jsonb"
        # The value is ours, and a bind parameter would be typed as text.
        await step.conn.exec_driver_sql(f"UPDATE tools SET auth_config = '{damaged}'{cast} WHERE name = 'guarded'")
    await database.close()


async def lose_key_file(_url: str, home: Path) -> None:
    (home / "secret.key").unlink()


async def spoil_key_file(_url: str, home: Path) -> None:
    (home / "secret.key").write_text("not a key file")


@pytest.mark.parametrize("reopened", [corrupt, flip, lose_key_file, spoil_key_file], indirect=True)
async def test_a_credential_that_cannot_be_read_fails_its_tool_and_the_rest_serve(reopened: httpx.AsyncClient) -> None:
    answer = good(await reopened.post("/v1/tools/guarded/call"))
    assert answer["error_details"] == {"type": "CONFIG_ERROR", "code": "secret_unreadable"}
    assert answer["error"].startswith("auth_config cannot be read. A stored credential ")
    assert "hush" not in answer["error"]
    assert good(await reopened.post("/v1/tools/plain/call"))["success"]
    assert good(await reopened.get("/readyz")) == {"status": "ready"}
    shown = good(await reopened.get("/v1/tools/guarded"))
    assert shown["auth_config"] == {"type": "basic", "username": "********", "password": "********"}
    assert good(await reopened.patch("/v1/tools/guarded", json={"description": "still editable"}))["version"] == 2


@pytest.mark.parametrize("reopened", [corrupt, flip], indirect=True)
async def test_it_is_mended_by_setting_it_again(reopened: httpx.AsyncClient) -> None:
    good(await reopened.patch("/v1/tools/guarded", json={"auth_config": AUTH}))
    assert good(await reopened.post("/v1/tools/guarded/call"))["success"]


@pytest.mark.parametrize("reopened", [lose_key_file], indirect=True)
async def test_without_keys_nothing_secret_is_taken_and_it_says_why(reopened: httpx.AsyncClient, home: Path) -> None:
    for answer in (
        await reopened.post("/v1/tools", json=mock("new", auth_config=AUTH)),
        await reopened.put("/v1/secrets/S", json={"value": "x"}),
    ):
        detail = problem(answer, 503)["detail"]
        assert str(home / "secret.key") in detail
        assert "is missing" in detail
    assert good(await reopened.post("/v1/tools", json=mock("new")), 201) == IsPartialDict(name="new")
