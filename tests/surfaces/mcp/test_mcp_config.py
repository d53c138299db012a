"""`pegboard mcp config`: every printed configuration is parsed and used, as its client would."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx2
import pytest
from anthropic.types.beta import BetaMCPToolsetParam, BetaRequestMCPServerURLDefinitionParam
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from openai.types.responses.tool_param import Mcp
from pydantic import TypeAdapter

from pegboard import Pegboard
from pegboard.surfaces.clients.mcp_client_formats import KEY_PLACEHOLDER, MCP_CLIENTS
from tests.board_surfaces import KEY, served
from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import Outcome, Program
from tests.surfaces.mcp.rpc import client_of
from tests.surfaces.rest.clients import good, mock
from tests.upstreams import answer_json, upstream

PAIRS = [(name, transport) for name, form in MCP_CLIENTS.items() for transport in form.transports]
# The members that the documentation of each client names, over HTTP and over stdio.
DOCUMENTED = {
    "claude-code": ("mcpServers", {"type", "url", "headers"}, {"type", "command", "args", "env"}),
    "claude-desktop": ("mcpServers", set(), {"command", "args", "env"}),
    "cursor": ("mcpServers", {"url", "headers"}, {"type", "command", "args", "env"}),
    "vscode": ("servers", {"type", "url", "headers"}, {"type", "command", "args", "env"}),
    "codex": ("mcp_servers", {"url", "bearer_token_env_var"}, {"command", "args", "env", "env_vars"}),
    "gemini-cli": ("mcpServers", {"httpUrl", "headers"}, {"command", "args", "env"}),
    "windsurf": ("mcpServers", {"serverUrl", "headers"}, {"command", "args", "env"}),
    "zed": ("context_servers", {"url", "headers"}, {"command", "args", "env"}),
}
FILES = [(name, transport) for name, transport in PAIRS if name in DOCUMENTED]
SCRIPTS = [(name, transport) for name, transport in PAIRS if name not in DOCUMENTED and name != "inspector"]
PROGRAM = str(Path(sys.executable).with_name("pegboard"))
# How the clients write a reference to the key.
REFERENCES = ("${PEGBOARD_KEY}", "${env:PEGBOARD_KEY}", "${input:pegboard-key}", KEY_PLACEHOLDER)


def configure(*words: str, **environment: str) -> Outcome:
    """Return the output of `pegboard mcp config`."""
    return Program().run("mcp", "config", *words, **environment)


def read_entry(client: str, transport: str, *words: str, **environment: str) -> dict[str, Any]:
    """Return the server's entry in a client's configuration, which may have only documented members."""
    text = configure(client, "--transport", transport, *words, **environment).done().out
    data = tomllib.loads(text) if client == "codex" else json.loads(text)
    root, over_http, over_stdio = DOCUMENTED[client]
    assert set(data) <= {root, "inputs"}
    (name, entry), *others = data[root].items()
    assert (name, others) == ("pegboard", [])
    assert set(entry) <= (over_http if transport == "http" else over_stdio)
    assert entry.get("type") in (None, transport)
    if "inputs" in data:
        assert [(item["id"], item["type"], item["password"]) for item in data["inputs"]] == [
            ("pegboard-key", "promptString", True)
        ]
    assert KEY not in text
    return dict(entry)


def fill_in(value: str) -> str:
    """Return the value with the reference to the key replaced by the key."""
    for reference in REFERENCES:
        value = value.replace(reference, KEY)
    assert "${" not in value
    return value


@asynccontextmanager
async def connected(client: str, entry: dict[str, Any]) -> AsyncIterator[Client]:
    """The official client, connected according to the entry."""
    url = entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl")
    if url is not None:
        headers = {name: fill_in(value) for name, value in entry.get("headers", {}).items()}
        if client == "codex":
            assert entry["bearer_token_env_var"] == "PEGBOARD_KEY"
            headers = {"Authorization": f"Bearer {KEY}"}
        http = httpx2.AsyncClient(timeout=60, headers=headers)
        async with http, Client(streamable_http_client(url, http_client=http), mode="auto") as opened:
            yield opened
        return
    env = {name: fill_in(value) for name, value in entry.get("env", {}).items()}
    env |= dict.fromkeys(entry.get("env_vars", ()), KEY)
    assert entry["command"] == PROGRAM
    # The program itself for one client; for the others a fork of a process that has its modules loaded.
    command, *args = [PROGRAM] if client == "claude-desktop" else forked_command("pegboard")
    parameters = StdioServerParameters(command=command, args=[*args, *entry["args"]], env=env)
    async with Client(stdio_client(parameters), mode="auto") as opened:
        yield opened


@pytest.fixture
async def helper(url: str) -> str:
    """An agent with one tool; its name."""
    async with client_of(url) as http:
        good(await http.post("/v1/tools", json=mock("its_tool")), 201)
        good(await http.post("/v1/agents", json={"name": "a helper", "tools": ["its_tool"]}), 201)
    return "a helper"


@pytest.fixture
def home(tmp_path: Path) -> str:
    """A home with the file of the key, which the clients without references use."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "credentials").write_text(KEY)
    return str(folder)


