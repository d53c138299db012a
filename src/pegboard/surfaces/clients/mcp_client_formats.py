"""The configurations of MCP clients: how each of them connects to a board over HTTP or starts `pegboard mcp`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

McpTransport = Literal["http", "stdio"]
# How a configuration reads: a file to save, a script to run, or a command for a shell.
TextLanguage = Literal["json", "toml", "python", "shell"]
BOTH_TRANSPORTS: tuple[McpTransport, ...] = get_args(McpTransport)
# The environment variable that a configuration refers to instead of containing the key.
KEY_VARIABLE = "PEGBOARD_KEY"
# The placeholder in a configuration of a client that cannot refer to an environment variable.
KEY_PLACEHOLDER = "YOUR_PEGBOARD_KEY"
SERVER_NAME = "pegboard"
_INPUT_ID = "pegboard-key"


@dataclass(frozen=True, slots=True)
class McpTarget:
    """The target of a client's connection: a URL, or a command to start with its environment."""

    url: str | None = None
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    # Whether the command needs a key: it relays to a server.
    needs_key: bool = False


# Returns the text of a configuration.
RenderConfig = Callable[[McpTarget], str]


@dataclass(frozen=True, slots=True)
class McpClientFormat:
    """One client: its configuration, where that belongs, how it gets the key, and its limits."""

    title: str
    render: RenderConfig
    place: str
    limits: tuple[str, ...] = ()
    # How the configuration gets the key: from a variable, from the user when the server starts, or written into it.
    key_source: Literal["variable", "prompt", "plaintext"] = "variable"
    # The first one is the default.
    transports: tuple[McpTransport, ...] = BOTH_TRANSPORTS
    language: TextLanguage = "json"


@dataclass(frozen=True, slots=True)
class _JsonFormat:
    """A JSON file with an object of servers."""

    root: str
    # The reference to the key in the syntax of the client; None if it has none.
    reference: str | None = None
    url_member: str = "url"
    has_type: bool = False
    # Members beside the servers, if the configuration refers to the key.
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, target: McpTarget) -> str:
        entry: dict[str, Any] = {}
        if target.url is not None:
            if self.has_type:
                entry["type"] = "http"
            entry[self.url_member] = target.url
            entry["headers"] = {"Authorization": f"Bearer {self.reference or KEY_PLACEHOLDER}"}
            uses_key = True
        else:
            if self.has_type:
                entry["type"] = "stdio"
            uses_key = target.needs_key and self.reference is not None
            env = {**target.env, **({KEY_VARIABLE: self.reference} if uses_key else {})}
            entry |= {"command": target.command, "args": list(target.args)}
            if env:
                entry["env"] = env
        beside = self.inputs if uses_key else {}
        return json.dumps({**beside, self.root: {SERVER_NAME: entry}}, indent=2, ensure_ascii=False)


def _render_codex(target: McpTarget) -> str:
    lines = [f"[mcp_servers.{SERVER_NAME}]"]
    if target.url is not None:
        lines += [f"url = {_quote(target.url)}", f"bearer_token_env_var = {_quote(KEY_VARIABLE)}"]
    else:
        lines += [f"command = {_quote(target.command)}", f"args = {_quote(list(target.args))}"]
        if target.needs_key:
            lines.append(f"env_vars = {_quote([KEY_VARIABLE])}")
        if target.env:
            pairs = ", ".join(f"{name} = {_quote(value)}" for name, value in target.env.items())
            lines.append(f"env = {{ {pairs} }}")
    return "\n".join(lines)


def _quote(value: Any) -> str:
    """Return the value as JSON, which is also valid in TOML and Python for texts and lists of texts."""
    return json.dumps(value)


def _build_script(imports: str, body: str, opened: str = "") -> str:
    """Return a Python script with the modules of the standard library that its body uses, and these imports.

    With the name of an `opened` client in the body, the script opens it and prints the names of the tools.
    """
    if opened:
        body += f"""


async def main() -> None:
    async with {opened}:
        print(*(tool.name for tool in await {opened}.list_tools()), sep="\\n")


asyncio.run(main())"""
    needed = [f"import {name}" for name in ("asyncio", "os") if f"{name}." in body]
    return "\n".join([*needed, "", imports, "", body])


_PYTHON_KEY = f"os.environ[{_quote(KEY_VARIABLE)}]"
_PYTHON_HEADERS = '{"Authorization": "Bearer " + ' + _PYTHON_KEY + "}"


