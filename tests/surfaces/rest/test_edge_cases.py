"""Unusual requests and responses over HTTP, and what other users and agents can see."""

from __future__ import annotations

import httpx
import pytest
from dirty_equals import IsPartialDict

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import client, good, mock, new_user, problem, walked
from tests.surfaces.rest.raw_http import head, read_response, wire

JSON = "Content-Type: application/json"


class TestHalfOfASurrogatePair:
    """A message that JSON cannot contain is converted."""

    @pytest.fixture(autouse=True)
    def odd(self, board: Pegboard) -> None:
        @board.tool
        async def odd() -> None:
            raise ValueError("bad \ud800 text")

    async def test_it_is_answered_over_the_call_route(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        answer = good(await admin.post("/v1/tools/odd/call"))
        assert answer["success"] is False
        assert "bad ? text" in str(answer)
        assert [(row.tool_name, row.status) for row in await calls_of(board)] == [("odd", "failed")]

    async def test_its_neighbours_keep_their_answers(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        calls = [{"name": name, "arguments": {}, "id": str(n)} for n, name in enumerate(("echo", "odd", "echo"))]
        answers = good(await admin.post("/v1/calls", json=calls))
        assert [(answer["id"], answer["success"]) for answer in answers] == [("0", True), ("1", False), ("2", True)]
        assert "bad ? text" in str(answers[1])
        assert len(await calls_of(board)) == 3


async def test_an_admins_agent_key_lists_is_handed_and_calls_the_same_tools(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    _, ada_key = await new_user(admin, "ada")
    async with client(board, ada_key) as ada:
        for name in ("ada_private", "ada_other"):
            good(await ada.post("/v1/tools", json=mock(name)), 201)
    for name in ("admin_private", "admin_other"):
        good(await admin.post("/v1/tools", json=mock(name)), 201)
    good(await admin.post("/v1/tools", json=mock("admin_public", is_public=True)), 201)
    on_it = {"ada_private", "admin_private", "echo"}
    agent = good(await admin.post("/v1/agents", json={"name": "helper", "tools": sorted(on_it)}), 201)
    me = good(await admin.get("/v1/me"))["user"]["id"]
    key = good(await admin.post(f"/v1/users/{me}/keys", json={"agent_id": agent["id"]}), 201)["key"]
    every = on_it | {"ada_other", "admin_other", "admin_public", "math_eval"}
    async with client(board, key) as bound:
        assert {tool["name"] for tool in await walked(bound, "/v1/tools", limit=1)} == on_it
        assert {tool["name"] for tool in good(await bound.get("/v1/definitions"))} == on_it
        assert {n for n in every if good(await bound.post(f"/v1/tools/{n}/call"))["success"]} == on_it
        assert {n for n in every if (await bound.get(f"/v1/tools/{n}")).status_code == 200} == on_it


class TestStrangers:
    """A user who may call a public tool and nothing else."""

    async def test_they_are_not_shown_what_a_tool_falls_back_to(
        self, board: Pegboard, admin: httpx.AsyncClient
    ) -> None:
        _, key = await new_user(admin, "bob")
        good(await admin.post("/v1/tools", json=mock(is_public=True, fallback={"tool": "hush_tool"})), 201)
        good(await admin.post("/v1/tools", json=mock("other", is_public=True, fallback={"value": "hush_value"})), 201)
        assert good(await admin.get("/v1/tools/quote"))["fallback"] == IsPartialDict(tool="hush_tool")
        async with client(board, key) as bob:
            for path in ("/v1/tools", "/v1/tools/quote", "/v1/tools/other", "/v1/definitions"):
                shown = await bob.get(path)
                assert shown.status_code == 200
                assert "quote" in shown.text or "other" in shown.text
                assert "hush" not in shown.text
            assert good(await bob.get("/v1/tools/quote")).get("fallback") is None

    async def test_a_deleted_public_tool_has_no_versions_for_them(
        self, board: Pegboard, admin: httpx.AsyncClient
    ) -> None:
        _, key = await new_user(admin, "bob")
        made = good(await admin.post("/v1/tools", json=mock(is_public=True)), 201)
        path = f"/v1/tools/{made['id']}/versions"
        async with client(board, key) as bob:
            problem(await bob.get(path), 403)
            good(await admin.delete("/v1/tools/quote"), 204)
            problem(await bob.get(path), 404)
            assert problem(await bob.get("/v1/tools/quote/versions"), 404)["detail"] == "Tool 'quote' not found"
        assert good(await admin.get(path))["items"]


async def test_a_tool_that_is_defined_in_code_is_found_by_its_id(board: Pegboard, admin: httpx.AsyncClient) -> None:
    @board.tool
    def in_code() -> int:
        return 1

    by_name = good(await admin.get("/v1/tools/in_code"))
    assert good(await admin.get(f"/v1/tools/{by_name['id'].upper()}")) == by_name
    assert good(await admin.post(f"/v1/tools/{by_name['id']}/call"))["result"] == 1
    problem(await admin.get(f"/v1/tools/{by_name['id']}/versions"), 403)


async def test_versions_name_their_author_to_admins_and_to_the_author(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    _, key = await new_user(admin, "ada")
    async with client(board, key) as ada:
        good(await ada.post("/v1/tools", json=mock()), 201)
        good(await admin.patch("/v1/tools/quote", json={"description": "d"}))
        for speaker, names in ((ada, [None, "ada"]), (admin, ["admin", "ada"])):
            versions = good(await speaker.get("/v1/tools/quote/versions"))["items"]
            assert [version["created_by_name"] for version in versions] == names


class TestOnTheWire:
    """Requests that no client library would send."""

    @pytest.mark.parametrize(("method", "path"), [("POST", "/v1/tools/echo/call"), ("GET", "/v1/me")])
    @pytest.mark.parametrize("second", [KEY, "another-key"])
    async def test_two_authorization_headers_are_none(
        self, board: Pegboard, method: str, path: str, second: str
    ) -> None:
        async with served(board) as url:
            for keys in ((KEY, second), (second, KEY)):
                async with wire(url) as stream:
                    more = f"Authorization: Bearer {keys[1]}"
                    await stream.send(head(method, path, more, "Content-Length: 0", key=keys[0]))
                    status, headers, body = await read_response(stream)
                assert (status, headers["www-authenticate"]) == (401, "Bearer")
                assert "one Authorization header" in body["detail"]
            async with wire(url) as stream:
                await stream.send(head(method, path, "Content-Length: 0"))
                assert (await read_response(stream))[0] == 200
        assert len(await calls_of(board)) == (1 if method == "POST" else 0)

    async def test_head_is_get_without_the_body_and_the_connection_continues(self, board: Pegboard) -> None:
        async with served(board) as url, wire(url) as stream:
            await stream.send(
                head("HEAD", "/healthz", key=None) + head("GET", "/healthz", "Connection: close", key=None)
            )
            raw = b""
            async for part in stream:
                raw += part
        first, _, rest = raw.partition(b"\r\n\r\n")
        assert first.startswith(b"HTTP/1.1 200 ")
        assert rest.startswith(b"HTTP/1.1 200 "), "the answer to HEAD has a body"
        assert rest.partition(b"\r\n\r\n")[2]

    async def test_five_gigabytes_are_refused_before_they_are_sent(self, board: Pegboard) -> None:
        async with served(board) as url, wire(url) as stream:
            await stream.send(head("POST", "/v1/tools/echo/call", f"Content-Length: {5 * 2**30}", JSON))
            status, headers, body = await read_response(stream)
        assert (status, headers["content-type"]) == (413, "application/problem+json")
        assert "4,194,304 bytes" in body["detail"]
        assert await calls_of(board) == []


@pytest.mark.parametrize("kind", ["http", "mcp"])
@pytest.mark.parametrize("start", ["https://user:pw-hush@", "http://user@", "https://:pw-hush@"])
async def test_a_url_with_a_password_is_refused_naming_auth_config(
    admin: httpx.AsyncClient, kind: str, start: str
) -> None:
    field = "url" if kind == "http" else "server_url"
    more = {"method": "GET"} if kind == "http" else {"tool": "t"}
    definition = {"name": "far", "tool_type": kind, "input_schema": {"type": "object"}}
    answer = await admin.post("/v1/tools", json={**definition, "config": {field: f"{start}host/", **more}})
    assert "auth_config" in problem(answer, 422)["detail"]
    assert "pw-hush" not in answer.text
    problem(await admin.get("/v1/tools/far"), 404)


async def test_millions_of_small_values_are_malformed_before_anything_looks_at_them(
    admin: httpx.AsyncClient, board: Pegboard
) -> None:
    body = b'{"a":[' + b",".join([b"0"] * 1_900_000) + b"]}"
    assert len(body) <= board.settings.max_body_bytes
    answer = good(await admin.post("/v1/tools/echo/call", content=body))
    assert answer["success"] is False
    assert "Arguments hold more than 524,288 values" in str(answer)
    (row,) = await calls_of(board)
    assert (row.status, row.code) == ("refused", "malformed_arguments")


@pytest.mark.parametrize("name", ["a\u202eb", "a\u200bb", "a\nb", "a\x00b"])
async def test_names_of_people_hold_nothing_that_cannot_be_seen(admin: httpx.AsyncClient, name: str) -> None:
    for path in ("/v1/users", "/v1/agents"):
        refused = problem(await admin.post(path, json={"name": name}), 422)
        assert "must not contain control, invisible or direction characters" in refused["detail"]


async def test_an_agent_can_be_sent_back_as_it_was_read(admin: httpx.AsyncClient) -> None:
    for name in ("stays", "goes"):
        good(await admin.post("/v1/tools", json=mock(name)), 201)
    body = {"name": "bot", "description": "helps", "tools": ["stays", "goes"]}
    agent = good(await admin.post("/v1/agents", json=body), 201)
    await admin.delete("/v1/tools/goes")
    path = f"/v1/agents/{agent['id']}"
    assert good(await admin.patch(path, json={"tools": agent["tools"]}))["tools"] == agent["tools"]
    assert good(await admin.patch(path, json={"name": "bot2"}))["description"] == "helps"
    assert good(await admin.patch(path, json={"description": None}))["description"] is None


async def test_executions_are_found_by_any_spelling_of_the_name(admin: httpx.AsyncClient) -> None:
    await admin.post("/v1/tools/echo/call", json={})
    found = good(await admin.get("/v1/executions", params={"tool": "ECHO"}))
    assert [row["tool_name"] for row in found["items"]] == ["echo"]


@pytest.mark.parametrize("path", ["/v1/tools/echo/call", "/v1/tools"])
async def test_a_body_that_stops_coming_is_given_up(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("pegboard.surfaces.rest.asgi_request.BODY_TIMEOUT_SECONDS", 0.1)
    async with served(board) as url, wire(url) as stream:
        lines = ("Content-Type: application/json", "Content-Length: 100")
        await stream.send(head("POST", path, *lines) + b'{"a": ')
        answer = await read_response(stream)
        assert answer[0] == 408
        assert "The body arrived too slowly" in answer[2]["detail"]
