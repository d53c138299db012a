"""Log messages of imported servers, as clients of the board receive them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.kinds.mcp import call_client
from tests.surfaces.mcp.requesting_upstreams import SECRET, open_session, start_call, take
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, error
from tests.surfaces.mcp.test_mcp_streams import opened

pytestmark = pytest.mark.anyio
ERAS = ("legacy", "modern", "both")
LEVEL_KEY = "io.modelcontextprotocol/logLevel"


async def read_logged(client: RpcClient, level: str | None, *, logged: str = "info", text: str = "hi") -> list[Any]:
    """The params of the log messages of a call, in the order of the stream, which ends with the result."""
    params: dict[str, Any] = {"name": "log", "arguments": {"level": logged, "text": text}}
    if client.is_stateless and level is not None:
        params["_meta"] = {LEVEL_KEY: level}
    elif level is not None:
        assert await client.result("logging/setLevel", {"level": level}) == {}
    async with opened(client, client.message("tools/call", params, 5)) as stream:
        messages = [message async for message in stream.rest()]
    assert messages[-1]["result"]["content"][0]["text"] == "logged"
    assert all(message["method"] == "notifications/message" for message in messages[:-1])
    return [message["params"] for message in messages[:-1]]


@pytest.mark.parametrize("era", ERAS)
async def test_log_messages_pass_from_the_level_of_the_client_on(rpc: RpcClient, era: str) -> None:
    await take(rpc.http, era)
    assert await read_logged(rpc, None) == []
    assert await read_logged(rpc, "info") == [{"level": "info", "data": "hi"}]
    assert await read_logged(rpc, "warning") == []
    assert await read_logged(rpc, "warning", logged="error") == [{"level": "error", "data": "hi"}]
    assert await read_logged(rpc, "debug", logged="debug") == [{"level": "debug", "data": "hi"}]


async def test_credentials_in_log_messages_are_masked(rpc: RpcClient) -> None:
    await take(rpc.http, "both")
    assert await read_logged(rpc, "info", text=f"key={SECRET}") == [{"level": "info", "data": "key=********"}]


async def test_the_data_of_a_large_log_message_is_left_out(rpc: RpcClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_client, "MAX_LOG_CHARS", 1000)
    await take(rpc.http, "both")
    (logged,) = await read_logged(rpc, "info", text="x" * 2000)
    assert logged["level"] == "info"
    assert "characters left out" in logged["data"]


async def test_a_log_level_must_be_one_of_the_protocol(rpc: RpcClient) -> None:
    if rpc.is_stateless:
        params = {"name": "math_eval", "arguments": {}, "_meta": {LEVEL_KEY: "loud"}}
        error(await rpc.send("tools/call", params), 400, -32602)
    else:
        error(await rpc.send("logging/setLevel", {"level": "loud"}), 200, -32602)
    await rpc.check_alive()


async def test_log_messages_go_to_the_client_of_the_call_only(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    listening, quiet = await open_session(admin), await open_session(admin, {})
    stateless = RpcClient(admin, STATELESS)
    await listening.result("logging/setLevel", {"level": "debug"})
    async with start_call(listening, "ask") as call:
        asked = await call.question()
        for client in (quiet, stateless):
            assert await read_logged(client, None) == []
        assert len(await read_logged(stateless, "debug")) == 1
        await call.answer(asked)
        assert json.loads(await call.text()) == [{"name": "Ann"}]


async def test_a_client_that_accepts_json_only_gets_no_log_messages(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = RpcClient(admin, SESSION)
    await client.start()
    await client.result("logging/setLevel", {"level": "debug"})
    params = {"name": "log", "arguments": {"level": "info", "text": "hi"}}
    reply = await client.post(client.message("tools/call", params), Accept="application/json")
    assert reply.json()["result"]["content"][0]["text"] == "logged"
