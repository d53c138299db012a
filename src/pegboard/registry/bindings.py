"""The tools that a chain's steps and a fallback name, bound to ids when the definition is saved.

A name alone would lead to another tool once its own is renamed or deleted and another user takes the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pegboard.core.call import Caller
from pegboard.core.tool import Kind, Tool
from pegboard.registry.snapshot import Snapshot


def bind(tool: Tool, snapshot: Snapshot, beside: Mapping[str, Tool] | None = None) -> Tool:
    """The tool with each name in it bound to the tool that has the name now; `beside` are tools saved with it.

    A name that was bound before is bound again only to a tool of the owner's or an admin's; otherwise it stays bound.
    """
    bound: dict[str, str] = {}
    owner = Caller(tool.owner_id, "")
    for name in _names_in(tool):
        peg = snapshot.find(name)
        named = (beside or {}).get(name) or (peg.tool if peg is not None else None)
        before = tool.bound_tools.get(name)
        if named is not None and not snapshot.may_call(named, owner):
            named = None
        if named is not None and (before is None or snapshot.is_trusted_by(tool.owner_id, named)):
            bound[name] = named.id
        elif before is not None:
            bound[name] = before
    return tool if bound == tool.bound_tools else replace(tool, bound_tools=bound)


def _names_in(tool: Tool) -> Iterator[str]:
    """The names of other tools in a definition, in lower case."""
    chain = tool.config.get("chain") if tool.tool_type is Kind.INTERNAL else None
    for step in chain["steps"] if chain else ():
        yield step["tool"].lower()
    if tool.fallback is not None and tool.fallback.tool:
        yield tool.fallback.tool.lower()
