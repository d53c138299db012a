"""Chains over HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.surfaces.rest.clients import good, problem

CHAIN: dict[str, Any] = {
    "steps": [
        {"id": "a", "tool": "math_eval", "arguments": {"expression": "{{input.x}} + 1"}},
        {"id": "b", "tool": "echo", "arguments": {"got": "{{steps.a.output.result}}"}},
    ]
}


async def test_a_chain_runs_and_its_calls_are_in_the_journal(stored_admin: httpx.AsyncClient) -> None:
    answer = (await stored_admin.post("/v1/chains", json={**CHAIN, "input": {"x": 41}})).json()
    assert answer["success"] is True
    assert answer["output"] == {"echo": {"got": 42}}
    assert [(step["id"], step["status"]) for step in answer["steps"]] == [("a", "succeeded"), ("b", "succeeded")]
    for step in answer["steps"]:
        row = (await stored_admin.get(f"/v1/executions/{step['run_ids'][0]}")).json()
        assert (row["chain_id"], row["surface"], row["tool_name"]) == (answer["chain_id"], "rest", step["tool"])


async def test_a_step_that_fails_is_an_answer_not_an_http_error(admin: httpx.AsyncClient) -> None:
    response = await admin.post("/v1/chains", json={**CHAIN, "input": {"x": "1 )"}})
    assert response.status_code == 200
    answer = response.json()
    assert answer["success"] is False
    assert answer["error"].startswith("Step 'a' failed: ")
    assert [step["status"] for step in answer["steps"]] == ["failed", "not_run"]
    assert "output" not in answer


async def test_what_is_no_chain_is_refused_with_every_fault(admin: httpx.AsyncClient) -> None:
    steps = [
        {"id": "a", "tool": "echo", "arguments": {"x": "{{steps.nope.output}}"}},
        {"id": "a", "tool": "echo", "arguments": {"x": "{{what}}"}},
    ]
    response = await admin.post("/v1/chains", json={"steps": steps})
    assert response.status_code == 422
    fields = [fault["field"] for fault in response.json()["errors"]]
    assert fields == ["steps.0.arguments", "steps.1.id", "steps.1.arguments"]
    assert (await admin.get("/v1/executions")).json()["items"] == []


async def test_a_chain_is_saved_as_a_tool_and_called_like_one(stored_admin: httpx.AsyncClient) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    body = {**CHAIN, "save": True, "name": "plus_one", "description": "Adds one.", "input_schema": schema}
    saved = await stored_admin.post("/v1/chains", json=body)
    assert saved.status_code == 201
    assert saved.json()["config"] == {"handler": "chain", "chain": CHAIN}
    assert saved.json()["timeout"] == 300
    answer = (await stored_admin.post("/v1/tools/plus_one/call", json={"x": 1})).json()
    assert answer["result"] == {"echo": {"got": 2}}
    rows = (await stored_admin.get("/v1/executions")).json()["items"]
    assert [(row["tool_name"], row["surface"]) for row in rows] == [
        ("echo", "rest"),
        ("math_eval", "rest"),
        ("plus_one", "rest"),
    ]
    assert len({row["request_id"] for row in rows}) == 1
    names = [tool["name"] for tool in (await stored_admin.get("/v1/definitions")).json()]
    assert "plus_one" in names


async def test_saving_needs_a_name_and_running_ignores_it(admin: httpx.AsyncClient) -> None:
    nameless = await admin.post("/v1/chains", json={**CHAIN, "save": True})
    assert (nameless.status_code, "save needs a name" in nameless.text) == (422, True)
    named = await admin.post("/v1/chains", json={**CHAIN, "input": {"x": 1}, "name": "x", "description": "d"})
    assert good(named)["success"]
    problem(await admin.get("/v1/tools/x"), 404)


async def test_running_checks_the_input_against_the_schema(admin: httpx.AsyncClient) -> None:
    number = {"type": "integer", "default": 7}
    schema = {"type": "object", "properties": {"x": number, "y": {"type": "integer"}}, "required": ["y"]}
    body = {"steps": [{"id": "a", "tool": "echo", "arguments": {"x": "{{input.x}}"}}], "input_schema": schema}
    answer = good(await admin.post("/v1/chains", json={**body, "input": {"y": 1}}))
    assert answer["output"] == {"echo": {"x": 7}}, "defaults are filled in, as for a saved chain"
    refused = problem(await admin.post("/v1/chains", json={**body, "input": {"x": "one"}}), 422)
    assert refused["errors"][0]["field"] == "input"
    assert "missing 'y'" in refused["errors"][0]["message"]
    unsound = problem(await admin.post("/v1/chains", json={**body, "input_schema": {"type": "nonsense"}}), 422)
    assert unsound["errors"][0]["field"] == "input_schema"
    assert len(good(await admin.get("/v1/executions"))["items"]) == 1


async def test_a_chain_without_steps_is_refused_in_plain_words(admin: httpx.AsyncClient) -> None:
    refused = problem(await admin.post("/v1/chains", json={"steps": []}), 422)
    assert refused["errors"] == [{"field": "steps", "message": "a chain needs at least one step"}]
    tool = {
        "name": "c",
        "tool_type": "internal",
        "input_schema": {},
        "config": {"handler": "chain", "chain": {"steps": []}},
    }
    refused = problem(await admin.post("/v1/tools", json=tool), 422)
    assert refused["errors"] == [{"field": "config.chain.steps", "message": "a chain needs at least one step"}]


async def test_with_a_key_nothing_runs_twice(admin: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "chain-1"}
    first = (await admin.post("/v1/chains", json={**CHAIN, "input": {"x": 1}}, headers=headers)).json()
    again = (await admin.post("/v1/chains", json={**CHAIN, "input": {"x": 1}}, headers=headers)).json()
    assert first["output"] == again["output"]
    rows = (await admin.get("/v1/executions")).json()["items"]
    assert sorted(row["repeat_of"] is not None for row in rows) == [False, False, True, True]


async def test_of_two_keys_neither_counts(admin: httpx.AsyncClient) -> None:
    headers = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    problem(await admin.post("/v1/chains", json={**CHAIN, "input": {"x": 1}}, headers=headers), 422)
    assert (await admin.get("/v1/executions")).json()["items"] == []


@pytest.mark.parametrize("save", [{}, {"save": True, "name": "deep"}])
@pytest.mark.parametrize("field", ["arguments", "fallback", "when"])
async def test_what_is_nested_too_deeply_is_refused(admin: httpx.AsyncClient, field: str, save: dict[str, Any]) -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    more = {
        "arguments": {"arguments": {"x": deep}},
        "fallback": {"on_error": "fallback", "fallback": deep},
        "when": {"when": {"value": deep, "equals": 1}},
    }[field]
    response = await admin.post("/v1/chains", json={"steps": [{"id": "a", "tool": "echo", **more}], **save})
    assert [fault["field"] for fault in problem(response, 422)["errors"]] == [f"steps.0.{field}"]