def _build_python_env(target: McpTarget) -> str:
    """Return the environment of the command as a Python expression."""
    pairs = [f"{_quote(name)}: {_quote(value)}" for name, value in target.env.items()]
    if target.needs_key:
        pairs.append(f"{_quote(KEY_VARIABLE)}: {_PYTHON_KEY}")
    return "{" + ", ".join(pairs) + "}"


def _build_python_command(target: McpTarget, indent: str, separator: str, quote: str) -> str:
    """Return the command, its arguments and its environment as lines of a dict or a call."""
    values = {
        "command": _quote(target.command),
        "args": _quote(list(target.args)),
        "env": _build_python_env(target),
    }
    return "\n".join(f"{indent}{quote}{name}{quote}{separator}{value}," for name, value in values.items())


def _render_langchain(target: McpTarget) -> str:
    if target.url is not None:
        entry = f"""\
            "transport": "http",
            "url": {_quote(target.url)},
            "headers": {_PYTHON_HEADERS},"""
    else:
        entry = '            "transport": "stdio",\n' + _build_python_command(target, " " * 12, ": ", '"')
    return _build_script(
        "from langchain_mcp_adapters.client import MultiServerMCPClient",
        f"""\
client = MultiServerMCPClient(
    {{
        {_quote(SERVER_NAME)}: {{
{entry}
        }}
    }}
)


async def main() -> None:
    tools = await client.get_tools()
    print(*(tool.name for tool in tools), sep="\\n")


asyncio.run(main())""",
    )


def _render_pydantic_ai(target: McpTarget) -> str:
    if target.url is not None:
        imports = ""
        statement = f"toolset = MCPToolset({_quote(target.url)}, headers={_PYTHON_HEADERS})"
    else:
        imports = "from fastmcp.client.transports import StdioTransport\n"
        call = _build_python_command(target, " " * 8, "=", "")
        statement = f"toolset = MCPToolset(\n    StdioTransport(\n{call}\n    )\n)"
    return _build_script(
        f"{imports}from pydantic_ai import Agent\nfrom pydantic_ai.mcp import MCPToolset",
        f"""\
{statement}
agent = Agent(toolsets=[toolset])""",
        "toolset",
    )


def _render_openai_agents(target: McpTarget) -> str:
    if target.url is not None:
        kind = "MCPServerStreamableHttp"
        params = f'        "url": {_quote(target.url)},\n        "headers": {_PYTHON_HEADERS},'
    else:
        kind = "MCPServerStdio"
        params = _build_python_command(target, " " * 8, ": ", '"')
    return _build_script(
        f"from agents import Agent\nfrom agents.mcp import {kind}",
        f"""\
server = {kind}(
    name={_quote(SERVER_NAME)},
    params={{
{params}
    }},
)
agent = Agent(name="Assistant", mcp_servers=[server])""",
        "server",
    )


def _render_fastmcp(target: McpTarget) -> str:
    if target.url is not None:
        imports = "from fastmcp import Client"
        statement = f"client = Client({_quote(target.url)}, auth={_PYTHON_KEY})"
    else:
        imports = "from fastmcp import Client\nfrom fastmcp.client.transports import StdioTransport"
        call = _build_python_command(target, " " * 8, "=", "")
        statement = f"client = Client(\n    StdioTransport(\n{call}\n    )\n)"
    return _build_script(
        imports,
        statement,
        "client",
    )


def _render_openai_responses(target: McpTarget) -> str:
    return _build_script(
        "from openai import OpenAI",
        f"""\
response = OpenAI().responses.create(
    model="gpt-5",
    input="Which tools do you have?",
    tools=[
        {{
            "type": "mcp",
            "server_label": {_quote(SERVER_NAME)},
            "server_url": {_quote(target.url)},
            "authorization": {_PYTHON_KEY},
            "require_approval": "always",
        }}
    ],
)
print(response.output_text)""",
    )


def _render_anthropic_connector(target: McpTarget) -> str:
    return _build_script(
        "from anthropic import Anthropic",
        f"""\
message = Anthropic().beta.messages.create(
    model="claude-opus-4-6",
    max_tokens=1000,
    messages=[{{"role": "user", "content": "Which tools do you have?"}}],
    mcp_servers=[
        {{
            "type": "url",
            "name": {_quote(SERVER_NAME)},
            "url": {_quote(target.url)},
            "authorization_token": {_PYTHON_KEY},
        }}
    ],
    tools=[{{"type": "mcp_toolset", "mcp_server_name": {_quote(SERVER_NAME)}}}],
    betas=["mcp-client-2025-11-20"],
)
print(message.content)""",
    )


