"""All the tools that an MCP server offers, within bounds."""

from __future__ import annotations

from typing import Any

import orjson
from mcp.client.session import ClientSession
from mcp_types import PaginatedRequestParams, Tool

from pegboard.core.errors import UpstreamFailed
from pegboard.executors.mcp.upstream import UpstreamTool, digest_of

MOST_PAGES = 100
MOST_TOOLS = 10_000


async def listed(session: ClientSession, shown: str, *, max_bytes: int) -> dict[str, UpstreamTool]:
    """The tools by name, of every page; raises UpstreamFailed where there is no end to them."""
    tools: dict[str, UpstreamTool] = {}
    size = 0
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for found in page.tools:
            tool = described(found)
            # A name that comes twice means the tool that was listed first.
            tools.setdefault(tool.name, tool)
            size += _size(tool)
        if size > max_bytes or len(tools) > MOST_TOOLS:
            raise UpstreamFailed(
                f"{shown} lists too many tools to look at: more than {MOST_TOOLS:,}, or {max_bytes:,} bytes of them"
            )
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise UpstreamFailed(f"{shown} lists its tools on more than {MOST_PAGES} pages, or without end")


def described(found: Tool) -> UpstreamTool:
    """The tool as the board keeps it."""
    annotations: dict[str, Any] = {}
    if found.annotations is not None:
        annotations = found.annotations.model_dump(by_alias=True, mode="json", exclude_none=True)
    parts = (found.name, found.title, found.description, found.input_schema, found.output_schema, annotations)
    return UpstreamTool(*parts, digest_of(*parts))


def _size(tool: UpstreamTool) -> int:
    try:
        return len(orjson.dumps((tool.name, tool.description, tool.input_schema, tool.output_schema)))
    except orjson.JSONEncodeError:
        return 0  # an integer of more than 64 bits; whoever takes the tool on is told of it
