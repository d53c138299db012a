"""The official Python client, in both modes, over HTTP and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from pegboard import CallContext, Pegboard
from pegboard.model.filters import ExecutionFilter
from pegboard.settings import Settings
from tests.board_surfaces import KEY, served
from tests.fork_server import forked_command
from tests.surfaces.mcp.rpc import SESSION, STATELESS, client_of
from tests.surfaces.rest.clients import good, mock

pytestmark = pytest.mark.anyio
MODES = ("legacy", "auto")
PEGBOARD = str(Path(sys.executable).with_name("pegboard"))


@asynccontextmanager
async def over_http(url: str, mode: str, key: str = KEY) -> AsyncIterator[Client]:
    """The client, connected to this URL."""
    http = httpx2.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {key}"})
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_stdio(
    mode: str, *words: str, callbacks: Mapping[str, Any] | None = None, **env: str
) -> AsyncIterator[Client]:
    """The client, connected to `pegboard mcp`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
    command, *args = forked_command("pegboard", "mcp", *words)
    parameters = StdioServerParameters(command=command, args=args, env={**inherited, **env})
    async with Client(stdio_client(parameters), mode=mode, **(callbacks or {})) as client:
        yield client


async def check_client(client: Client, mode: str) -> None:
    """The client lists and calls, with success and failure, also 50 times at once."""
    assert client.session.protocol_version == (SESSION if mode == "legacy" else STATELESS)
    listed = await client.list_tools()
    assert "math_eval" in [tool.name for tool in listed.tools]
    assert (await client.list_prompts()).prompts == []
    assert (await client.list_resources()).resources == []
    result = await client.call_tool("math_eval", {"expression": "2^10"})
    assert result.structured_content == {"result": 1024}
    failed = await client.call_tool("math_eval", {"expression": "1/0"})
    assert failed.is_error
    missing = await client.call_tool("none_such", {})
    assert missing.is_error
    assert missing.content[0].model_dump()["text"] == "Tool 'none_such' not found"
    calls = [client.call_tool("math_eval", {"expression": f"{n}+1"}) for n in range(50)]
    results = await asyncio.gather(*calls)
    assert [result.structured_content for result in results] == [{"result": n + 1} for n in range(50)]


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_over_http(board: Pegboard, url: str, mode: str) -> None:
    async with over_http(f"{url}/mcp", mode) as client:
        await check_client(client, mode)
    async with client_of(url) as http:
        good(await http.post("/v1/tools", json=mock("added")), 201)
        agent = good(await http.post("/v1/agents", json={"name": "Helper", "tools": ["added"]}), 201)
    async with over_http(f"{url}/mcp", mode) as client:
        assert "added" in [tool.name for tool in (await client.list_tools()).tools]
    for ref in (agent["id"], "Helper"):
        async with over_http(f"{url}/agents/{ref}/mcp", mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["added"]
    rows = (await board.executions(ExecutionFilter(), limit=200)).items
    assert len(rows) == 53
    assert {row.surface for row in rows} == {"mcp"}


@pytest.mark.parametrize("mode", MODES)
async def test_a_wrong_key_is_refused_at_once(url: str, mode: str) -> None:
    began = time.monotonic()
    with pytest.raises((MCPError, ExceptionGroup)) as raised:
        async with over_http(f"{url}/mcp", mode, key="wrong"):
            pass
    assert "not known here" in repr(raised.value)
    assert time.monotonic() - began < 5


async def test_the_official_client_follows_changes_of_the_list(board: Pegboard, url: str) -> None:
    async with over_http(f"{url}/mcp", "auto") as client, client.listen(tools_list_changed=True) as changes:
        async with client_of(url) as http:
            good(await http.post("/v1/tools", json=mock("added")), 201)
        async with asyncio.timeout(5):
            assert type(await anext(changes)).__name__ == "ToolsListChanged"


@pytest.mark.parametrize("mode", MODES)
async def test_progress_reaches_the_official_client(board: Pegboard, url: str, mode: str) -> None:
    @board.tool
    async def steps(call: CallContext) -> str:
        """Report two steps."""
        for step in (1, 2):
            call.progress(step, 2, f"step {step}")
            await asyncio.sleep(0.15)
        return "done"

    seen: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with over_http(f"{url}/mcp", mode) as client:
        result = await client.call_tool("steps", {}, progress_callback=on_progress)
    assert result.content[0].model_dump()["text"] == "done"
    assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a board that the commands open themselves."""
    yield tmp_path_factory.mktemp("home")


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_over_stdio_with_an_own_board(home: Path, mode: str) -> None:
    async with over_stdio(mode, PEGBOARD_HOME=str(home)) as client:
        await check_client(client, mode)


async def test_the_command_works_while_a_server_runs_on_the_same_home(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, admin_key=KEY)
    async with Pegboard.open(settings=settings) as board, served(board) as url, client_of(url) as http:
        good(await http.post("/v1/tools", json=mock("shared")), 201)
        async with over_stdio("auto", PEGBOARD_HOME=str(tmp_path), PEGBOARD_KEY=KEY) as client:
            assert "shared" in [tool.name for tool in (await client.list_tools()).tools]
            assert not (await client.call_tool("shared", {})).is_error
        rows = (await board.executions(ExecutionFilter())).items
        assert [(row.tool_name, row.surface) for row in rows] == [("shared", "mcp")]


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_over_stdio_to_a_server(board: Pegboard, url: str, mode: str) -> None:
    async with over_stdio(mode, PEGBOARD_URL=url, PEGBOARD_KEY=KEY) as client:
        await check_client(client, mode)
    rows = (await board.executions(ExecutionFilter(), limit=200)).items
    assert [len(rows), {row.surface for row in rows}] == [53, {"mcp"}]


async def talk(words: list[str], lines: list[bytes], **env: str) -> tuple[int, list[Any], str, float]:
    """Return the exit code, the output and the errors of the command, and its duration after the end of its input."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
    process = await asyncio.create_subprocess_exec(
        PEGBOARD, *words, stdin=-1, stdout=-1, stderr=-1, env={**inherited, **env}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    found = []
    try:
        async with asyncio.timeout(60):
            for line in lines:
                process.stdin.write(line + b"\n")
                if line.startswith(b"{") and b'"id"' not in line:
                    continue
                if answer := await process.stdout.readline():
                    found.append(json.loads(answer))
            process.stdin.close()
            ended = time.monotonic()
            rest, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    found += [json.loads(line) for line in rest.splitlines()]
    assert process.returncode is not None
    return process.returncode, found, errors.decode(), time.monotonic() - ended


async def test_stdout_has_only_messages_and_the_process_ends_with_its_input(home: Path) -> None:
    ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    notified = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    early = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
    lines = [b"not json", b"[]", ping % 1, early, notified, ping % 3]
    code, found, errors, seconds = await talk(["mcp"], lines, PEGBOARD_HOME=str(home))
    assert code == 0, errors
    codes = [answer["error"]["code"] if "error" in answer else answer["result"] for answer in found]
    assert codes == [-32700, -32600, {}, -32600, {}]
    assert seconds < 1


async def test_an_unknown_agent_and_an_unknown_key_are_usage_errors(home: Path) -> None:
    for words, key, message in (
        (["mcp", "--agent", "none"], None, "Agent 'none' not found"),
        (["mcp"], "wrong", "not known here"),
    ):
        env = {} if key is None else {"PEGBOARD_KEY": key}
        code, found, errors, _ = await talk(words, [], PEGBOARD_HOME=str(home), **env)
        assert (code, found) == (2, [])
        assert message in errors


async def test_a_relay_without_a_server_answers_with_errors(home: Path) -> None:
    env = {"PEGBOARD_URL": "http://127.0.0.1:9", "PEGBOARD_KEY": KEY}
    odd = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}'
    code, found, _, seconds = await talk(["mcp"], [odd, b'{"jsonrpc":"2.0","id":1,"method":"ping"}'], **env)
    assert code == 0
    assert found[0]["id"] == 1
    assert "cannot be reached" in found[0]["error"]["message"]
    assert seconds < 1


async def test_a_board_imports_the_tools_of_another_one(url: str, board: Pegboard, tmp_path: Path) -> None:
    async with client_of(url) as http:
        good(await http.post("/v1/tools", json=mock("far_away", config={"mock_response": {"a": [1]}})), 201)
    other = Settings(home=tmp_path, admin_key=KEY, egress_allow="127.0.0.1")
    async with Pegboard.open("memory", settings=other) as importing, served(importing) as near, client_of(near) as http:
        server = {"server_url": f"{url}/mcp", "auth_config": {"type": "bearer", "token": KEY}, "prefix": "far_"}
        report = good(await http.post("/v1/imports/mcp", json=server, timeout=60))
        assert "far_far_away" in json.dumps(report)
        for name, arguments, output in (
            ("far_far_away", {}, {"a": [1]}),
            ("far_math_eval", {"expression": "6*7"}, {"result": 42}),
        ):
            answer = good(await http.post(f"/v1/tools/{name}/call", json=arguments))
            assert answer["success"], answer
            assert answer["result"] == output
