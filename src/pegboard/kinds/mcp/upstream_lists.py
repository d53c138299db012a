"""Reads the lists of an MCP server, all pages of them: tools, prompts, resources. Importing this loads the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from mcp.client.session import ClientSession
from mcp_types import PaginatedRequestParams, Tool

from pegboard.kinds.mcp.upstream import UpstreamTool, compute_digest
from pegboard.model.call_errors import UpstreamFailed
from pegboard.model.json_text import json_text

MAX_PAGES = 100
MAX_TOOLS = 10_000
# Prompts, resources or templates of one server.
MAX_ENTRIES = 10_000

SendRequest = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


# Members of a tool's definition that a definition of the board has too, or that concern one connection.
_OWN_MEMBERS = frozenset({"name", "title", "description", "inputSchema", "outputSchema", "execution"})


async def fetch_tools(
    session: ClientSession, shown: str, *, max_bytes: int, get_page: Callable[[], Any] = lambda: None
) -> dict[str, UpstreamTool]:
    """Return the tools of all pages by name; raise UpstreamFailed if there are too many.

    `get_page` returns the tools of the last page as the server sent them, because the SDK drops unknown fields.
    """
    tools: dict[str, UpstreamTool] = {}
    size = 0
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        sent = _find_definitions(get_page())
        for found in page.tools:
            tool = to_upstream_tool(found, sent.get(found.name, {}))
            # If a name occurs twice, the first tool wins.
            tools.setdefault(tool.name, tool)
            size += _measure_tool(tool)
        if size > max_bytes or len(tools) > MAX_TOOLS:
            raise UpstreamFailed(
                f"{shown} lists too many tools: more than {MAX_TOOLS:,}, or {max_bytes:,} bytes of them"
            )
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise UpstreamFailed(f"{shown} lists its tools on more than {MAX_PAGES} pages, or without end")


def _find_definitions(tools: Any) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            found.setdefault(tool["name"], tool)
    return found


def to_upstream_tool(found: Tool, sent: Mapping[str, Any]) -> UpstreamTool:
    """Convert a tool of the SDK; `sent` is its definition as the server sent it."""
    annotations: dict[str, Any] = {}
    if found.annotations is not None:
        annotations = found.annotations.model_dump(by_alias=True, mode="json", exclude_none=True)
    parts = (found.name, found.title, found.description, found.input_schema, found.output_schema, annotations)
    others = {name: value for name, value in sent.items() if name not in _OWN_MEMBERS}
    return UpstreamTool(*parts, compute_digest(*parts), others)


def _measure_tool(tool: UpstreamTool) -> int:
    try:
        return len(orjson.dumps((tool.name, tool.description, tool.input_schema, tool.output_schema, tool.others)))
    except orjson.JSONEncodeError:
        return 0  # an integer of more than 64 bits; reported when the tool is imported


async def fetch_entries(
    send: SendRequest, method: str, member: str, shown: str, *, max_bytes: int
) -> list[dict[str, Any]]:
    """Return the entries of all pages of a list; raise UpstreamFailed if there are too many."""
    entries: list[dict[str, Any]] = []
    size = 0
    params: dict[str, Any] = {}
    for _ in range(MAX_PAGES):
        page = await send(method, params)
        found = [entry for entry in page.get(member) or () if isinstance(entry, dict)]
        entries += found
        size += len(json_text(found))
        if size > max_bytes or len(entries) > MAX_ENTRIES:
            raise UpstreamFailed(
                f"{shown} lists too much with {method}: more than {MAX_ENTRIES:,}, or {max_bytes:,} bytes"
            )
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return entries
        params = {"cursor": cursor}
    raise UpstreamFailed(f"{shown} has more than {MAX_PAGES} pages of {method}, or pages without end")
