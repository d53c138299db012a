"""Servers that MCP calls are compared with: the low-level server of the official SDK, and FastMCP."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import jsonschema_rs
import mcp_types as types
import orjson
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from bench.harness import Running, server
from bench.servers import KEY

_FASTMCP = Path(__file__).with_name("peers") / "fastmcp_server.py"
_PYTHON = Path(sys.prefix) / "peers-python/bin/python"


class _KeyVerifier(TokenVerifier):
    """Accepts the key of the benchmarks."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what the key allows, or None for another key."""
        return AccessToken(token=token, client_id="bench", scopes=[]) if token == KEY else None


def lowlevel_app(tool: Mapping[str, Any], *, is_bare: bool) -> Any:
    """Return the HTTP application of a low-level server with this tool.

    It checks the key and the arguments, and has the SDK's defaults: responses are event streams. A bare server checks
    neither, and answers with JSON: the least that the SDK does for a call.
    """
    name, schema = tool["name"], tool["input_schema"]
    listed = types.ListToolsResult(tools=[types.Tool(name=name, description="Echo.", input_schema=schema)])
    validator = jsonschema_rs.validator_for(schema)

    async def list_tools(_context: ServerRequestContext[Any], _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(
        _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if not is_bare:
            validator.validate(params.arguments)
        output = {"echo": params.arguments}
        text = types.TextContent(type="text", text=orjson.dumps(output).decode())
        return types.CallToolResult(content=[text], structured_content=output)

    made = Server(
        "bench",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda wanted: schema if wanted == name else None,
    )
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    if is_bare:
        return made.streamable_http_app(json_response=True, transport_security=security)
    url = AnyHttpUrl("http://127.0.0.1")
    auth = AuthSettings(issuer_url=url, resource_server_url=url)
    return made.streamable_http_app(auth=auth, token_verifier=_KeyVerifier(), transport_security=security)


@contextmanager
def fastmcp_server() -> Iterator[Running | None]:
    """Start FastMCP with the tool, or yield None if its environment is not installed: `make bench` installs it."""
    if not _PYTHON.exists():
        yield None
        return
    started: AbstractContextManager[Running] = server("fastmcp", program=[str(_PYTHON), str(_FASTMCP)], BENCH_KEY=KEY)
    with started as running:
        yield running
