"""How tools are picked and ordered in lists, for those that are in no database."""

from __future__ import annotations

from pegboard.core.tool import Tool
from pegboard.store.tools import ToolFilter


def order(tool: Tool) -> tuple[str, str]:
    """What lists are ordered by, as the store does."""
    return (tool.name.lower(), tool.id)


def fits(tool: Tool, wanted: ToolFilter) -> bool:
    """Whether the filter lets the tool through, as the store would."""
    text = f"{tool.name}\n{tool.description or ''}".lower()
    return (
        not wanted.deleted
        and (wanted.visible_to is None or tool.is_public or tool.owner_id == wanted.visible_to)
        and wanted.owner_id in (None, tool.owner_id)
        and wanted.tool_type in (None, tool.tool_type)
        and wanted.is_active in (None, tool.is_active)
        and wanted.is_public in (None, tool.is_public)
        and (wanted.tag is None or wanted.tag in tool.tags)
        and (wanted.q is None or wanted.q.lower() in text)
    )
