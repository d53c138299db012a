"""Pages of the list, converted schemas, idle sessions, and the modules that the server loads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import httpx
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Pegboard
from pegboard.model.call import Caller
from pegboard.surfaces.mcp.mcp_sessions import McpSessions
from pegboard.surfaces.mcp.protocol import ProtocolError
from pegboard.surfaces.mcp.schema_2020 import convert_to_2020
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, client_of, error
from tests.surfaces.rest.clients import good, mock

pytestmark = pytest.mark.anyio
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("revision", [SESSION, STATELESS])
async def test_pages_have_every_tool_once_and_a_cursor_ends_with_a_change(revision: str) -> None:
    async with memory_board(admin_key=KEY, mcp_page_size=4) as board, served(board) as url, client_of(url) as http:
        rpc = RpcClient(http, revision)
        await rpc.start()
        for number in range(5):
            good(await http.post("/v1/tools", json=mock(f"tool_{number}")), 201)
        names: list[str] = []
        cursors: list[str] = []
        page = await rpc.result("tools/list")
        while "nextCursor" in page:
            assert len(page["tools"]) == 4
            names += [tool["name"] for tool in page["tools"]]
            cursors.append(page["nextCursor"])
            page = await rpc.result("tools/list", {"cursor": cursors[-1]})
        names += [tool["name"] for tool in page["tools"]]
        assert names == sorted(set(names), key=str.lower)
        assert {f"tool_{number}" for number in range(5)} < set(names)
        assert await rpc.result("tools/list", {"cursor": cursors[0]}) == await rpc.result(
            "tools/list", {"cursor": cursors[0]}
        )
        good(await http.post("/v1/tools", json=mock("tool_5")), 201)
        error(await rpc.send("tools/list", {"cursor": cursors[0]}), 200 if revision == SESSION else 400, -32602)


async def test_an_unchanged_list_is_not_computed_again(
    board: Pegboard, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    rpc = RpcClient(admin, STATELESS)
    await rpc.check_alive()
    counted: list[Caller] = []
    monkeypatch.setattr(board.snapshot, "list_offered_tools", counted.append)
    for _ in range(3):
        await rpc.check_alive()
    assert counted == []


async def test_output_schemas_that_are_no_object_are_listed_in_the_newer_revision(rpc: RpcClient) -> None:
    answers: dict[str, tuple[Any, dict[str, Any]]] = {
        "listed": ([1], {"type": "array", "items": {"type": "integer"}}),
        "word": ("x", {"type": "string"}),
        "thing": ({"a": 1}, {"type": "object"}),
    }
    for name, (output, schema) in answers.items():
        tool = mock(name, config={"mock_response": output}, output_schema=schema)
        good(await rpc.http.post("/v1/tools", json=tool), 201)
    tools = {tool["name"]: tool for tool in (await rpc.result("tools/list"))["tools"]}
    for name, (output, schema) in answers.items():
        result = await rpc.call(name)
        if rpc.is_stateless or name == "thing":
            assert tools[name]["outputSchema"] == schema
            assert result["structuredContent"] == output
        else:
            assert "outputSchema" not in tools[name]
            assert "structuredContent" not in result


async def test_idle_sessions_end_and_busy_ones_do_not() -> None:
    sessions = McpSessions(10, idle_seconds=0.1)
    caller = Caller("u", "ann", key_id="k")
    idle, busy, streaming = (sessions.create(caller, SESSION, {}) for _ in range(3))
    busy.running[1] = lambda: None
    ended: list[bool] = []
    streaming.close_stream = lambda: ended.append(True)
    await asyncio.sleep(0.25)
    assert len(sessions) == 2
    with pytest.raises(ProtocolError):
        sessions.find(idle.id.encode(), caller)
    for session in (busy, streaming):
        assert sessions.find(session.id.encode(), caller) is session
    assert not ended
    sessions.end(streaming)
    assert ended == [True]
    for stranger in (
        Caller("u", "ann", key_id="other"),
        Caller("v", "bob", key_id="k"),
        Caller("u", "ann", "member", "k", "a"),
    ):
        with pytest.raises(ProtocolError):
            sessions.find(busy.id.encode(), stranger)


def test_the_server_does_not_load_the_sdk() -> None:
    modules = ("rest.server", "cli.board_server", "cli.mcp_board", "cli.mcp_relay")
    imports = "; ".join(f"import pegboard.surfaces.{module}" for module in modules)
    code = f"import sys; {imports}; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"items": [{"type": "integer"}, {"type": "string"}]}}},
    {"properties": {"a": {"items": [{"type": "integer"}], "additionalItems": False}}},
    {"properties": {"a": {"items": [{"type": "integer"}], "additionalItems": {"type": "string"}}}},
    {"properties": {"a": {"items": {"type": "integer"}, "additionalItems": False}}},
    {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
    {"$ref": "#/definitions/A", "definitions": {"A": {"required": ["a"]}}, "minProperties": 3},
    {
        "properties": {
            "a": {"$ref": "#/definitions/x~1y"},
            "b": {"$ref": "#/properties/c/items/0"},
            "c": {"items": [{"type": "integer"}]},
        },
        "definitions": {"x/y": {"type": "string", "definitions": {"z": {}}}},
    },
    {
        "properties": {"a": {"$ref": "#/definitions/A"}},
        "definitions": {"A": {"type": "integer"}},
        "$defs": {"A": {"type": "string"}},
    },
    {
        "properties": {
            "definitions": {"type": "integer"},
            "items": {"type": "string"},
            "a": {"$ref": "#/properties/items"},
        }
    },
    {"properties": {"a": {"$ref": "#/properties/b/dependencies/x"}, "b": {"dependencies": {"x": {"type": "integer"}}}}},
    {
        "properties": {
            "a": {"$ref": "#/properties/b/additionalItems"},
            "b": {"items": [True], "additionalItems": {"type": "string"}},
        }
    },
    {"properties": {"a": {"$ref": "#here"}, "b": {"$id": "#here", "type": "integer"}}},
    {
        "allOf": [{"if": {"required": ["a"]}, "then": {"dependencies": {"a": ["b"]}}}],
        "not": {"items": [{"type": "null"}]},
    },
    {"patternProperties": {"^a": {"contains": {"items": [{"type": "integer"}]}}}, "propertyNames": {"maxLength": 9}},
    {"enum": [{"a": 1}, {"items": [1]}], "default": {"definitions": {}}},
]
leaves = st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.sampled_from(["", "x"]))
instances = st.dictionaries(
    st.sampled_from(["a", "b", "c", "items", "definitions"]),
    st.recursive(
        leaves, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.just("x"), inner)), max_leaves=5
    ),
    max_size=4,
)


@given(schema=st.sampled_from(SCHEMAS), instance=instances)
def test_a_converted_schema_accepts_the_same_values(schema: dict[str, Any], instance: Any) -> None:
    converted = convert_to_2020(schema)
    assert "definitions" not in converted or "$defs" in schema
    before = jsonschema_rs.Draft7Validator(schema).is_valid(instance)
    assert jsonschema_rs.Draft202012Validator(dict(converted)).is_valid(instance) == before


def test_a_schema_of_2020_12_is_unchanged() -> None:
    schema = {"$schema": DRAFT_2020, "definitions": {}, "dependencies": {"a": ["b"]}, "items": {"x": 1}}
    assert convert_to_2020(schema) is schema