def _render_inspector(target: McpTarget) -> str:
    start = "npx @modelcontextprotocol/inspector"
    if target.url is not None:
        header = f'"Authorization: Bearer ${KEY_VARIABLE}"'
        return f"{start} --cli {shlex.quote(target.url)} --transport http --header {header} --method tools/list"
    env = [f"-e {shlex.quote(f'{name}={value}')}" for name, value in target.env.items()]
    if target.needs_key:
        env.append(f'-e {KEY_VARIABLE}="${KEY_VARIABLE}"')
    return " ".join([start, *env, shlex.quote(target.command), "--", shlex.join(target.args)])


_KEY_PROMPT = {"type": "promptString", "id": _INPUT_ID, "description": "Key of the Pegboard", "password": True}
_IN_PYTHON = "Run it as a Python script"
_NEEDS_PUBLIC_URL = "The provider connects to the URL from the internet, with https"
MCP_CLIENTS: dict[str, McpClientFormat] = {
    "claude-code": McpClientFormat(
        "Claude Code",
        _JsonFormat("mcpServers", "${PEGBOARD_KEY}", has_type=True),
        "Save it as .mcp.json in the folder of the project",
        ("A tool is named mcp__pegboard__NAME, with at most 64 characters", "A result has at most 25,000 tokens"),
    ),
    "claude-desktop": McpClientFormat(
        "Claude Desktop",
        _JsonFormat("mcpServers"),
        "Add it to claude_desktop_config.json (Settings, Developer, Edit Config), and restart Claude Desktop",
        key_source="plaintext",
        transports=("stdio",),
    ),
    "cursor": McpClientFormat(
        "Cursor",
        _JsonFormat("mcpServers", "${env:PEGBOARD_KEY}"),
        "Save it as .cursor/mcp.json in the folder of the project, or as ~/.cursor/mcp.json",
        ("About 80 tools; select them with an agent",),
    ),
    "vscode": McpClientFormat(
        "VS Code",
        _JsonFormat("servers", f"${{input:{_INPUT_ID}}}", has_type=True, inputs={"inputs": [_KEY_PROMPT]}),
        "Save it as .vscode/mcp.json in the folder of the project",
        ("128 tools in a request; select them with an agent",),
        key_source="prompt",
    ),
    "codex": McpClientFormat(
        "Codex",
        _render_codex,
        "Add it to ~/.codex/config.toml",
        ("A server has 10 seconds to start, and 60 seconds for a call: startup_timeout_sec, tool_timeout_sec",),
        language="toml",
    ),
    "gemini-cli": McpClientFormat(
        "Gemini CLI",
        _JsonFormat("mcpServers", "${PEGBOARD_KEY}", url_member="httpUrl"),
        "Add it to ~/.gemini/settings.json, or to .gemini/settings.json in the folder of the project",
    ),
    "windsurf": McpClientFormat(
        "Windsurf",
        _JsonFormat("mcpServers", "${env:PEGBOARD_KEY}", url_member="serverUrl"),
        "Add it to ~/.codeium/windsurf/mcp_config.json",
        ("100 tools of all servers; select them with an agent",),
    ),
    "zed": McpClientFormat(
        "Zed",
        _JsonFormat("context_servers"),
        "Add it to the settings (zed: open settings file)",
        key_source="plaintext",
    ),
    "openai-responses": McpClientFormat(
        "the OpenAI Responses API",
        _render_openai_responses,
        _IN_PYTHON,
        (_NEEDS_PUBLIC_URL,),
        transports=("http",),
        language="python",
    ),
    "anthropic-connector": McpClientFormat(
        "the MCP connector of the Anthropic API",
        _render_anthropic_connector,
        _IN_PYTHON,
        (_NEEDS_PUBLIC_URL, "Only tools, no prompts and resources"),
        transports=("http",),
        language="python",
    ),
    "langchain": McpClientFormat("LangChain", _render_langchain, _IN_PYTHON, language="python"),
    "pydantic-ai": McpClientFormat("Pydantic AI", _render_pydantic_ai, _IN_PYTHON, language="python"),
    "openai-agents": McpClientFormat("the OpenAI Agents SDK", _render_openai_agents, _IN_PYTHON, language="python"),
    "fastmcp": McpClientFormat("FastMCP", _render_fastmcp, _IN_PYTHON, language="python"),
    "inspector": McpClientFormat(
        "the MCP Inspector", _render_inspector, "Run it in a shell; it needs Node.js", language="shell"
    ),
}
