"""`GET /v1/connect`: the texts that connect clients, and the agent loops, which are run as their readers do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from pegboard import Pegboard
from pegboard.surfaces.clients.mcp_client_formats import MCP_CLIENTS
from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY, served
from tests.integration.test_sdk_loops import ANTHROPIC, OPENAI
from tests.surfaces.mcp.rpc import client_of
from tests.surfaces.mcp.test_mcp_config import DOCUMENTED, fill_in
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem
from tests.upstreams import Received, Wire, answer_json, upstream

LOOPS = {"openai": ("OPENAI", "/v1", OPENAI), "anthropic": ("ANTHROPIC", "", ANTHROPIC)}


@pytest.fixture
async def url(board: Pegboard) -> AsyncIterator[str]:
    """The address of the board's server."""
    async with served(board) as address:
        yield address


@pytest.fixture
async def http(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """The admin, over a connection."""
    async with client_of(url) as opened:
        yield opened


async def test_the_texts_have_the_address_of_the_request_and_no_key(http: httpx.AsyncClient, url: str) -> None:
    given = good(await http.get("/v1/connect"))
    assert (given["address"], given["mcp_url"]) == (url, f"{url}/mcp")
    pairs = [(name, transport) for name, form in MCP_CLIENTS.items() for transport in form.transports]
    assert [(each["name"], each["transport"]) for each in given["clients"]] == pairs
    for each in given["clients"] + given["loops"]:
        assert url in each["config"]
        assert each["notes"]
    assert KEY not in json.dumps(given)


async def test_an_agent_and_another_address_are_in_every_text(http: httpx.AsyncClient) -> None:
    agent = good(await http.post("/v1/agents", json={"name": "a helper", "tools": []}), 201)
    query = {"agent": "a helper", "address": "https://board.example/tools/"}
    given = good(await http.get("/v1/connect", params=query))
    assert given["mcp_url"] == "https://board.example/tools/agents/a%20helper/mcp"
    for each in given["clients"]:
        assert "https://board.example/tools" in each["config"]
        assert ("a%20helper/mcp" if each["transport"] == "http" else "a helper") in each["config"]
    assert all(f"/v1/agents/{agent['id']}/definitions" in each["config"] for each in given["loops"])


async def test_the_public_url_counts_more_than_the_request() -> None:
    async with memory_board(admin_key=KEY, public_url="https://tools.example/board") as board, client(board) as admin:
        assert good(await admin.get("/v1/connect"))["mcp_url"] == "https://tools.example/board/mcp"


async def test_a_wrong_address_and_an_unknown_agent_are_refused(http: httpx.AsyncClient) -> None:
    for address in ("ftp://board.example", "https://user:word@board.example", "https://board.example?x", "board"):
        refused = problem(await http.get("/v1/connect", params={"address": address}), 422)
        assert refused["errors"][0]["field"] == "address"
    problem(await http.get("/v1/connect", params={"agent": "none"}), 404)


async def test_a_member_does_not_learn_of_the_agents_of_others(http: httpx.AsyncClient) -> None:
    good(await http.post("/v1/agents", json={"name": "helper", "tools": []}), 201)
    _, key = await new_user(http, "ana")
    problem(await http.get("/v1/connect", params={"agent": "helper"}, headers=bearer(key)), 404)
    assert good(await http.get("/v1/connect", headers=bearer(key)))["clients"]


@pytest.mark.parametrize("agent", [None, "helper"])
@pytest.mark.parametrize("name", LOOPS)
async def test_an_agent_loop_runs_the_call_of_the_model(
    http: httpx.AsyncClient, url: str, board: Pegboard, name: str, agent: str | None
) -> None:
    variable, path, script = LOOPS[name]
    good(await http.post("/v1/tools", json=mock("add", config={"mock_response": "3 by the board"})), 201)
    good(await http.post("/v1/agents", json={"name": "helper", "tools": ["add"]}), 201)
    given = good(await http.get("/v1/connect", params={"agent": agent} if agent else {}))
    [text] = [each["config"] for each in given["loops"] if each["name"] == name]
    left: list[Any] = list(script)

    async def behave(request: Received, wire: Wire) -> None:
        await answer_json(left.pop(0))(request, wire)

    async with upstream(behave) as provider:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PEGBOARD_")}
        given_variables = {f"{variable}_BASE_URL": provider.url + path, f"{variable}_API_KEY": "x", "PEGBOARD_KEY": KEY}
        ran = await anyio.to_thread.run_sync(run_script, text, clean | given_variables)
        assert (ran.stdout.strip(), left) == ("3", []), ran.stderr
        declared = json.loads(provider.received[0].body)["tools"]
        assert b"3 by the board" in provider.last.body
    assert (len(declared) == 1) == (agent is not None)
    [row] = await calls_of(board, "add")
    assert (row.status, row.surface) == ("succeeded", "rest")


# A client of each way to get the key, of each format, and of each package that is installed.
RUN = [
    *((name, "http") for name in ("claude-code", "vscode", "codex", "gemini-cli", "windsurf", "zed", "fastmcp")),
    *((name, "stdio") for name in ("claude-desktop", "cursor", "codex", "pydantic-ai")),
]


@pytest.mark.parametrize(("name", "transport"), RUN)
async def test_the_text_for_a_client_connects_it(
    http: httpx.AsyncClient, tmp_path: Path, name: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(await http.post("/v1/tools", json=mock("its_tool")), 201)
    good(await http.post("/v1/agents", json={"name": "helper", "tools": ["its_tool"]}), 201)
    given = good(await http.get("/v1/connect", params={"agent": "helper"}))["clients"]
    [shown] = [each for each in given if (each["name"], each["transport"]) == (name, transport)]
    # The command of the texts is found on the PATH, and reads its key from a variable or from the home of its user.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    credentials = tmp_path / ".local" / "share" / "pegboard" / "credentials"
    credentials.parent.mkdir(parents=True)
    credentials.write_text(KEY)
    if shown["language"] == "python":
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PEGBOARD_")}
        ran = await anyio.to_thread.run_sync(run_script, shown["config"], clean | {"PEGBOARD_KEY": KEY})
        assert ran.stdout.split() == ["its_tool"], ran.stderr
        return
    read = tomllib.loads if shown["language"] == "toml" else json.loads
    root = DOCUMENTED[name][0]
    async with connected(name, read(shown["config"])[root]["pegboard"]) as opened:
        assert [tool.name for tool in (await opened.list_tools()).tools] == ["its_tool"]


@asynccontextmanager
async def connected(name: str, entry: dict[str, Any]) -> AsyncIterator[Client]:
    """The official client, connected according to an entry as its program would be."""
    url = entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl")
    if url is None:
        env = {key: fill_in(value) for key, value in entry.get("env", {}).items()}
        env |= dict.fromkeys(entry.get("env_vars", ()), KEY)
        transport = stdio_client(StdioServerParameters(command=entry["command"], args=entry["args"], env=env))
        async with Client(transport, mode="auto") as opened:
            yield opened
        return
    headers = {key: fill_in(value) for key, value in entry.get("headers", {}).items()}
    if name == "codex":
        headers = {"Authorization": f"Bearer {KEY}"}
    http = httpx2.AsyncClient(timeout=60, headers=headers)
    async with http, Client(streamable_http_client(url, http_client=http), mode="auto") as opened:
        yield opened


def run_script(text: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script as a process."""
    return subprocess.run(
        [sys.executable, "-c", text], env=variables, capture_output=True, text=True, timeout=60, check=False
    )