@pytest.mark.parametrize(("client", "transport"), FILES)
async def test_a_configuration_file_connects_to_a_server(
    url: str, helper: str, home: str, client: str, transport: str
) -> None:
    entry = read_entry(client, transport, "--url", url, PEGBOARD_HOME=home, PEGBOARD_KEY=KEY)
    async with connected(client, entry) as opened:
        listed = [tool.name for tool in (await opened.list_tools()).tools]
        assert {"math_eval", "its_tool"} <= set(listed)
        assert (await opened.call_tool("math_eval", {"expression": "6*7"})).structured_content == {"result": 42}
    entry = read_entry(client, transport, "--agent", helper, PEGBOARD_HOME=home, PEGBOARD_URL=url)
    async with connected(client, entry) as opened:
        assert [tool.name for tool in (await opened.list_tools()).tools] == ["its_tool"]


@pytest.mark.parametrize("client", [client for client, transport in FILES if transport == "stdio"])
def test_without_a_url_the_command_opens_the_own_board(home: str, client: str) -> None:
    entry = read_entry(client, "stdio", PEGBOARD_HOME=home, PEGBOARD_KEY=KEY)
    assert entry["args"][-1] == "mcp"
    assert entry["env"] == {"PEGBOARD_HOME": home}
    assert "env_vars" not in entry
    assert "env" not in read_entry(client, "stdio")
    configured = configure(client, "--transport", "stdio", PEGBOARD_DATABASE_URL="sqlite:///x", PEGBOARD_HOME=home)
    assert "It does not get PEGBOARD_DATABASE_URL of this shell" in configured.done().err
    local = Program().run("--local", "mcp", "config", client, "--transport", "stdio", PEGBOARD_URL="http://x.example")
    assert "x.example" not in local.done().out


async def test_the_entry_without_a_url_serves_the_own_board(tmp_path: Path) -> None:
    entry = read_entry("claude-desktop", "stdio", PEGBOARD_HOME=str(tmp_path))
    async with connected("claude-desktop", entry) as opened:
        assert "math_eval" in [tool.name for tool in (await opened.list_tools()).tools]


# The modules that the scripts need: those of the last two conflict with what the tests need, so they may be missing.
PACKAGES = {
    "pydantic-ai": "fastmcp",
    "fastmcp": "fastmcp",
    "langchain": "langchain_mcp_adapters",
    "openai-agents": "agents",
}
INSTALLED = ("pydantic-ai", "fastmcp")


