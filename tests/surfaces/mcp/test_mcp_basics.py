"""Tools over MCP: listed and called in both revisions, with one journal row per call."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.filters import ExecutionFilter
from pegboard.model.tool import make_alias
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, client_of, error
from tests.surfaces.rest.clients import good, mock, new_user

pytestmark = pytest.mark.anyio
ANY_LENGTH = "a_name_that_is_longer_than_what_providers_accept_" * 2


async def rows(board: Pegboard, **wanted: Any) -> list[Any]:
    """The journal, newest first."""
    return list((await board.executions(ExecutionFilter(**wanted))).items)


async def test_discover_names_the_versions_and_the_capabilities(admin: httpx.AsyncClient) -> None:
    result = await RpcClient(admin, STATELESS).result("server/discover")
    assert result["supportedVersions"][0] == STATELESS
    assert set(result["capabilities"]) == {"tools", "prompts", "resources", "completions", "logging"}
    assert result["resultType"] == "complete"
    assert result["ttlMs"] == 5000
    assert result["cacheScope"] == "private"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "pegboard"


async def test_initialize_opens_a_session_in_the_version_of_the_client(admin: httpx.AsyncClient) -> None:
    client = RpcClient(admin, SESSION)
    for asked, answered in ((SESSION, SESSION), ("2025-03-26", "2025-03-26"), ("1999-01-01", SESSION)):
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        reply = await client.send("initialize", params)
        assert reply.json()["result"]["protocolVersion"] == answered
        assert len(reply.headers["mcp-session-id"]) >= 22
    await client.start()
    assert await client.result("ping") == {}


async def test_tools_are_listed_in_a_stable_order_with_what_models_need(rpc: RpcClient) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    extra = {"description": "Says n", "display_name": "Echo", "read_only": True, "input_schema": schema}
    good(await rpc.http.post("/v1/tools", json=mock("b_echo", **extra)), 201)
    good(await rpc.http.post("/v1/tools", json=mock("a_plain-one")), 201)
    good(await rpc.http.post("/v1/tools", json=mock(ANY_LENGTH)), 201)
    listed = (await rpc.result("tools/list"))["tools"]
    assert listed == (await rpc.result("tools/list"))["tools"]
    names = [tool["name"] for tool in listed]
    tools = {tool["name"]: tool for tool in listed}
    assert tools["b_echo"] == {
        "name": "b_echo",
        "title": "Echo",
        "description": "Says n",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True},
    }
    assert tools["a_plain-one"]["description"] == "a plain one"
    assert make_alias(ANY_LENGTH) in names
    definitions = good(await rpc.http.get("/v1/definitions", params={"as": "mcp"}))
    assert sorted(names) == sorted(each["name"] for each in definitions)


async def test_a_call_returns_text_and_structured_content_and_leaves_one_row(board: Pegboard, rpc: RpcClient) -> None:
    @board.tool
    def double(n: int) -> dict[str, int]:
        """Double a number."""
        return {"twice": 2 * n}

    result = await rpc.call("double", {"n": 4})
    assert result["content"] == [{"type": "text", "text": '{"twice":8}'}]
    assert result["structuredContent"] == {"twice": 8}
    assert result["isError"] is False
    assert ("resultType" in result) == rpc.is_stateless
    (row,) = await rows(board)
    assert result["_meta"]["pegboard/executionId"] == row.id
    assert (row.surface, row.dialect, row.tool_name, row.status) == ("mcp", "mcp", "double", "succeeded")


@pytest.mark.parametrize(
    ("output", "text", "is_json"),
    [("hello", "hello", False), (5, "5", True), ([1, 2], "[1,2]", True), (None, "null", True), ("é\n", "é\n", False)],
)
async def test_other_outputs_are_text(rpc: RpcClient, output: Any, text: str, is_json: bool) -> None:
    good(await rpc.http.post("/v1/tools", json=mock("answer", config={"mock_response": output})), 201)
    result = await rpc.call("answer")
    assert result["content"] == [{"type": "text", "text": text}]
    # The older revision has structured content for objects only.
    assert ("structuredContent" in result) == (is_json and rpc.is_stateless)
    if is_json and rpc.is_stateless:
        assert result["structuredContent"] == output


async def test_content_blocks_pass_unchanged(rpc: RpcClient) -> None:
    blocks = [
        {"type": "text", "text": "an image"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///x", "name": "x"},
    ]
    good(await rpc.http.post("/v1/tools", json=mock("shown", config={"mock_response": {"content": blocks}})), 201)
    result = await rpc.call("shown")
    assert result["content"] == blocks
    assert "structuredContent" not in result


async def test_a_failed_call_is_a_result_with_the_message_of_rest(board: Pegboard, rpc: RpcClient) -> None:
    @board.tool
    def broken(n: int) -> int:
        """Fail."""
        raise ValueError("out of paper")

    for name, arguments in (("broken", {"n": 1}), ("broken", {"n": "x"}), ("broken", {}), ("missing_tool", {})):
        result = await rpc.call(name, arguments)
        assert result["isError"] is True
        answer = (await rpc.http.post(f"/v1/tools/{name}/call", json=arguments)).json()
        assert result["content"] == [{"type": "text", "text": answer["error"]}]
    assert result["content"][0]["text"] == "Tool 'missing_tool' not found"


async def test_tools_are_found_by_alias_too(rpc: RpcClient) -> None:
    good(await rpc.http.post("/v1/tools", json=mock(ANY_LENGTH)), 201)
    alias = make_alias(ANY_LENGTH)
    assert alias is not None
    assert (await rpc.call(alias))["isError"] is False


async def test_prompts_and_resources_are_empty_lists(rpc: RpcClient) -> None:
    for method, name in (
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ):
        assert (await rpc.result(method))[name] == []
    code = -32602 if rpc.is_stateless else -32002
    reply = await rpc.send("resources/read", {"uri": "file:///none"})
    assert error(reply, 400 if rpc.is_stateless else 200, code)["data"] == {"uri": "file:///none"}


async def test_an_agent_sees_only_its_tools_by_id_and_by_name(admin: httpx.AsyncClient, url: str) -> None:
    for name in ("one", "two"):
        good(await admin.post("/v1/tools", json=mock(name, is_public=True)), 201)
    agent = good(await admin.post("/v1/agents", json={"name": "Helper", "tools": ["two"]}), 201)
    _, key = await new_user(admin, "ann")
    for ref in (agent["id"], "Helper", "helper/"):
        client = RpcClient(admin, STATELESS, f"/agents/{ref.removesuffix('/')}/mcp" + "/" * ref.endswith("/"))
        assert [tool["name"] for tool in (await client.result("tools/list"))["tools"]] == ["two"]
        assert (await client.call("two"))["isError"] is False
        assert (await client.call("one"))["isError"] is True
    async with client_of(url, key) as member:
        for ref in (agent["id"], "Helper", "none"):
            reply = await RpcClient(member, STATELESS, f"/agents/{ref}/mcp").send("tools/list")
            assert reply.status_code == 404


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_a_trailing_slash_changes_nothing(admin: httpx.AsyncClient, path: str) -> None:
    await RpcClient(admin, STATELESS, path).check_alive()
