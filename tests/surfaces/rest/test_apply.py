"""`POST /v1/apply`: tools are created, updated, unchanged, pruned; all or nothing; secrets are kept."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.registry.secret_fields import open_auth, open_config
from tests.surfaces.rest.clients import client, good, mock, new_user, problem, walked

HTTP = {"url": "https://example.com", "method": "GET", "headers": {"X-Key": "hush-header"}}
SECRETIVE = mock("secretive", tool_type="http", config=HTTP, auth_config={"type": "bearer", "token": "hush-token"})


def plan(**done: Any) -> dict[str, Any]:
    return {"created": [], "updated": {}, "unchanged": [], "deleted": [], **done}


async def apply(speaker: httpx.AsyncClient, *tools: Any, **more: bool) -> dict[str, Any]:
    applied: dict[str, Any] = good(await speaker.post("/v1/apply", json={"tools": list(tools), **more}))
    return applied


async def names(speaker: httpx.AsyncClient) -> list[str]:
    return [
        tool["name"] for tool in await walked(speaker, "/v1/tools") if not {"builtin", "baseline"} & {*tool["tags"]}
    ]


async def test_it_creates_updates_and_leaves_alone(stored_admin: httpx.AsyncClient) -> None:
    assert await apply(stored_admin, mock("a"), mock("b")) == plan(created=["a", "b"])
    done = await apply(stored_admin, mock("a"), mock("b", description="new", tags=["t"]), mock("c"))
    assert done == plan(created=["c"], updated={"b": ["description", "tags"]}, unchanged=["a"])
    assert good(await stored_admin.get("/v1/tools/a"))["version"] == 1
    assert good(await stored_admin.get("/v1/tools/b"))["version"] == 2
    assert good(await stored_admin.post("/v1/tools/c/call"))["success"]


async def test_what_is_not_listed_stays_unless_pruned(stored_admin: httpx.AsyncClient) -> None:
    await apply(stored_admin, mock("a"), mock("b"), mock("c"))
    assert await apply(stored_admin, mock("B")) == plan(updated={"B": ["name"]})
    assert await names(stored_admin) == ["a", "B", "c"]
    assert await apply(stored_admin, mock("B"), prune=True) == plan(unchanged=["B"], deleted=["a", "c"])
    assert await names(stored_admin) == ["B"]
    assert good(await stored_admin.post("/v1/tools/echo/call"))["success"], "shipped tools are never pruned"
    assert await apply(stored_admin, prune=True) == plan(deleted=["B"])


async def test_a_dry_run_says_the_same_and_does_nothing(stored_admin: httpx.AsyncClient) -> None:
    await apply(stored_admin, mock("a"), mock("b"))
    wanted = [mock("a", description="new"), mock("c")]
    result = await apply(stored_admin, *wanted, prune=True, dry_run=True)
    assert result == plan(created=["c"], updated={"a": ["description"]}, deleted=["b"])
    assert await names(stored_admin) == ["a", "b"]
    assert good(await stored_admin.post("/v1/tools/c/call"))["success"] is False
    assert await apply(stored_admin, *wanted, prune=True) == result


async def test_one_fault_anywhere_and_nothing_is_done(stored_admin: httpx.AsyncClient) -> None:
    await apply(stored_admin, mock("a"))
    for wrong, field in (
        (mock("9"), "tools.1 '9' name"),
        (mock("b", config={}), "tools.1 'b' config"),
        (mock("b", input_schema={"type": "nothing"}), "tools.1 'b' input_schema"),
        (mock("b", colour="red"), "tools.1 'b' colour"),
        (mock("NEW"), "tools.1 'NEW'"),
        ("not a tool", "tools.1"),
        (mock("echo"), "tools.1 'echo'"),
    ):
        answer = await stored_admin.post("/v1/apply", json={"tools": [mock("new"), wrong], "prune": True})
        faults = [fault["field"] for fault in problem(answer, 422)["errors"]]
        assert [fault for fault in faults if fault.startswith(field)] or isinstance(wrong, str), faults
        assert await names(stored_admin) == ["a"]


async def test_every_fault_of_every_definition_is_reported_at_once(admin: httpx.AsyncClient) -> None:
    answer = await admin.post(
        "/v1/apply", json={"tools": [mock("a", config={}), mock("b", timeout=0), mock("c", config={})]}
    )
    faults = " ".join(fault["field"] for fault in problem(answer, 422)["errors"])
    assert "'b'" in faults


async def test_members_apply_to_their_own_tools_alone(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await apply(admin, mock("shared", is_public=True), mock("hidden"))
    _, key = await new_user(admin, "ada")
    async with client(board, key) as ada:
        for taken in ("shared", "HIDDEN"):
            answer = await ada.post("/v1/apply", json={"tools": [mock("mine"), mock(taken)]})
            assert "belongs to another user" in problem(answer, 422)["detail"]
        assert await apply(ada, mock("mine")) == plan(created=["mine"])
        assert await apply(ada, prune=True) == plan(deleted=["mine"])
    assert await names(admin) == ["hidden", "shared"]
    async with client(board, key) as ada:
        await apply(ada, mock("mine"))
    assert (await apply(admin, mock("mine", description="by the admin")))["updated"] == {"mine": ["description"]}
    assert await apply(admin, mock("shared", is_public=True), mock("hidden"), prune=True) == plan(
        unchanged=["shared", "hidden"]
    )


async def test_masked_secrets_are_kept_and_the_same_ones_are_no_change(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    await apply(admin, SECRETIVE)
    assert await apply(admin, SECRETIVE) == plan(unchanged=["secretive"])
    masked = {
        **SECRETIVE,
        "config": {**HTTP, "headers": {"X-Key": "********"}},
        "auth_config": {"type": "bearer", "token": "********"},
    }
    assert await apply(admin, masked) == plan(unchanged=["secretive"])
    for definition in (SECRETIVE, masked):
        words = f"words {definition is masked}"
        assert await apply(admin, {**definition, "description": words}) == plan(updated={"secretive": ["description"]})
    tool = await board.tools.get("secretive", board.admin)
    assert open_config(tool.config, board.vault, tool.id, str) == HTTP
    assert open_auth(tool.sealed_auth, board.vault, tool.id, str) == SECRETIVE["auth_config"]


async def test_a_changed_secret_is_a_change_and_a_mask_for_a_new_one_is_refused(admin: httpx.AsyncClient) -> None:
    await apply(admin, SECRETIVE)
    other = {**SECRETIVE, "auth_config": {"type": "bearer", "token": "hush-other"}}
    assert await apply(admin, other) == plan(updated={"secretive": ["auth_config"]})
    more = {**HTTP, "headers": {"X-Key": "********", "X-New": "********"}}
    answer = await admin.post("/v1/apply", json={"tools": [{**SECRETIVE, "config": more}]})
    assert "config.headers.X-New: is '********'" in problem(answer, 422)["detail"]


@pytest.mark.parametrize(
    "body", [[], {}, {"tools": {}}, {"tools": [], "purne": True}, {"tools": [], "prune": "perhaps"}]
)
async def test_a_body_that_is_no_list_of_tools_is_refused(admin: httpx.AsyncClient, body: Any) -> None:
    problem(await admin.post("/v1/apply", json=body), 422)
