"""Requests of imported MCP servers for input of the client, in the revision 2026-07-28."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.surfaces.mcp import request_state
from tests.fork_server import forked_command
from tests.surfaces.mcp.rpc import STATELESS, RpcClient, client_of, error
from tests.surfaces.rest.clients import good, new_user

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
ALL: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
STATE_TOOL = "test_input_required_result_request_state"
NAME_TOOL = "test_input_required_result_elicitation"
CONFIRMED = {"confirm": {"action": "accept", "content": {"ok": True}}}


@pytest.fixture
async def client(admin: httpx.AsyncClient) -> RpcClient:
    """A client of a board that has imported the fixture server."""
    server = {"command": forked_command("tests.conformance.fixtures"), "working_dir": str(ROOT)}
    good(await admin.post("/v1/imports/mcp", json=server, timeout=60))
    return RpcClient(admin, STATELESS)


def params(name: str, capabilities: Any = ALL, **more: Any) -> dict[str, Any]:
    """The params of a request of a client with these capabilities."""
    meta = {"io.modelcontextprotocol/clientCapabilities": capabilities}
    return {"name": name, "arguments": {}, "_meta": meta, **more}


async def ask(client: RpcClient, name: str, **more: Any) -> dict[str, Any]:
    """The result of a call."""
    return await client.result("tools/call", params(name, **more))


async def test_a_call_is_completed_with_the_input_of_the_client(client: RpcClient) -> None:
    asked = await ask(client, NAME_TOOL)
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["user_name"]["params"]["message"] == "What is your name?"
    assert "requestState" not in asked
    given = {"user_name": {"action": "accept", "content": {"name": "Ann"}}, "unknown": {"action": "accept"}}
    answered = await ask(client, NAME_TOOL, inputResponses=given)
    assert answered["resultType"] == "complete"
    assert "Ann" in answered["content"][0]["text"]
    rows = good(await client.http.get("/v1/executions"))["items"]
    assert [row["status"] for row in rows] == ["succeeded", "failed"]
    assert rows[1]["id"] == asked["_meta"]["pegboard/executionId"]
    assert "asked the client for input: What is your name?" in rows[1]["error"]


async def test_the_state_of_the_server_is_encrypted_and_passed_back(client: RpcClient) -> None:
    asked = await ask(client, STATE_TOOL)
    assert asked["requestState"].startswith("pb1:")
    answered = await ask(client, STATE_TOOL, inputResponses=CONFIRMED, requestState=asked["requestState"])
    assert "state-ok" in answered["content"][0]["text"]


async def test_a_state_is_valid_for_the_same_request_of_the_same_caller_only(client: RpcClient, url: str) -> None:
    good(await client.http.patch(f"/v1/tools/{STATE_TOOL}", json={"is_public": True}))
    state = (await ask(client, STATE_TOOL))["requestState"]
    rows = good(await client.http.get("/v1/executions"))["items"]
    more = {"inputResponses": CONFIRMED, "requestState": state}
    wrong = [
        params(STATE_TOOL, **{**more, "requestState": state + "x"}),
        params(STATE_TOOL, **{**more, "requestState": state[:-6] + "AAAAAA"}),
        params(STATE_TOOL, **{**more, "requestState": "pb1:none:AAAA"}),
        params(STATE_TOOL, **{**more, "requestState": ""}),
        params(STATE_TOOL, **{**more, "requestState": 5}),
        params("test_input_required_result_tampered_state", **more),
        {**params(STATE_TOOL, **more), "arguments": {"a": 1}},
        params(STATE_TOOL, **{**more, "inputResponses": [1]}),
    ]
    for each in wrong:
        error(await client.send("tools/call", each), 400, -32602)
    error(await client.send("prompts/get", params("test_simple_prompt", **more)), 400, -32602)
    _, key = await new_user(client.http, "ann")
    async with client_of(url, key) as http:
        error(await RpcClient(http, STATELESS).send("tools/call", params(STATE_TOOL, **more)), 400, -32602)
    assert good(await client.http.get("/v1/executions"))["items"] == rows  # none of them ran
    assert (await ask(client, STATE_TOOL, **more))["resultType"] == "complete"


async def test_a_state_expires(client: RpcClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_state, "STATE_SECONDS", -1.0)
    state = (await ask(client, STATE_TOOL))["requestState"]
    reply = await client.send("tools/call", params(STATE_TOOL, inputResponses=CONFIRMED, requestState=state))
    assert "10 minutes" in error(reply, 400, -32602)["message"]


async def test_no_other_encrypted_text_of_the_board_is_a_state(board: Pegboard, client: RpcClient) -> None:
    sealed = board.vault.seal(json.dumps([2**40, "", "x"]), "another-row")
    error(await client.send("tools/call", params(STATE_TOOL, requestState=sealed)), 400, -32602)


@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}, {"elicitation": None}])
async def test_a_client_is_not_asked_for_what_it_did_not_declare(client: RpcClient, capabilities: Any) -> None:
    result = await client.result("tools/call", params(NAME_TOOL, capabilities))
    assert result["isError"] is True
    assert "elicitation/create" in result["content"][0]["text"]


async def test_the_server_gets_the_capabilities_of_each_client(client: RpcClient) -> None:
    tool = "test_input_required_result_capabilities"
    for name, key in (("sampling", "greeting"), ("elicitation", "user_name")):
        asked = await client.result("tools/call", params(tool, {name: {}}))
        assert asked["inputRequests"].keys() == {key}
    missing = await client.send("tools/call", params("test_missing_capability", {}))
    assert error(missing, 400, -32021)["data"] == {"requiredCapabilities": {"sampling": {}}}
    assert (await client.result("tools/call", params("test_missing_capability", ALL)))["isError"] is False


async def test_a_prompt_may_ask_too(client: RpcClient) -> None:
    name = "test_input_required_result_prompt"
    asked = await client.result("prompts/get", params(name))
    assert asked["resultType"] == "input_required"
    (key,) = asked["inputRequests"]
    given = {key: {"action": "accept", "content": {"context": "here"}}}
    answered = await client.result("prompts/get", params(name, inputResponses=given))
    assert "here" in json.dumps(answered["messages"])
    assert "error" in (await client.send("prompts/get", params(name, {}))).json()


async def test_rest_and_sessions_get_the_failure_as_before(client: RpcClient) -> None:
    answer = (await client.http.post(f"/v1/tools/{NAME_TOOL}/call", json={})).json()
    assert "asked for input that this board cannot give" in answer["error"]
    session = RpcClient(client.http, "2025-11-25")
    await session.start()
    result = await session.call(NAME_TOOL)
    assert result["isError"] is True
    assert "asked for input" in result["content"][0]["text"]
