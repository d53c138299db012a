"""Bind the tool names in chain steps and fallbacks to ids when a definition is saved.

A name alone would refer to another tool after its tool was renamed or deleted and another user took the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pegboard.kinds.catalog import find_kind
from pegboard.model.call import Caller
from pegboard.model.tool import Tool
from pegboard.registry.snapshot import Snapshot


def bind_tool_names(tool: Tool, snapshot: Snapshot, beside: Mapping[str, Tool] | None = None) -> Tool:
    """Return the tool with each tool name in it bound to the current tool of that name.

    `beside` are tools that are saved together with it. A name that was bound before is bound again only to a tool of
    the owner or of an admin; otherwise the old binding stays.
    """
    bound: dict[str, str] = {}
    owner = Caller(tool.owner_id, "")
    for name in _list_tool_names(tool):
        compiled = snapshot.find(name)
        named = (beside or {}).get(name) or (compiled.tool if compiled is not None else None)
        before = tool.bound_tools.get(name)
        if named is not None and not snapshot.may_call(named, owner):
            named = None
        if named is not None and (before is None or snapshot.is_trusted_by(tool.owner_id, named)):
            bound[name] = named.id
        elif before is not None:
            bound[name] = before
    return tool if bound == tool.bound_tools else replace(tool, bound_tools=bound)


def _list_tool_names(tool: Tool) -> Iterator[str]:
    """Return the names of other tools in a definition, in lower case."""
    for name in find_kind(tool.tool_type).list_tool_names(tool.config):
        yield name.lower()
    if tool.fallback is not None and tool.fallback.tool:
        yield tool.fallback.tool.lower()
