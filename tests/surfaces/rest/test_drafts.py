"""Unsaved definitions: what a model would receive, and what providers would refuse."""

from __future__ import annotations

import httpx
import pytest

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, mock, new_user, problem

DRAFT = mock("draft", description="A draft.", input_schema={"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.mark.parametrize("dialect", ["plain", "openai_chat", "anthropic_messages", "mcp"])
async def test_a_draft_is_declared_like_a_registered_tool(admin: httpx.AsyncClient, dialect: str) -> None:
    declared = good(await admin.post("/v1/definitions", params={"as": dialect}, json={"tools": [DRAFT]}))
    problem(await admin.get("/v1/tools/draft"), 404)
    good(await admin.post("/v1/tools", json=DRAFT), 201)
    one = good(await admin.get("/v1/tools/draft/definition", params={"as": dialect}))
    assert one in (declared, declared[0]) or one in declared


async def test_a_draft_is_linted_like_a_registered_tool(admin: httpx.AsyncClient) -> None:
    params = {"for": ["openai_chat", "gemini_generate_content"]}
    linted = good(await admin.post("/v1/lint", params=params, json={"tools": [DRAFT]}))
    good(await admin.post("/v1/tools", json=DRAFT), 201)
    assert linted == good(await admin.get("/v1/lint", params={**params, "tool": "draft"}))


async def test_without_config_the_part_for_models_is_enough(admin: httpx.AsyncClient) -> None:
    part = {name: DRAFT[name] for name in ("name", "description", "input_schema")}
    whole = good(await admin.post("/v1/definitions", json={"tools": [DRAFT]}))
    assert good(await admin.post("/v1/definitions", json={"tools": [part]})) == whole
    assert good(await admin.post("/v1/definitions", json={"tools": [{**part, "tool_type": "http"}]})) == whole


async def test_a_schema_that_follows_from_the_config_is_derived(admin: httpx.AsyncClient) -> None:
    code = {
        "name": "add",
        "tool_type": "python",
        "config": {"code": "def add(a: int, b: int) -> int:\n    return a + b"},
    }
    (declared,) = good(await admin.post("/v1/definitions", json={"tools": [code]}))
    assert "'a'" in str(declared)
    assert "'b'" in str(declared)


async def test_faults_name_the_definition_and_the_field(board: Pegboard, admin: httpx.AsyncClient) -> None:
    for path in ("/v1/definitions", "/v1/lint"):
        refused = problem(await admin.post(path, json={"tools": [DRAFT, {**DRAFT, "name": "1st"}]}), 422)
        assert refused["errors"][0]["field"] == "tools.1 name"
        refused = problem(await admin.post(path, json={"tools": [{**DRAFT, "input_schema": {"type": "what"}}]}), 422)
        assert refused["errors"][0]["field"] == "tools.0 input_schema"
        problem(await admin.post(path, json={"tools": [DRAFT] * 1001}), 422)
        problem(await admin.post(path, json={"tools": ["draft"]}), 422)
        assert good(await admin.post(path, json={"tools": []})) is not None
    problem(await admin.post("/v1/definitions", params={"as": "nonesuch"}, json={"tools": []}), 422)
    _, key = await new_user(admin, "ada")
    shell = mock("run", tool_type="shell", config={"command": "true"})
    async with client(board, key) as member:
        problem(await member.post("/v1/definitions", json={"tools": [shell]}), 403)