def run_script(text: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a printed script as a process."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
    return subprocess.run(
        [sys.executable, "-c", text],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("client", "transport"), SCRIPTS)
async def test_a_script_is_valid_and_lists_the_tools_if_its_package_is_installed(
    url: str, helper: str, home: str, client: str, transport: str
) -> None:
    words = (client, "--transport", transport, "--url", url)
    text = configure(*words, "--agent", helper, PEGBOARD_HOME=home).done().out
    tree = ast.parse(text)
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert imported == [name for name in ("asyncio", "os") if f"{name}." in text]
    assert (f"{url}/agents/a%20helper/mcp" if transport == "http" else url) in text
    assert KEY not in text
    assert 'os.environ["PEGBOARD_KEY"]' in text
    if client in INSTALLED or (client in PACKAGES and importlib.util.find_spec(PACKAGES[client]) is not None):
        ran = await anyio.to_thread.run_sync(run_script, text, {"PEGBOARD_KEY": KEY})
        assert ran.stdout.split() == ["its_tool"], ran.stderr


async def test_the_request_of_the_responses_api_has_the_form_of_its_sdk(url: str) -> None:
    text = configure("openai-responses", "--url", "https://board.example").done().out
    async with upstream(answer_json({"error": {"message": "enough"}}, 400)) as api:
        environment = {"OPENAI_BASE_URL": api.url, "OPENAI_API_KEY": "x", "PEGBOARD_KEY": KEY}
        ran = await anyio.to_thread.run_sync(run_script, text, environment)
        assert "enough" in ran.stderr
        (entry,) = json.loads(api.last.body)["tools"]
    assert entry["server_url"] == "https://board.example/mcp"
    assert entry["authorization"] == KEY
    assert set(entry) <= set(Mcp.__annotations__)
    TypeAdapter(Mcp).validate_python(entry)


async def test_the_request_of_the_connector_has_the_form_of_its_sdk(url: str) -> None:
    text = configure("anthropic-connector", "--url", "https://board.example").done().out
    async with upstream(answer_json({"type": "error", "error": {"type": "x", "message": "enough"}}, 400)) as api:
        environment = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "x", "PEGBOARD_KEY": KEY}
        ran = await anyio.to_thread.run_sync(run_script, text, environment)
        assert "enough" in ran.stderr
        sent = json.loads(api.last.body)
        assert api.last.one("anthropic-beta") == "mcp-client-2025-11-20"
    (server,), (toolset,) = sent["mcp_servers"], sent["tools"]
    assert (server["url"], server["authorization_token"]) == ("https://board.example/mcp", KEY)
    assert server["name"] == toolset["mcp_server_name"]
    TypeAdapter(BetaRequestMCPServerURLDefinitionParam).validate_python(server)
    TypeAdapter(BetaMCPToolsetParam).validate_python(toolset)


def test_the_inspector_gets_its_target_and_the_key_from_the_environment() -> None:
    over_http = configure("inspector", "--url", "https://board.example", "--agent", "a b").done().out
    assert shlex.split(over_http) == [
        *("npx", "@modelcontextprotocol/inspector", "--cli", "https://board.example/agents/a%20b/mcp"),
        *("--transport", "http", "--header", "Authorization: Bearer $PEGBOARD_KEY", "--method", "tools/list"),
    ]
    words = ("inspector", "--transport", "stdio", "--agent", "a b", "--url", "https://board.example")
    started = shlex.split(configure(*words, PEGBOARD_HOME="/srv/a b").done().out)
    assert started[:6] == [*started[:2], "-e", "PEGBOARD_HOME=/srv/a b", "-e", "PEGBOARD_KEY=$PEGBOARD_KEY"]
    separator = started.index("--")
    assert Path(started[separator - 1]).name == "pegboard"
    assert started[separator + 1 :] == ["mcp", "--url", "https://board.example", "--agent", "a b"]


@pytest.mark.parametrize(("client", "transport"), PAIRS)
def test_the_notes_name_the_place_and_what_to_fill_in(client: str, transport: str) -> None:
    ran = configure(client, "--transport", transport, "--url", "http://h:1", PEGBOARD_KEY=KEY).done()
    assert ran.err.startswith(MCP_CLIENTS[client].place)
    assert "PEGBOARD_KEY" in ran.err or "asks for the key" in ran.err
    assert (KEY_PLACEHOLDER in ran.out) == (KEY_PLACEHOLDER in ran.err)
    assert KEY not in ran.out + ran.err
    as_json = configure(client, "--transport", transport, "--url", "http://h:1", "--json").done().json
    assert as_json["config"] + "\n" == ran.out
    assert (as_json["client"], as_json["transport"]) == (client, transport)
    assert "".join(f"{note}\n" for note in as_json["notes"]) == ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none-such"], "Known clients: claude-code, claude-desktop, cursor"),
        (["claude-desktop", "--transport", "http"], "pegboard mcp config claude-desktop --url URL"),
        (["openai-responses", "--transport", "stdio"], "use --transport http"),
        (["cursor", "--url", "no url"], "is not the URL of a server"),
        (["cursor", "--local"], "--transport stdio"),
        (["cursor", "--transport", "sse"], "--transport"),
    ],
)
def test_what_cannot_be_configured_is_a_usage_error(words: list[str], message: str) -> None:
    ran = configure(*words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


async def test_another_board_can_be_named_before_the_command(board: Pegboard) -> None:
    async with served(board) as address:
        ran = Program().run("--url", address, "mcp", "config", "cursor").done()
    assert json.loads(ran.out)["mcpServers"]["pegboard"]["url"] == f"{address}/mcp"
