"""Each kind of bad input gets its error, in both revisions, and the server answers the next request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.surfaces.mcp.conftest import SharedServer
from tests.surfaces.mcp.rpc import META, SESSION, STATELESS, RpcClient, client_of, encoded, error
from tests.surfaces.rest.clients import good, mock
from tests.surfaces.rest.raw_http import head, read_response, wire

pytestmark = pytest.mark.anyio
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'


@pytest.mark.parametrize("body", [b"", b"{", b"not json", b'{"a":1}x', b"\xff", b'{"jsonrpc":"2.0","id":NaN}'])
async def test_a_body_that_is_not_json(shared_rpc: RpcClient, body: bytes) -> None:
    error(await shared_rpc.raw(body), 400, -32700, None)


async def test_a_body_that_is_too_large(shared_rpc: RpcClient) -> None:
    reply = await shared_rpc.raw(b'"' + b"x" * 200_000 + b'"')
    assert reply.status_code == 413


async def test_a_body_that_is_too_deep(shared_rpc: RpcClient) -> None:
    error(await shared_rpc.raw(b"[" * 5000 + b"]" * 5000), 400, -32600, None)
    deep = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001
    error(await shared_rpc.raw(deep), 400, -32600, None)


@pytest.mark.parametrize(
    ("value", "id"),
    [
        ([], None),
        ([json.loads(LIST)], None),
        (5, None),
        ("text", None),
        (None, None),
        ({"jsonrpc": "2.0"}, None),
        ({"jsonrpc": "2.0", "id": 7}, 7),
        ({"jsonrpc": "1.0", "id": 7, "method": "ping"}, 7),
        ({"id": 7, "method": "ping"}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": 5}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": None}, 7),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 10**300, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}, 7),
    ],
)
async def test_json_that_is_no_message(shared_rpc: RpcClient, value: Any, id: Any) -> None:
    error(await shared_rpc.raw(json.dumps(value).encode()), 400, -32600, id)


@pytest.mark.parametrize("id", [0, -1, 2**53 + 1, 10**30, "", "x", "é\n"])
async def test_an_id_is_returned_unchanged(shared_rpc: RpcClient, id: Any) -> None:
    assert "tools" in await shared_rpc.result("tools/list", id=id)


async def test_a_notification_is_accepted_and_a_response_is_not_awaited(shared_rpc: RpcClient) -> None:
    for method in ("notifications/initialized", "notifications/cancelled", "notifications/unknown"):
        reply = await shared_rpc.notify(method)
        assert reply.status_code == 202
        assert reply.content == b""
    for odd in ({"requestId": [1]}, {"requestId": True}, {"requestId": 99}):
        assert (await shared_rpc.notify("notifications/cancelled", odd)).status_code == 202
    responses: list[dict[str, Any]] = [{"result": {}}, {"error": {"code": 1, "message": "x"}}]
    for response in responses:
        error(await shared_rpc.post({"jsonrpc": "2.0", "id": 4, **response}), 400, -32600, 4)


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Content_Type", "text/plain", 415),
        ("Content_Type", "application/x-www-form-urlencoded", 415),
        ("Content_Type", None, 415),
        ("Content_Type", "application/json; charset=utf-8", 200),
        ("Content_Type", "Application/JSON", 200),
        ("Accept", "text/html", 406),
        ("Accept", "text/event-stream", 406),
        ("Accept", "application/json;q=0, */*;q=0", 406),
        ("Accept", "*/*", 200),
        ("Accept", "application/*", 200),
        ("Accept", "application/json", 200),
    ],
)
async def test_media_types(shared_rpc: RpcClient, header: str, value: str | None, status: int) -> None:
    reply = await shared_rpc.post(shared_rpc.message("tools/list"), **{header: value})
    assert reply.status_code == status, reply.text
    if status == 200:
        assert reply.json()["result"]["tools"]
    else:
        error(reply, status, -32600, None)


async def test_no_accept_header_is_allowed(shared_server: SharedServer, shared_rpc: RpcClient) -> None:
    request = shared_rpc.http.build_request("POST", "/mcp", json=shared_rpc.message("tools/list"))
    headers = shared_rpc.headers(shared_rpc.message("tools/list"))
    request.headers.update(headers)
    del request.headers["accept"]
    assert (await shared_rpc.http.send(request)).status_code == 200


@pytest.mark.parametrize(
    ("meta", "key"),
    [
        (None, VERSION),
        ({}, VERSION),
        ({CAPABILITIES: {}}, VERSION),
        ({VERSION: STATELESS}, CAPABILITIES),
        ([], VERSION),
        ({VERSION: 5, CAPABILITIES: {}}, VERSION),
        ({VERSION: STATELESS, CAPABILITIES: []}, CAPABILITIES),
    ],
)
async def test_incomplete_meta(shared_rpc: RpcClient, meta: Any, key: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta} if meta is not None else {}}
    reply = await shared_rpc.post(message)
    if shared_rpc.is_stateless:
        assert key in error(reply, 400, -32602)["message"]
    else:
        assert "tools" in reply.json()["result"]


async def test_headers_that_differ_from_the_body(shared_rpc: RpcClient, shared_server: SharedServer) -> None:
    if not shared_rpc.is_stateless:
        for version in ("2026-01-01", "x", "2025-11-25, 2025-11-25"):
            reply = await shared_rpc.post(shared_rpc.message("tools/list"), MCP_Protocol_Version=version)
            assert reply.status_code == 400
        return
    before = shared_server.board.pipeline.running_count
    call = shared_rpc.message("tools/call", {"name": "number", "arguments": {"n": 1}})
    for header, values in (
        ("MCP_Protocol_Version", ["2027-01-01", "", f"{STATELESS}, {STATELESS}"]),
        ("Mcp_Method", [None, "tools/list", "TOOLS/CALL", ""]),
        ("Mcp_Name", [None, "other", "NUMBER", "=?base64?bnVtYmVy=?=", "=?base64?!?="]),
    ):
        for value in values:
            error(await shared_rpc.post(call, **{header: value}), 400, -32020)
    # Without the version header, the rules of sessions apply; the body says that the header is missing.
    error(await shared_rpc.post(call, MCP_Protocol_Version=None), 400, -32020)
    assert shared_server.board.pipeline.running_count == before
    assert (await shared_rpc.post(call, Mcp_Name=encoded("number"))).json()["result"]["structuredContent"] == {"n": 1}
    body = json.dumps(call).encode()
    given = {**shared_rpc.headers(call), "Mcp-Name": " \tnumber \t", "Content-Length": str(len(body))}
    async with wire(shared_server.url) as stream:
        lines = [f"{name.upper()}: {value}  " for name, value in given.items()]
        await stream.send(head("POST", "/mcp", *lines, host="localhost") + body)
        assert (await read_response(stream))[0] == 200


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
async def test_a_routing_header_that_was_sent_twice(shared_server: SharedServer, name: str) -> None:
    async with client_of(shared_server.url) as http:
        rpc = RpcClient(http, STATELESS)
        message = rpc.message("tools/call", {"name": "number", "arguments": {"n": 1}})
        headers = list(rpc.headers(message).items())
        twice = [*headers, (name.upper(), dict(headers)[name])]
        error(await http.post("/mcp", json=message, headers=twice), 400, -32020)
        await rpc.check_alive()


async def test_an_unknown_version(shared_rpc: RpcClient) -> None:
    if shared_rpc.is_stateless:
        message = shared_rpc.message("tools/list", {"_meta": {VERSION: "2027-01-01"}})
        found = error(await shared_rpc.post(message, MCP_Protocol_Version="2027-01-01"), 400, -32022)
        assert found["data"] == {"supported": [STATELESS], "requested": "2027-01-01"}
        reply = await shared_rpc.post({"jsonrpc": "2.0", "method": "n"}, MCP_Protocol_Version="2027-01-01")
        error(reply, 400, -32022, None)
    else:
        params = {"protocolVersion": "2027-01-01", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        reply = await shared_rpc.post(shared_rpc.message("initialize", params), Mcp_Session_Id=None)
        assert reply.json()["result"]["protocolVersion"] == SESSION


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 5}, {"protocolVersion": SESSION, "capabilities": []}])
async def test_initialize_without_what_it_needs(shared_server: SharedServer, params: Any) -> None:
    async with client_of(shared_server.url) as http:
        error(await RpcClient(http, SESSION).send("initialize", params), 200, -32602)


async def test_an_unknown_method_and_one_of_the_other_revision(shared_rpc: RpcClient) -> None:
    other = ("ping", "initialize", "logging/setLevel") if shared_rpc.is_stateless else ("server/discover",)
    for method in ("tools/unknown", "", "tools/call2", *other):
        error(await shared_rpc.send(method), 404 if shared_rpc.is_stateless else 200, -32601)


async def test_a_request_without_a_session_or_with_a_foreign_one(
    shared_server: SharedServer, shared_rpc: RpcClient
) -> None:
    if shared_rpc.is_stateless:
        reply = await shared_rpc.post(shared_rpc.message("tools/list"), Mcp_Session_Id="no-session")
        assert reply.status_code == 200  # this revision has no sessions
        return
    message = shared_rpc.message("tools/list")
    error(await shared_rpc.post(message, Mcp_Session_Id=None), 400, -32600)
    error(await shared_rpc.post(message, Mcp_Session_Id="no-session"), 404, -32600)
    user = good(
        await shared_rpc.http.post("/v1/users", json={"name": f"user-{shared_rpc.session_id}", "role": "admin"}), 201
    )
    key = good(await shared_rpc.http.post(f"/v1/users/{user['id']}/keys", json={}), 201)["key"]
    own = {"Authorization": f"Bearer {key}"}
    error(await shared_rpc.post(message, **own), 404, -32600)
    reply = await shared_rpc.http.delete("/mcp", headers={"Mcp-Session-Id": shared_rpc.session_id or "", **own})
    assert reply.status_code == 404


async def test_a_session_ends_with_delete(shared_server: SharedServer) -> None:
    async with client_of(shared_server.url) as http:
        rpc = RpcClient(http, SESSION)
        await rpc.start()
        headers = {"Mcp-Session-Id": rpc.session_id or ""}
        assert (await http.delete("/mcp", headers=headers)).status_code == 204
        error(await rpc.send("tools/list"), 404, -32600)
        assert (await http.delete("/mcp", headers=headers)).status_code == 404
        assert (await http.get("/mcp", headers={"Accept": "text/event-stream", **headers})).status_code == 404
        await rpc.start()
        await rpc.check_alive()


async def test_other_http_methods(shared_server: SharedServer) -> None:
    async with client_of(shared_server.url) as http:
        modern = {"MCP-Protocol-Version": STATELESS}
        for method in ("GET", "DELETE", "PUT", "HEAD", "OPTIONS"):
            reply = await http.request(method, "/mcp", headers=modern)
            assert reply.status_code == 405
            assert reply.headers["allow"] == "POST"
        for method in ("PUT", "PATCH"):
            assert (await http.request(method, "/mcp")).headers["allow"] == "GET, POST, DELETE"
        assert (await http.get("/mcp", headers={"Accept": "text/event-stream"})).status_code == 400
        assert (await http.get("/mcp", headers={"Accept": "application/json"})).status_code == 406


async def test_a_tool_that_cannot_be_called_is_a_result(shared_rpc: RpcClient) -> None:
    name = f"gone_{shared_rpc.revision.replace('-', '_')}"
    good(await shared_rpc.http.post("/v1/tools", json=mock(name)), 201)
    assert (await shared_rpc.call(name))["isError"] is False
    good(await shared_rpc.http.patch(f"/v1/tools/{name}", json={"is_active": False}))
    inactive = await shared_rpc.call(name)
    good(await shared_rpc.http.delete(f"/v1/tools/{name}"), 204)
    for result in (inactive, await shared_rpc.call(name), await shared_rpc.call("none")):
        assert result["isError"] is True
    assert name in inactive["content"][0]["text"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": None},
        {"name": "number", "arguments": []},
        {"name": "number", "arguments": "{}"},
        {"name": "number", "arguments": 0},
    ],
)
async def test_params_of_a_call_that_are_not_valid(shared_rpc: RpcClient, params: dict[str, Any]) -> None:
    error(await shared_rpc.send("tools/call", params), 400 if shared_rpc.is_stateless else 200, -32602)


async def test_responses_to_requests_for_input(shared_rpc: RpcClient) -> None:
    call = {"name": "number", "arguments": {"n": 1}}
    assert (await shared_rpc.result("tools/call", {**call, "inputResponses": {"unknown": {}}}))["isError"] is False
    if shared_rpc.is_stateless:
        error(await shared_rpc.send("tools/call", {**call, "inputResponses": [1]}), 400, -32602)
        # This server requests no input, so it has issued no state.
        error(await shared_rpc.send("tools/call", {**call, "requestState": "made-up"}), 400, -32602)


@pytest.mark.parametrize("cursor", ["x", "", "-1", "a-b", 5, "9" * 400])
@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
async def test_a_cursor_that_is_not_valid(shared_rpc: RpcClient, method: str, cursor: Any) -> None:
    status = 400 if shared_rpc.is_stateless else 200
    error(await shared_rpc.send(method, {"cursor": cursor}), status, -32602)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", {"name": "none"}),
        ("prompts/get", {}),
        ("resources/read", {}),
        ("completion/complete", {}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
        ("completion/complete", {"ref": 5, "argument": 5}),
    ],
)
async def test_what_does_not_exist(shared_rpc: RpcClient, method: str, params: dict[str, Any]) -> None:
    error(await shared_rpc.send(method, params), 400 if shared_rpc.is_stateless else 200, -32602)


async def test_log_levels_and_subscriptions_of_a_session(shared_rpc: RpcClient) -> None:
    if shared_rpc.is_stateless:
        return
    assert await shared_rpc.result("logging/setLevel", {"level": "warning"}) == {}
    error(await shared_rpc.send("logging/setLevel", {"level": "loud"}), 200, -32602)
    error(await shared_rpc.send("resources/subscribe", {"uri": "file:///x"}), 200, -32002)
    assert await shared_rpc.result("resources/unsubscribe", {"uri": "file:///x"}) == {}


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic YTpi", "bearer", "Token x"]
)
async def test_a_wrong_key_is_refused_before_the_body_is_read(
    shared_server: SharedServer, authorization: str | None
) -> None:
    lines = [] if authorization is None else [f"Authorization: {authorization}"]
    for method in ("POST", "GET", "DELETE"):
        async with wire(shared_server.url) as stream:
            # The body is never sent.
            await stream.send(head(method, "/mcp", *lines, "Content-Length: 100000", key=None, host="localhost"))
            status, headers, body = await read_response(stream)
        assert status == 401
        assert body["error"]["message"]
        challenge = headers["www-authenticate"]
        assert challenge.startswith('Bearer error="invalid_token", error_description="')
        assert "resource_metadata" not in challenge


async def test_there_is_no_metadata_of_oauth(shared_server: SharedServer) -> None:
    async with client_of(shared_server.url, None) as http:
        for name in ("oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"):
            assert (await http.get(f"/.well-known/{name}")).status_code == 404


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "evil.example:8080", 421),
        ("Host", "localhost.evil.example", 421),
        ("Host", "127.0.0.1.evil.example:80", 421),
        ("Host", "localhost:1", 200),
        ("Host", "LOCALHOST", 200),
        ("Host", "[::1]:99", 200),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost.evil.example", 403),
        ("Origin", "http://localhost:5173", 200),
        ("Origin", "http://127.0.0.1", 200),
        ("Origin", "https://[::1]:1", 200),
        ("Origin", "file://localhost", 403),
        ("Origin", "http://localhost@evil.example", 403),
        ("Origin", "http://[", 403),
    ],
)
async def test_host_and_origin(shared_rpc: RpcClient, header: str, value: str, status: int) -> None:
    reply = await shared_rpc.post(shared_rpc.message("tools/list"), **{header: value})
    assert reply.status_code == status, reply.text


async def test_params_in_headers(shared_server: SharedServer) -> None:
    properties = {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
    }
    async with client_of(shared_server.url) as http:
        rpc = RpcClient(http, STATELESS)
        schema = {"type": "object", "properties": properties}
        good(await http.post("/v1/tools", json=mock("routed", input_schema=schema)), 201)
        call = rpc.message("tools/call", {"name": "routed", "arguments": {"region": "süd", "count": 3}})
        sent = {"Mcp_Param_Region": encoded("süd"), "Mcp_Param_Count": "3"}
        assert (await rpc.post(call, **sent)).status_code == 200
        assert (await rpc.post(call, **{**sent, "Mcp_Param_Count": "3.0", "mcp_param_other": "x"})).status_code == 200
        for header, values in (
            ("Mcp_Param_Region", (None, "nord", "=?base64?x?=", encoded("nord"))),
            ("Mcp_Param_Count", (None, "4", "3.5", "three", "3e0")),
            ("Mcp_Param_On", ("true", "")),
        ):
            for value in values:
                error(await rpc.post(call, **{**sent, header: value}), 400, -32020)
        twice = [*rpc.headers(call).items(), ("Mcp-Param-Count", "3"), ("MCP-PARAM-COUNT", "3")]
        reply = await http.post("/mcp", json=call, headers=[*twice, ("Mcp-Param-Region", encoded("süd"))])
        error(reply, 400, -32020)
        await rpc.check_alive()


async def test_meta_of_the_other_revision_is_ignored(shared_rpc: RpcClient) -> None:
    result = await shared_rpc.result("tools/call", {"name": "number", "arguments": {"n": 1}, "_meta": {**META, "x": 1}})
    assert result["isError"] is False
