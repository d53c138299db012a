"""Servers that MCP calls are compared with: the low-level server of the official SDK, and FastMCP."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from bench.harness import Running, server

_FASTMCP = Path(__file__).with_name("peers") / "fastmcp_server.py"
_PYTHON = Path(sys.prefix) / "peers-python/bin/python"


def lowlevel_app(tool: Mapping[str, Any]) -> Any:
    """Return the HTTP application of a low-level server with this tool; it answers with JSON."""
    name, schema = tool["name"], tool["input_schema"]
    listed = types.ListToolsResult(tools=[types.Tool(name=name, description="Echo.", input_schema=schema)])

    async def list_tools(_context: ServerRequestContext[Any], _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(
        _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        output = {"echo": params.arguments}
        text = types.TextContent(type="text", text=orjson.dumps(output).decode())
        return types.CallToolResult(content=[text], structured_content=output)

    made = Server(
        "bench",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda wanted: schema if wanted == name else None,
    )
    return made.streamable_http_app(
        json_response=True, transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False)
    )


@contextmanager
def fastmcp_server() -> Iterator[Running | None]:
    """Start FastMCP with the tool, or yield None if its environment is not installed: `make bench` installs it."""
    if not _PYTHON.exists():
        yield None
        return
    started: AbstractContextManager[Running] = server("fastmcp", program=[str(_PYTHON), str(_FASTMCP)])
    with started as running:
        yield running
