"""How providers would treat the caller's tools, over HTTP."""

from __future__ import annotations

import re

import httpx
import pytest

from pegboard import Pegboard
from pegboard.dialects.detect import Dialects
from pegboard.dialects.plain import Plain
from pegboard.dialects.provider_rules import Limits
from pegboard.surfaces.rest.tool_routes import DEFAULT_PROVIDERS
from tests.surfaces.rest.clients import client, good, mock, new_user, problem


class Picky(Plain):
    """A provider that accepts one tool, with a name of lower-case letters."""

    name = "picky"
    aliases = ("fussy",)
    limits = Limits(name=re.compile("[a-z]+"), tools=1)


class Silent(Plain):
    """A provider whose format declares nothing."""

    name = "silent"
    abilities = ("parse",)  # type: ignore[assignment]  # fewer than its base has


@pytest.fixture(autouse=True)
def _dialects(board: Pegboard) -> None:
    board.dialects = Dialects([*board.dialects.values(), Picky(), Silent()])


async def test_each_tool_comes_with_its_tokens_and_findings(admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=mock("quote", description="Gives a quote")), 201)
    answer = good(await admin.get("/v1/lint", params={"for": "fussy", "tool": "quote"}))
    assert "divided by 4" in answer["counted"]
    (provider,) = answer["providers"]
    (linted,) = provider.pop("tools")
    assert provider == {"dialect": "picky", "tokens": provider["tokens"], "findings": []}
    assert linted == {"tool": "quote", "name": "quote", "tokens": linted["tokens"], "findings": []}
    assert provider["tokens"] >= linted["tokens"] > 0


async def test_what_would_be_refused_is_reported_of_the_tool_and_of_all_together(admin: httpx.AsyncClient) -> None:
    for name in ("quote", "Quote_2"):
        good(await admin.post("/v1/tools", json=mock(name, description="Gives a quote")), 201)
    answer = good(await admin.get("/v1/lint", params=[("for", "picky"), ("tool", "quote"), ("tool", "Quote_2")]))
    (provider,) = answer["providers"]
    assert [(found["severity"], found["field"]) for found in provider["findings"]] == [("refuse", "tools")]
    assert [[found["severity"] for found in each["findings"]] for each in provider["tools"]] == [[], ["refuse"]]


async def test_the_tools_are_those_a_model_would_be_handed(board: Pegboard, admin: httpx.AsyncClient) -> None:
    _, key = await new_user(admin, "ann")
    async with client(board, key) as ann:
        good(await ann.post("/v1/tools", json=mock("mine")), 201)
        (provider,) = good(await ann.get("/v1/lint", params={"for": "plain"}))["providers"]
        offered = good(await ann.get("/v1/definitions", params={"as": "plain"}))
    assert [linted["name"] for linted in provider["tools"]] == [definition["name"] for definition in offered]
    assert "mine" in {linted["tool"] for linted in provider["tools"]}


async def test_another_users_private_tool_is_not_found(board: Pegboard, admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=mock("hidden", is_public=False)), 201)
    _, key = await new_user(admin, "bob")
    async with client(board, key) as bob:
        problem(await bob.get("/v1/lint", params={"for": "plain", "tool": "hidden"}), 404)


async def test_without_a_provider_the_main_ones_are_examined(admin: httpx.AsyncClient) -> None:
    answer = good(await admin.get("/v1/lint"))
    assert tuple(each["dialect"] for each in answer["providers"]) == DEFAULT_PROVIDERS


async def test_a_provider_named_twice_is_examined_once(admin: httpx.AsyncClient) -> None:
    answer = good(await admin.get("/v1/lint", params=[("for", "picky"), ("for", "fussy"), ("for", "plain")]))
    assert [each["dialect"] for each in answer["providers"]] == ["picky", "plain"]


@pytest.mark.parametrize(("shape", "says"), [("nope", "Unknown dialect 'nope'"), ("silent", "declares no tools")])
async def test_a_provider_that_cannot_be_handed_tools_is_refused(
    admin: httpx.AsyncClient, shape: str, says: str
) -> None:
    body = problem(await admin.get("/v1/lint", params={"for": shape}), 422)
    assert body["errors"][0]["field"] == "for"
    assert says in body["detail"]


async def test_nothing_is_shown_without_a_key(board: Pegboard) -> None:
    async with client(board, None) as stranger:
        problem(await stranger.get("/v1/lint"), 401)


async def test_the_tools_of_an_agent_are_those_that_its_keys_get(board: Pegboard, admin: httpx.AsyncClient) -> None:
    user, key = await new_user(admin, "ann")
    good(await admin.post("/v1/tools", json=mock("shared", is_public=True)), 201)
    async with client(board, key) as ann:
        for name in ("mine", "idle"):
            good(await ann.post("/v1/tools", json=mock(name, is_active=name == "mine")), 201)
        agent = good(await ann.post("/v1/agents", json={"name": "bot", "tools": ["mine", "idle", "shared"]}), 201)["id"]
        good(await admin.patch("/v1/tools/shared", json={"is_public": False}))
        bound = good(await ann.post(f"/v1/users/{user}/keys", json={"agent_id": agent}), 201)["key"]
        answers = [good(await each.get("/v1/lint", params={"for": "plain", "agent": agent})) for each in (ann, admin)]
        problem(await ann.get("/v1/lint", params={"agent": agent, "tool": "mine"}), 422)
        problem(await ann.get("/v1/lint", params={"agent": "nope"}), 404)
    async with client(board, bound) as bot:
        answers += [
            good(await bot.get("/v1/lint", params={"for": "plain", "agent": agent})),
            good(await bot.get("/v1/lint", params={"for": "plain"})),
        ]
    assert [[each["tool"] for each in answer["providers"][0]["tools"]] for answer in answers] == [["mine"]] * 4
    handed = good(await admin.get(f"/v1/agents/{agent}/definitions"))
    assert [each["name"] for each in handed] == ["mine"]
