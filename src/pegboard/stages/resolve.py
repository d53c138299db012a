"""The resolve stage: finds the tool that the caller names and may call."""

from __future__ import annotations

from pegboard.model.call import Caller, NamedBy
from pegboard.model.call_errors import Drifted, ToolInactive, ToolNotFound
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.registry.snapshot import Snapshot

_DELETED_REASON = "it was deleted after the chain or fallback that names it was saved"
_UNBOUND_REASON = (
    "the owner of the chain or fallback that names it did not see this tool when saving; if it is public, save again"
)
_NOT_REACHED_REASON = "a chain or fallback of another user reaches only public tools and tools of that user"


def resolve_tool(snapshot: Snapshot, name: str, caller: Caller, named_by: NamedBy | None = None) -> CompiledTool:
    """Return the tool of that name or alias; raise ToolNotFound (also if not visible), ToolInactive or Drifted."""
    compiled = find_tool(snapshot, name, named_by)
    if compiled is None or not snapshot.may_call(compiled.tool, caller):
        if named_by is None:
            raise ToolNotFound(name, near=snapshot.find_nearest(name, caller))
        raise ToolNotFound(name, _explain_not_found(snapshot, name, caller, named_by) if compiled is None else "")
    if named_by is not None and not named_by.may_reach(compiled.tool):
        raise ToolNotFound(name, _NOT_REACHED_REASON)
    if not compiled.tool.is_active:
        raise ToolInactive(name)
    if compiled.tool.drifted:
        raise Drifted(
            f"Tool '{name}' was changed by the server that offers it, and is not called until its owner accepts that: "
            f"pegboard tools accept {compiled.tool.name}"
        )
    return compiled


def find_tool(snapshot: Snapshot, name: str, named_by: NamedBy | None = None) -> CompiledTool | None:
    """Return the tool of that name; for a saved definition, the tool that it was bound to.

    If the bound tool was deleted, or there was none, a tool of that name counts only if the definition's owner or an
    admin owns it: another member could have taken the name.
    """
    if named_by is None:
        return snapshot.find(name)
    bound = snapshot.find_by_id(named_by.tool_id) if named_by.tool_id is not None else None
    if bound is not None:
        return bound
    compiled = snapshot.find(name)
    return compiled if compiled is not None and snapshot.is_trusted_by(named_by.owner_id, compiled.tool) else None


def _explain_not_found(snapshot: Snapshot, name: str, caller: Caller, named_by: NamedBy) -> str:
    if named_by.tool_id is not None:
        return _DELETED_REASON
    compiled = snapshot.find(name)
    return _UNBOUND_REASON if compiled is not None and snapshot.may_call(compiled.tool, caller) else ""
