"""The calls of a payload, and why they would be refused, without running them."""

from __future__ import annotations

import json
from typing import Any

import httpx

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import client, good, mock, new_user

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def make_call(name: str, arguments: Any, identity: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
    return {"id": identity, "type": "function", "function": function}


async def test_calls_that_would_be_refused_say_why_and_nothing_runs(board: Pegboard, admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=mock("count", input_schema=SCHEMA)), 201)
    good(await admin.post("/v1/tools", json=mock("idle", is_active=False)), 201)
    calls = [
        make_call("count", {"n": 1}, "c1"),
        make_call("count", {"n": "one"}, "c2"),
        make_call("cuont", {}, "c3"),
        make_call("idle", {}, "c4"),
        make_call("count", '{"n": ', "c5"),
    ]
    body = {"role": "assistant", "content": None, "tool_calls": calls}
    for message in (body, {**body, "content": "long " * 20_000}):
        found = good(await admin.post("/v1/calls/normalize", params={"check": "true"}, json=message))["calls"]
        codes = [call.get("problem", {}).get("code") for call in found]
        assert codes == [None, "invalid_type", "tool_not_found", "tool_inactive", "malformed_arguments"]
        (fault,) = found[1]["problem"]["problems"]
        assert fault["field"] == "n"
        assert "did you mean 'count'" in found[2]["problem"]["message"]
    unchecked = good(await admin.post("/v1/calls/normalize", json=body))["calls"]
    assert all("problem" not in call for call in unchecked)
    assert await calls_of(board) == []


async def test_calls_that_have_a_result_are_not_checked(admin: httpx.AsyncClient) -> None:
    body = [
        {"role": "assistant", "content": None, "tool_calls": [make_call("gone", {}, "c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    (call,) = good(await admin.post("/v1/calls/normalize", params={"check": "true"}, json=body))["calls"]
    assert call["result"] == "done"
    assert "problem" not in call


async def test_a_private_tool_of_another_user_is_not_found(board: Pegboard, admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=mock("hidden", is_public=False)), 201)
    _, key = await new_user(admin, "ann")
    async with client(board, key) as ann:
        call = {"name": "hidden", "arguments": {}}
        (found,) = good(await ann.post("/v1/calls/normalize", params={"check": "true"}, json=call))["calls"]
    assert found["problem"]["code"] == "tool_not_found"
