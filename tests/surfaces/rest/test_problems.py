"""Errors of the API itself: one form, and messages that help."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem

JSON = {"content-type": "application/json"}


async def test_a_body_that_is_not_json_is_a_bad_request(admin: httpx.AsyncClient) -> None:
    for path in ("/v1/tools", "/v1/calls", "/v1/tools/echo/call", "/v1/users", "/v1/apply"):
        for body in (b"{nope", b'{"a": 1,}', b"{'a': 1}", b'{"a": \xff}', b"[" * 100_000):
            answer = await admin.post(path, content=body, headers=JSON)
            assert problem(answer, 400)["detail"]


async def test_not_a_number_is_refused_when_a_tool_is_called(admin: httpx.AsyncClient) -> None:
    for body in (b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}'):
        assert "Not valid JSON" in problem(await admin.post("/v1/tools/echo/call", content=body), 400)["detail"]


async def test_a_body_of_another_media_type_says_what_to_send(admin: httpx.AsyncClient) -> None:
    answer = await admin.post("/v1/tools", content=json.dumps(mock()), headers={"content-type": "text/plain"})
    assert "sent with 'Content-Type: application/json', not 'text/plain'" in problem(answer, 422)["detail"]


async def test_a_body_that_is_no_object_says_so(admin: httpx.AsyncClient) -> None:
    bodies: list[Any] = [[], "x", 3]
    for body in bodies:
        assert "body: must be a JSON object" in problem(await admin.post("/v1/tools", json=body), 422)["detail"]
    assert "body: required" in problem(await admin.post("/v1/tools"), 422)["detail"]


async def test_no_key_or_a_wrong_one_is_unauthorised_everywhere(board: Pegboard) -> None:
    paths = ["/v1/tools", "/v1/definitions", "/v1/executions", "/v1/agents", "/v1/secrets", "/v1/users", "/v1/me"]
    async with client(board, key=None) as no_one:
        for headers, message in [
            ({}, "A key is needed; send it as 'Authorization: Bearer KEY'"),
            ({"Authorization": "Basic YTpi"}, "must read 'Bearer KEY'"),
            ({"Authorization": "Bearer"}, "must read 'Bearer KEY'"),
            (bearer("pb_nonesuch"), "not known here"),
            (bearer(""), "not known here"),
            ({"Authorization": "Bearer clé-\xff".encode("latin-1")}, "not known here"),
        ]:
            answers = [await no_one.get(path, headers=headers) for path in paths]  # type: ignore[arg-type]
            answers.append(await no_one.post("/v1/tools/echo/call", headers=headers))  # type: ignore[arg-type]
            for answer in answers:
                assert message in problem(answer, 401)["detail"]
                assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_key_is_asked_for_before_anything_is_reported(board: Pegboard) -> None:
    async with client(board, key=None) as no_one:
        problem(await no_one.post("/v1/tools/nonesuch/call?as=nonesuch", content=b"{nope"), 401)
        problem(await no_one.get("/v1/tools/nonesuch"), 401)


async def test_what_only_admins_may_do_is_forbidden_to_members(admin: httpx.AsyncClient, board: Pegboard) -> None:
    _, key = await new_user(admin, "ada")
    async with client(board, key) as ada:
        for answer in (
            await ada.get("/v1/users"),
            await ada.post("/v1/users", json={"name": "eve"}),
            await ada.post("/v1/secrets/rotate"),
            await ada.post("/v1/tools", json=mock(tool_type="shell", config={"command": "true"})),
        ):
            assert "Only admins may" in problem(answer, 403)["detail"]


async def test_a_path_or_method_that_is_not_there_says_what_is(admin: httpx.AsyncClient) -> None:
    assert "There is no GET /v2/tools; " in problem(await admin.get("/v2/tools"), 404)["detail"]
    assert "not found" in problem(await admin.get("/v1/tools/nonesuch"), 404)["detail"]
    for method, path, allowed in (
        ("PUT", "/v1/tools", "GET, POST"),
        ("POST", "/v1/tools/echo", "DELETE, GET, PATCH"),
        ("POST", "/healthz", "GET"),
        ("PATCH", "/v1/secrets/a", "DELETE, PUT"),
        ("GET", "/v1/tools/echo/call", "POST"),
        ("OPTIONS", "/v1/users", "GET, POST"),
    ):
        answer = await admin.request(method, path)
        assert f"There is no {method} {path}; " in problem(answer, 405)["detail"]
        assert answer.headers["allow"] == allowed
    problem(await admin.post("/v1/tools//call"), 404)


async def test_a_conflict_names_its_cause(admin: httpx.AsyncClient) -> None:
    made = good(await admin.post("/v1/tools", json=mock()), 201)
    answer = await admin.post("/v1/tools", json=mock("QUOTE"))
    assert problem(answer, 409)["detail"].startswith("A tool named 'QUOTE' exists already")
    await admin.delete("/v1/tools/quote")
    good(await admin.post("/v1/tools", json=mock("Quote")), 201)
    problem(await admin.post(f"/v1/tools/{made['id']}/restore"), 409)
    problem(await admin.post("/v1/users", json={"name": "ADMIN"}), 409)
    good(await admin.post("/v1/agents", json={"name": "a"}), 201)
    problem(await admin.post("/v1/agents", json={"name": "A"}), 409)


async def test_every_fault_of_a_request_is_listed_by_its_field(admin: httpx.AsyncClient) -> None:
    body = {**mock("9"), "tool_type": "magic", "colour": "red", "rate_limit": {"max_calls": "many"}}
    faults = {
        fault["field"]: fault["message"] for fault in problem(await admin.post("/v1/tools", json=body), 422)["errors"]
    }
    assert set(faults) == {"name", "tool_type", "colour", "rate_limit.max_calls", "rate_limit.period"}
    assert faults["rate_limit.period"] == "required"
    answer = await admin.get("/v1/tools", params={"limit": 0, "is_active": "perhaps", "tool_type": "magic"})
    assert {fault["field"] for fault in problem(answer, 422)["errors"]} == {"limit", "is_active", "tool_type"}


async def test_a_dialect_that_is_not_there_is_refused_with_those_that_are(admin: httpx.AsyncClient) -> None:
    for answer in (
        await admin.post("/v1/tools/echo/call?as=klingon", json={}),
        await admin.post("/v1/calls?from=klingon", json=[]),
        await admin.post("/v1/calls?as=klingon", json=[]),
        await admin.get("/v1/definitions?as=klingon"),
        await admin.get("/v1/tools/echo/definition?as=klingon"),
    ):
        found = problem(answer, 422)
        assert "Unknown dialect 'klingon' in ?" in found["detail"]
        assert found["errors"][0]["field"] in ("as", "from")


@pytest.mark.parametrize(
    "body",
    [
        '{"mock_response": NaN}',
        '{"mock_response": [1e999]}',
        '{"mock_response": 123456789012345678901234567890}',
        '{"mock_response": "\\u0000"}',
        '{"mock_response": "\\ud800"}',
        '{"mock_response": {"\\u0000": 1}}',
        '{"mock_response": ' + "[" * 70 + "]" * 70 + "}",
        '{"mock_response": ' + "[" * 900 + "]" * 900 + "}",
    ],
    ids=lambda body: str(body)[17:40],
)
async def test_a_value_that_no_database_keeps_is_refused_by_its_path(admin: httpx.AsyncClient, body: str) -> None:
    text = json.dumps(mock()).replace('{"mock_response": 1}', body)
    found = problem(await admin.post("/v1/tools", content=text, headers=JSON), 422)
    assert all(fault["field"].startswith("config.mock_response") for fault in found["errors"])
    problem(await admin.get("/v1/tools/quote"), 404)


async def test_a_fault_of_ours_is_reported_as_such_and_its_text_is_in_the_log_alone(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the inner secret")

    monkeypatch.setattr(board.tools, "page", broken)
    async with client(board) as speaker:
        answer = await speaker.get("/v1/tools")
        body = answer.json()
        assert (answer.status_code, body["title"]) == (500, "Internal error")
        assert "inner secret" not in answer.text
        assert "the inner secret" in caplog.text
        good(await speaker.get("/healthz"))


async def test_moments_without_a_zone_or_beyond_the_calendar_are_refused(admin: httpx.AsyncClient) -> None:
    beyond = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
    for moment in (*beyond, "2026-01-01T00:00:00", "2026-01-01", "1767225600", "0.5", "soon", ""):
        for name in ("since", "until"):
            found = problem(await admin.get("/v1/executions", params={name: moment}), 422)
            assert found["errors"][0]["field"] == name
        me = good(await admin.get("/v1/me"))["user"]["id"]
        found = problem(await admin.post(f"/v1/users/{me}/keys", json={"expires_at": moment}), 422)
        assert found["errors"][0]["field"] == "expires_at"
