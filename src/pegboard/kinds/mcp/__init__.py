"""mcp tools: sessions with other MCP servers, and calls of their tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from pegboard.kinds.base import Executor, KindSpec, RegistrationRules, Services
from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mcp.listed_members import list_mcp_members
from pegboard.kinds.mcp.tool_server import find_tool_server
from pegboard.model.call import Caller
from pegboard.model.tool import Tool

if TYPE_CHECKING:
    from pegboard.kinds.mcp.session_pool import McpSessionPool
    from pegboard.kinds.mcp.upstream import UpstreamTool


class _Services(Services, Protocol):
    @property
    def upstreams(self) -> McpSessionPool: ...

    @property
    def on_drift(self) -> Callable[[Tool, UpstreamTool | None], None]: ...


def _make_executor(services: _Services) -> Executor:
    from pegboard.kinds.mcp.executor import McpExecutor  # noqa: PLC0415 -- start-up time

    return McpExecutor(services.upstreams, services.reach.breakers, services.reach.hosts, services.on_drift)


def _may_register(tool: Tool, caller: Caller, _rules: RegistrationRules) -> str | None:
    if caller.is_admin or tool.config.get("command") is None:
        return None
    return "Only admins may register mcp tools, where they start commands on this machine"


KIND = KindSpec(
    "mcp",
    McpConfig,
    _make_executor,
    url_fields=("server_url",),
    may_register=_may_register,
    find_tool_server=find_tool_server,
    list_mcp_members=list_mcp_members,
    purpose="A tool of another MCP server",
    example={
        "name": "search_issues",
        "description": "Search the issues of a project.",
        "tool_type": "mcp",
        "config": {"server_url": "https://mcp.example.com/mcp", "tool": "search_issues"},
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
    restriction="Only admins may register tools with a command, which runs on this machine",
)
