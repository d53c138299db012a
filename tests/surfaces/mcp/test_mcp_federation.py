"""What MCP clients receive from another MCP server that the board has imported."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.call import ToolResult
from pegboard.model.mcp_exchange import McpExchange
from pegboard.surfaces.mcp.call_result import encode_tool_result
from pegboard.surfaces.mcp.protocol import SESSION_REVISION, STATELESS_REVISION
from tests.mcp_servers.run_servers import FOLDER
from tests.surfaces.mcp.rpc import RpcClient, error
from tests.surfaces.rest.clients import good

pytestmark = pytest.mark.anyio

SECRET = "a-secret-of-the-upstream"
TOOL: Mapping[str, Any] = {"name": "give", "description": "Give.", "inputSchema": {"type": "object"}}
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "one", "annotations": {"audience": ["user"], "priority": 0.5}, "x-own": 1},
    {"type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": {"example.com/size": 2}},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {
        "type": "resource",
        "resource": {"uri": "ui://own/view", "mimeType": "text/html", "text": "<p>", "_meta": {"a": 1}},
    },
    {"type": "resource_link", "uri": "file:///x", "name": "x", "icons": [{"src": "https://example.com/i.png"}]},
]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


class Raw:
    """The file of an upstream that returns the results in it."""

    def __init__(self, file: Path, http: httpx.AsyncClient) -> None:
        self._file = file
        self._http = http
        self.results: dict[str, Any] = {"tools/list": {"tools": [dict(TOOL)]}}

    @property
    def server(self) -> dict[str, Any]:
        """Return the fields of its import."""
        env = {"OWN_SECRET": SECRET}
        return {"command": [sys.executable, str(FOLDER / "raw_server.py"), str(self._file)], "env": env}

    def write(self, **results: Any) -> None:
        """Set the results of some methods."""
        self.results |= {name.replace("__", "/"): value for name, value in results.items()}
        self._file.write_text(json.dumps(self.results))

    async def take(self, **options: Any) -> dict[str, Any]:
        """Import the server."""
        self.write()
        report: dict[str, Any] = good(await self._http.post("/v1/imports/mcp", json=self.server | options, timeout=60))
        return report


@pytest.fixture
def raw(tmp_path: Path, admin: httpx.AsyncClient) -> Raw:
    """An upstream that returns the results in its file."""
    return Raw(tmp_path / "results.json", admin)


async def test_a_result_passes_unchanged(raw: Raw, rpc: RpcClient) -> None:
    await raw.take()
    returned = {
        "content": BLOCKS,
        "structuredContent": {"n": 1},
        "x-extension": [1],
        "_meta": {"example.com/a": {"b": 1}},
    }
    raw.write(tools__call=returned)
    result = await rpc.call("give")
    assert result["content"] == BLOCKS
    assert result["structuredContent"] == {"n": 1}
    assert result["x-extension"] == [1]
    assert result["isError"] is False
    assert result["_meta"]["example.com/a"] == {"b": 1}
    assert result["_meta"]["pegboard/executionId"]


async def test_blocks_and_structured_content_pass_although_rest_has_the_short_form(raw: Raw, rpc: RpcClient) -> None:
    raw.results["tools/list"] = {"tools": [{**TOOL, "outputSchema": SCHEMA}]}
    await raw.take()
    raw.write(tools__call={"content": BLOCKS, "structuredContent": {"n": 2}})
    result = await rpc.call("give")
    assert (result["content"], result["structuredContent"]) == (BLOCKS, {"n": 2})
    assert good(await rpc.http.post("/v1/tools/give/call", json={}))["result"] == {"n": 2}


async def test_a_failure_passes_with_its_blocks(raw: Raw, rpc: RpcClient) -> None:
    await raw.take()
    raw.write(tools__call={"content": BLOCKS, "isError": True, "_meta": {"example.com/a": 1}})
    result = await rpc.call("give")
    assert result["isError"] is True
    assert result["content"] == BLOCKS
    assert result["_meta"]["example.com/a"] == 1


async def test_a_fallback_is_not_replaced_by_the_failure(board: Pegboard, raw: Raw, rpc: RpcClient) -> None:
    await raw.take()
    raw.write(tools__call={"content": BLOCKS, "isError": True})
    good(await rpc.http.patch("/v1/tools/give", json={"fallback": {"value": "instead"}}))
    result = await rpc.call("give")
    assert result["content"] == [{"type": "text", "text": "instead"}]
    assert result["isError"] is False


async def test_a_broken_contract_is_not_replaced_by_the_result(raw: Raw, rpc: RpcClient) -> None:
    raw.results["tools/list"] = {"tools": [{**TOOL, "outputSchema": SCHEMA}]}
    await raw.take()
    raw.write(tools__call={"content": BLOCKS, "structuredContent": {"n": "two"}})
    result = await rpc.call("give")
    assert result["isError"] is True
    assert "structuredContent" not in result


async def test_credentials_are_masked_in_every_member(raw: Raw, rpc: RpcClient) -> None:
    await raw.take()
    text = {"type": "text", "text": f"it is {SECRET}"}
    raw.write(
        tools__call={"content": [text], "structuredContent": {"s": SECRET}, "x": SECRET, "_meta": {"a/b": SECRET}}
    )
    reply = await rpc.send("tools/call", {"name": "give", "arguments": {}})
    assert SECRET not in reply.text
    assert reply.json()["result"]["content"] == [{"type": "text", "text": "it is ********"}]


async def test_structured_content_that_is_no_object_is_text_in_a_session(board: Pegboard) -> None:
    exchange = McpExchange()
    exchange.result = {"content": [], "structuredContent": [1, 2], "resultType": "complete"}
    ended = ToolResult("give", True, run_id="r1")
    older = encode_tool_result(ended, SESSION_REVISION, board.snapshot, exchange)
    assert json.loads(b"{" + older.members + b"}") == {"content": [{"type": "text", "text": "[1,2]"}], "isError": False}
    newer = encode_tool_result(ended, STATELESS_REVISION, board.snapshot, exchange)
    assert json.loads(b"{" + newer.members + b"}") == {"content": [], "structuredContent": [1, 2], "isError": False}


@pytest.mark.parametrize(
    ("code", "data"), [(-32042, {"elicitations": [{"mode": "url"}]}), (-32021, {"requiredCapabilities": {"roots": {}}})]
)
async def test_errors_that_a_client_can_handle_are_errors_of_the_protocol(
    raw: Raw, rpc: RpcClient, code: int, data: dict[str, Any]
) -> None:
    await raw.take()
    raw.write(tools__call={"error": {"code": code, "message": f"sign in with {SECRET}", "data": data}})
    found = error(await rpc.send("tools/call", {"name": "give"}), 400 if rpc.is_stateless else 200, code)
    assert found["data"] == data
    assert SECRET not in found["message"]
    row = good(await rpc.http.get("/v1/executions"))["items"][0]
    assert (row["status"], row["code"]) == ("failed", "upstream_failed")


async def find_tool(rpc: RpcClient, name: str) -> dict[str, Any]:
    """Return a listed tool."""
    tools = (await rpc.result("tools/list"))["tools"]
    return next(tool for tool in tools if tool["name"] == name)


async def test_a_tool_is_listed_as_its_server_describes_it(raw: Raw, rpc: RpcClient) -> None:
    described = {
        **TOOL,
        "title": "Give it",
        "annotations": {"readOnlyHint": False, "openWorldHint": False, "x-own": 1},
        "icons": [{"src": "https://example.com/i.png", "x": 1}],
        "_meta": {"example.com/ui": {"resourceUri": "ui://own/view"}},
        "x-extension": {"a": [1]},
        "execution": {"taskSupport": "required"},
    }
    raw.results["tools/list"] = {"tools": [described]}
    await raw.take()
    listed = await find_tool(rpc, "give")
    for name in ("title", "annotations", "icons", "_meta", "x-extension"):
        assert listed[name] == described[name]
    assert "execution" not in listed
    good(await rpc.http.patch("/v1/tools/give", json={"read_only": True, "display_name": "Other"}))
    listed = await find_tool(rpc, "give")
    assert listed["annotations"] == {"readOnlyHint": True, "openWorldHint": False, "x-own": 1}
    assert listed["title"] == "Other"


async def test_what_refers_to_a_secret_or_is_too_large_is_not_listed(raw: Raw, rpc: RpcClient) -> None:
    added = {"icons": [{"src": "data:," + "x" * 40_000}], "_meta": {"a": "{{secret:own}}"}, "x-kept": 1}
    raw.results["tools/list"] = {"tools": [{**TOOL, **added}]}
    report = await raw.take()
    assert len(report["warnings"]) == 2
    listed = await find_tool(rpc, "give")
    assert listed.keys() & added.keys() == {"x-kept"}


async def test_a_drifted_tool_and_one_that_is_not_on_the_agent_are_results_with_the_name(
    raw: Raw, rpc: RpcClient
) -> None:
    raw.write(tools__call={"content": []})
    await raw.take()
    good(await rpc.http.post("/v1/agents", json={"name": "Without", "tools": ["math_eval"]}), 201)
    limited = RpcClient(rpc.http, rpc.revision, "/agents/Without/mcp")
    await limited.start()
    missing = await limited.call("give")
    raw.write(tools__list={"tools": [{**TOOL, "description": "Take."}]})
    good(await rpc.http.post("/v1/imports/mcp", json=raw.server, timeout=60))
    for result in (missing, await rpc.call("give")):
        assert result["isError"] is True
        assert "give" in result["content"][0]["text"]
    await rpc.check_alive()
    await limited.check_alive()
