"""Tools over HTTP: a response can be sent back, builtin tools are read-only, changes apply at once."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from dirty_equals import IsPartialDict

from pegboard import Pegboard
from pegboard.registry.tool_create import ToolCreate
from tests.surfaces.rest.clients import client, good, mock, new_user, problem, walked

EVERYTHING: dict[str, Any] = {
    **mock(),
    "description": "d",
    "output_schema": {"type": "integer"},
    "auth_config": {"type": "bearer", "token": "hush"},
    "rate_limit": {"max_calls": 5, "period": "minute"},
    "is_public": True,
    "display_name": "Quote",
    "tags": ["a", "b"],
    "timeout": 2.5,
    "unknown_parameters": "reject",
    "result_style": "detailed",
    "retry": {"max_attempts": 2, "on": ["timeout", "contract_violation"], "backoff_ms": 5},
    "fallback": {"tool": "echo"},
    "idempotent": True,
    "read_only": True,
    "destructive": True,
    "keep_arguments": True,
    "keep_result": True,
    "max_result_bytes": 1000,
    "display": {"result": {"style": "money", "currency": "EUR"}},
    "on_disconnect": "detach",
}


async def test_what_is_shown_of_a_tool_can_be_sent_back_and_changes_nothing(admin: httpx.AsyncClient) -> None:
    assert set(EVERYTHING) == set(ToolCreate.model_fields) - {"is_active"}
    shown = good(await admin.post("/v1/tools", json=EVERYTHING), 201)
    own = {name: shown[name] for name in ToolCreate.model_fields}
    assert good(await admin.patch("/v1/tools/quote", json=own))["version"] == 1
    plan = good(await admin.post("/v1/apply", json={"tools": [own]}))
    assert plan == {"created": [], "updated": {}, "unchanged": ["quote"], "deleted": []}


async def test_a_dry_run_checks_a_new_tool_as_its_registration_would_and_saves_nothing(
    admin: httpx.AsyncClient,
) -> None:
    shown = good(await admin.post("/v1/tools?dry_run=true", json=EVERYTHING), 200)
    assert shown["name"] == "quote"
    assert "hush" not in str(shown)
    assert (await admin.get("/v1/tools/quote")).status_code == 404
    created = good(await admin.post("/v1/tools", json=EVERYTHING), 201)
    own = set(ToolCreate.model_fields)
    assert {name: shown[name] for name in own} == {name: created[name] for name in own}
    problem(await admin.post("/v1/tools?dry_run=true", json=EVERYTHING), 409)
    refused = problem(
        await admin.post("/v1/tools?dry_run=true", json={**EVERYTHING, "name": "other", "timeout": -1}), 422
    )
    assert [fault["field"] for fault in refused["errors"]] == ["timeout"]


async def test_a_dry_run_checks_a_change_and_saves_nothing(admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=EVERYTHING), 201)
    change = {"description": "e", "config": {"mock_response": 2}, "version": 1}
    shown = good(await admin.patch("/v1/tools/quote?dry_run=true", json=change))
    assert (shown["description"], shown["version"], shown["config"]) == ("e", 2, {"mock_response": 2})
    assert good(await admin.get("/v1/tools/quote"))["description"] == "d"
    problem(await admin.patch("/v1/tools/quote?dry_run=true", json={**change, "version": 7}), 409)
    problem(await admin.patch("/v1/tools/quote?dry_run=true", json={"name": "math_eval"}), 409)
    problem(await admin.patch("/v1/tools/quote?dry_run=true", json={"config": {"unknown": 1}}), 422)


async def test_null_puts_every_optional_field_back_to_its_default(admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=EVERYTHING), 201)
    optional = [name for name, field in ToolCreate.model_fields.items() if not field.is_required()]
    after = good(await admin.patch("/v1/tools/quote", json=dict.fromkeys(optional)))
    fresh = good(await admin.post("/v1/tools", json=mock("fresh")), 201)
    assert {name: after[name] for name in optional} == {name: fresh[name] for name in optional}


async def test_a_fallback_is_a_value_or_a_tool_and_never_itself(admin: httpx.AsyncClient) -> None:
    for number, fallback in enumerate(
        ({"value": None}, {"value": 0}, {"tool": "echo"}, {"value": None, "tool": "echo"})
    ):
        good(await admin.post("/v1/tools", json=mock(f"t{number}", fallback=fallback)), 201)
    for fallback in ({}, {"value": 1, "tool": "echo"}, {"tool": None}, {"tool": ""}, {"tool": "QUOTE"}, 3):
        problem(await admin.post("/v1/tools", json=mock(fallback=fallback)), 422)


async def test_versions_show_what_was_and_mask_what_is_secret(admin: httpx.AsyncClient, board: Pegboard) -> None:
    http = {"url": "https://example.com", "method": "GET", "headers": {"X-Key": "hush-one"}}
    body = mock(tool_type="http", config=http, auth_config={"type": "bearer", "token": "hush-two"}, is_public=True)
    good(await admin.post("/v1/tools", json=body), 201)
    good(await admin.patch("/v1/tools/quote", json={"config": {**http, "headers": {"X-Key": "hush-three"}}}))
    answer = await admin.get("/v1/tools/quote/versions")
    newest, oldest = good(answer)["items"]
    assert "hush" not in answer.text
    assert "$sealed" not in answer.text
    assert (newest["version"], oldest["version"]) == (2, 1)
    for version in (newest, oldest):
        assert version["definition"]["config"]["headers"] == {"X-Key": "********"}
        assert version["definition"]["auth_config"] == {"type": "bearer", "token": "********"}
    good(await admin.delete("/v1/tools/quote"), 204)
    tool_id = (await walked(admin, "/v1/tools", deleted="true"))[0]["id"]
    assert len(good(await admin.get(f"/v1/tools/{tool_id}/versions"))["items"]) == 2


async def test_restoring_is_by_id_and_harmless_when_repeated(admin: httpx.AsyncClient) -> None:
    made = good(await admin.post("/v1/tools", json=mock()), 201)
    assert good(await admin.post(f"/v1/tools/{made['id']}/restore"))["version"] == 1
    good(await admin.delete(f"/v1/tools/{made['id']}"), 204)
    for _ in range(2):
        assert good(await admin.post(f"/v1/tools/{made['id']}/restore")) == IsPartialDict(is_deleted=False, version=1)
    problem(await admin.post("/v1/tools/quote/restore"), 404)
    problem(await admin.post("/v1/tools/urn:uuid:00000000-0000-0000-0000-000000000000/restore"), 404)


async def test_a_shipped_tool_can_be_adjusted_and_not_redefined(admin: httpx.AsyncClient) -> None:
    changed = good(
        await admin.patch("/v1/tools/echo", json={"is_active": False, "rate_limit": {"max_calls": 1, "period": "hour"}})
    )
    assert changed["is_active"] is False
    redefining: list[dict[str, Any]] = [
        {"name": "other"},
        {"description": "x"},
        {"config": {"operation": "math_eval"}},
        {"input_schema": {}},
    ]
    for patch in redefining:
        assert "is shipped with the board" in problem(await admin.patch("/v1/tools/echo", json=patch), 403)["detail"]
    good(await admin.delete("/v1/tools/math_eval"), 204)
    assert good(await admin.post("/v1/tools/math_eval/call", json={"expression": "1"}))["success"] is False


async def test_two_patches_at_once_both_hold_without_a_version(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools", json=mock()), 201)
    patches: list[dict[str, Any]] = [{"description": "d"}, {"tags": ["t"]}]
    answers = await asyncio.gather(*(stored_admin.patch("/v1/tools/quote", json=patch) for patch in patches))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert good(await stored_admin.get("/v1/tools/quote")) == IsPartialDict(description="d", tags=["t"], version=3)


async def test_of_two_patches_on_one_version_the_later_is_reported(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools", json=mock()), 201)
    patches = [{"version": 1, "description": word} for word in ("one", "two", "three")]
    answers = await asyncio.gather(*(stored_admin.patch("/v1/tools/quote", json=patch) for patch in patches))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    for answer in answers:
        if answer.status_code == 409:
            assert "is now at version 2, not 1; read it again" in problem(answer, 409)["detail"]
    assert good(await stored_admin.get("/v1/tools/quote"))["version"] == 2


async def test_of_many_concurrent_registrations_of_a_name_one_succeeds(stored_admin: httpx.AsyncClient) -> None:
    bodies = [mock("quote"), mock("QUOTE"), mock("Quote"), mock("qUOTE")]
    answers = await asyncio.gather(*(stored_admin.post("/v1/tools", json=body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


async def test_an_id_in_another_spelling_never_breaks_the_server(stored_admin: httpx.AsyncClient) -> None:
    tool_id = good(await stored_admin.post("/v1/tools", json=mock()), 201)["id"]
    for path in (f"urn:uuid:{tool_id}", f"{{{tool_id}}}", tool_id.replace("-", "")):
        for answer in (
            await stored_admin.get(f"/v1/tools/{path}"),
            await stored_admin.patch(f"/v1/tools/{path}", json={"description": "d"}),
            await stored_admin.get(f"/v1/tools/{path}/versions"),
            await stored_admin.get(f"/v1/executions/{path}"),
            await stored_admin.get(f"/v1/agents/{path}"),
            await stored_admin.delete(f"/v1/users/{path}"),
            await stored_admin.delete(f"/v1/tools/{path}"),
            await stored_admin.post(f"/v1/tools/{path}/restore"),
        ):
            problem(answer, 404)
        assert good(await stored_admin.get("/v1/executions", params={"tool": path}))["items"] == []
    assert good(await stored_admin.patch(f"/v1/tools/{tool_id.upper()}", json={"description": "d"}))["version"] == 2


async def test_a_tool_of_a_user_removed_can_be_seen_to_by_an_admin(admin: httpx.AsyncClient, board: Pegboard) -> None:
    user_id, key = await new_user(admin, "ada")
    async with client(board, key) as ada:
        good(await ada.post("/v1/tools", json=mock(is_public=True)), 201)
    good(await admin.delete(f"/v1/users/{user_id}"), 204)
    assert good(await admin.patch("/v1/tools/quote", json={"is_public": False}))["owner_id"] == user_id
    good(await admin.delete("/v1/tools/quote"), 204)
