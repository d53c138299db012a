"""Finds the server that a tool was imported from."""

from __future__ import annotations

from pegboard.kinds.import_names import make_valid_name
from pegboard.model.registered_upstream import ServerAddress
from pegboard.model.tool import Tool


def find_tool_server(tool: Tool) -> ServerAddress | None:
    """Return the address of the server that an imported tool belongs to, or None for another tool."""
    config = tool.config
    if config.get("pinned") is None:
        return None
    original = make_valid_name(str(config.get("tool") or tool.name))
    prefix = tool.name.removesuffix(original) if tool.name.endswith(original) else ""
    command = config.get("command")
    return ServerAddress(config.get("server_url"), tuple(command) if command else None, prefix)
