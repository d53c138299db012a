"""Prompts, resources and completions of imported MCP servers, as MCP clients of the board receive them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from pegboard.kinds.mcp import peer
from pegboard.surfaces.mcp.peer_lists import matches_template
from tests.surfaces.mcp.raw_upstreams import CATALOG, PROMPT, RESOURCE, SECRET, TEMPLATE, Upstreams, listed
from tests.surfaces.mcp.rpc import STATELESS, RpcClient, client_of, error
from tests.surfaces.rest.clients import good, mock, new_user

pytestmark = pytest.mark.anyio


@pytest.fixture
def upstreams(tmp_path: Path, admin: httpx.AsyncClient) -> Upstreams:
    """Servers to import."""
    return Upstreams(tmp_path, admin)


async def test_lists_pass_unchanged_with_the_prefix_of_the_import(upstreams: Upstreams, rpc: RpcClient) -> None:
    await upstreams.take("one", prefix="first_")
    assert await listed(rpc, "prompts/list", "prompts") == [{**PROMPT, "name": "first_hello"}]
    assert await listed(rpc, "resources/list", "resources") == [RESOURCE]
    assert await listed(rpc, "resources/templates/list", "resourceTemplates") == [TEMPLATE]
    prompt = await rpc.result("prompts/get", {"name": "first_hello"})
    assert prompt["messages"] == CATALOG["prompts/get hello"]["messages"]
    assert prompt["_meta"]["c/d"] == 1
    assert error(await rpc.send("prompts/get", {"name": "hello"}), 400 if rpc.is_stateless else 200, -32602)
    ref, argument = {"type": "ref/prompt", "name": "first_hello"}, {"name": "n", "value": "s"}
    completed = await rpc.result("completion/complete", {"ref": ref, "argument": argument})
    assert completed["completion"]["values"] == ["seven"]


async def test_resources_are_read_by_uri_and_by_template(upstreams: Upstreams, rpc: RpcClient) -> None:
    await upstreams.take("one")
    await upstreams.take(
        "two", {"resources/list": {"resources": []}, "resources/templates/list": {"resourceTemplates": []}}
    )
    read = await rpc.result("resources/read", {"uri": "ui://own/view"})
    assert read["contents"] == CATALOG["resources/read ui://own/view"]["contents"]
    assert read["x"] == 1
    assert ("ttlMs" in read) == rpc.is_stateless
    assert (await rpc.result("resources/read", {"uri": "note://7/text"}))["contents"][0]["text"] == "seven"
    for uri in ("file:///none", "note://8/text"):
        code = -32602 if rpc.is_stateless else -32002
        reply = await rpc.send("resources/read", {"uri": uri})
        if uri.startswith("file"):
            assert error(reply, 400 if rpc.is_stateless else 200, code)["data"] == {"uri": uri}
        else:
            assert "error" in reply.json()


async def test_a_uri_of_two_servers_is_listed_with_their_names(upstreams: Upstreams, rpc: RpcClient) -> None:
    await upstreams.take("one")
    other = {"contents": [{"uri": "ui://own/view", "text": "two"}]}
    await upstreams.take("two", {"resources/read ui://own/view": other})
    uris = [entry["uri"] for entry in await listed(rpc, "resources/list", "resources")]
    assert len(uris) == 2
    assert all(uri.startswith("pegboard://") and uri.endswith("/ui://own/view") for uri in uris)
    contents = [(await rpc.result("resources/read", {"uri": uri}))["contents"][0] for uri in uris]
    assert sorted(each["text"] for each in contents) == ["<p>", "two"]
    assert [each["uri"] for each in contents] == uris
    assert "error" in (await rpc.send("resources/read", {"uri": "ui://own/view"})).json()
    assert len(await listed(rpc, "prompts/list", "prompts")) == 1


async def test_only_callers_who_may_use_the_tools_see_the_rest(upstreams: Upstreams, url: str) -> None:
    await upstreams.take("one")
    good(await upstreams.http.post("/v1/tools", json=mock("plain", is_public=True)), 201)
    _, key = await new_user(upstreams.http, "ann")
    good(await upstreams.http.post("/v1/agents", json={"name": "Without", "tools": ["plain"]}), 201)
    good(await upstreams.http.post("/v1/agents", json={"name": "With", "tools": ["one_tool"]}), 201)
    async with client_of(url, key) as http:
        refused = [RpcClient(http, STATELESS), RpcClient(upstreams.http, STATELESS, "/agents/Without/mcp")]
        for client in refused:
            assert await listed(client, "resources/list", "resources") == []
            assert "error" in (await client.send("resources/read", {"uri": "ui://own/view"})).json()
            assert "error" in (await client.send("prompts/get", {"name": "hello"})).json()
        allowed = RpcClient(upstreams.http, STATELESS, "/agents/With/mcp")
        assert await listed(allowed, "resources/list", "resources") == [RESOURCE]
        good(await upstreams.http.patch("/v1/tools/one_tool", json={"is_public": True}))
        assert await listed(refused[0], "resources/list", "resources") == [RESOURCE]


async def test_a_slow_or_faulty_server_is_named_and_the_others_are_listed(
    upstreams: Upstreams, rpc: RpcClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer, "LIST_WAIT_SECONDS", 0.5)
    await upstreams.take("one")
    await upstreams.take("two", {"prompts/list": {"error": {"code": -32603, "message": f"out of {SECRET}"}}})
    (await upstreams.take("three", prefix="third_")).unlink()
    upstreams.write(await upstreams.take("four", prefix="fourth_"), {"hangs": ["prompts/list"]})
    began = time.monotonic()
    result = await rpc.result("prompts/list")
    assert time.monotonic() - began < 5
    # Accepted entries are listed, and a request reports that the server does not answer.
    assert [entry["name"] for entry in result["prompts"]] == ["hello", "third_hello", "fourth_hello"]
    unavailable = result["_meta"]["pegboard/unavailable"]
    assert len(unavailable) == 3
    assert SECRET not in json.dumps(unavailable)
    assert "error" in (await rpc.send("prompts/get", {"name": "third_hello"})).json()
    assert (await rpc.call("one_tool"))["isError"] is True  # the file has no result, but the server is called


async def test_credentials_are_masked(upstreams: Upstreams, rpc: RpcClient) -> None:
    text = {"role": "user", "content": {"type": "text", "text": SECRET}}
    results = {
        "resources/list": {"resources": [{**RESOURCE, "description": SECRET}]},
        "resources/read ui://own/view": {"contents": [{"uri": "ui://own/view", "text": SECRET}]},
        "prompts/get hello": {"messages": [text]},
        "resources/read note://7/text": {"error": {"code": 5, "message": SECRET, "data": {"s": SECRET}}},
    }
    await upstreams.take("one", results)
    replies = [
        await rpc.send("resources/list"),
        await rpc.send("resources/read", {"uri": "ui://own/view"}),
        await rpc.send("resources/read", {"uri": "note://7/text"}),
        await rpc.send("prompts/get", {"name": "hello"}),
    ]
    for reply in replies:
        assert SECRET not in reply.text
        assert "********" in reply.text
    assert replies[2].json()["error"]["code"] == 5


async def test_a_server_without_prompts_and_completions_has_none(upstreams: Upstreams, rpc: RpcClient) -> None:
    await upstreams.take(
        "one", {"capabilities": {"resources": {}}, "completion/complete": {"error": {"code": -32601, "message": "no"}}}
    )
    assert await listed(rpc, "prompts/list", "prompts") == []
    ref, argument = {"type": "ref/resource", "uri": TEMPLATE["uriTemplate"]}, {"name": "id", "value": "s"}
    assert (await rpc.result("completion/complete", {"ref": ref, "argument": argument}))["completion"]["values"] == []


async def test_long_lists_have_pages(upstreams: Upstreams, rpc: RpcClient) -> None:
    entries = [{"uri": f"x://{number}", "name": f"{number}"} for number in range(2500)]
    await upstreams.take("one", {"resources/list": {"resources": entries}})
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = await rpc.result("resources/list", cursor)
        found += page["resources"]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert found == entries
    for wrong in ("x-1", "1", cursor["cursor"] + "9"):
        error(await rpc.send("resources/list", {"cursor": wrong}), 400 if rpc.is_stateless else 200, -32602)


@pytest.mark.parametrize(
    ("uri", "template", "matches"),
    [
        ("a://1/b", "a://{id}/b", True),
        ("a://1/c", "a://{id}/b", False),
        ("a://1/x/2/b", "a://{id}/x/{n}/b", True),
        ("a://1/2/b", "a://{id}/x/{n}/b", False),
        ("a://b", "a://b", True),
        ("a://", "a://{x}a://", False),
        ("a" * 10_000, "{a}a{b}a{c}a{d}a{e}b", False),
    ],
)
def test_templates_match_by_their_fixed_parts(uri: str, template: str, matches: bool) -> None:
    assert matches_template(uri, template) is matches


async def test_the_servers_of_another_user_do_not_hide_those_of_the_caller(
    upstreams: Upstreams, rpc: RpcClient, url: str, tmp_path: Path
) -> None:
    _, key = await new_user(rpc.http, "eve", "admin")
    async with client_of(url, key) as http:
        other = {"prompts/get hello": {"messages": [], "description": "of eve"}}
        read = {"resources/read note://7/text": {"contents": [{"uri": "note://7/text", "text": "of eve"}]}}
        await Upstreams(tmp_path, http).take("older", {**other, **read}, is_public=True)
    own = {"prompts/get hello": {"messages": [], "description": "own"}}
    read = {"resources/read note://7/text": {"contents": [{"uri": "note://7/text", "text": "own"}]}}
    await upstreams.take("own", {**own, **read})
    assert len(await listed(rpc, "prompts/list", "prompts")) == 1
    assert (await rpc.result("prompts/get", {"name": "hello"}))["description"] == "own"
    assert (await rpc.result("resources/read", {"uri": "note://7/text"}))["contents"][0]["text"] == "own"
