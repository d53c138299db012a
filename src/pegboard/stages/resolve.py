"""Find the tool that this caller means and may run."""

from __future__ import annotations

from pegboard.core.call import Caller, NamedBy
from pegboard.core.errors import Drifted, ToolInactive, ToolNotFound
from pegboard.registry.peg import Peg
from pegboard.registry.snapshot import Snapshot

_DELETED = "it was deleted after the chain or fallback that names it was saved"
_UNBOUND = (
    "the owner of the chain or fallback that names it did not see this tool when saving; if it is public, save again"
)
_NOT_REACHED = "a chain or fallback of another user reaches only public tools and tools of that user"


def resolve(snapshot: Snapshot, name: str, caller: Caller, named_by: NamedBy | None = None) -> Peg:
    """The tool of that name or alias; one that the caller may not see is not found."""
    peg = find_tool(snapshot, name, named_by)
    if peg is None or not snapshot.may_call(peg.tool, caller):
        if named_by is None:
            raise ToolNotFound(name, near=snapshot.nearest(name, caller))
        raise ToolNotFound(name, _why(snapshot, name, caller, named_by) if peg is None else "")
    if named_by is not None and not named_by.may_reach(peg.tool):
        raise ToolNotFound(name, _NOT_REACHED)
    if not peg.tool.is_active:
        raise ToolInactive(name)
    if peg.tool.drifted:
        raise Drifted(
            f"Tool '{name}' was changed by the server that offers it, and is not called until its owner accepts that: "
            f"pegboard tools accept {peg.tool.name}"
        )
    return peg


def find_tool(snapshot: Snapshot, name: str, named_by: NamedBy | None = None) -> Peg | None:
    """The tool of that name; for a saved definition the tool that it was bound to.

    If that was deleted, or there was none, a tool of the name counts only if the definition's owner or an admin owns
    it: another member could have taken the name.
    """
    if named_by is None:
        return snapshot.find(name)
    bound = snapshot.with_id(named_by.tool_id) if named_by.tool_id is not None else None
    if bound is not None:
        return bound
    peg = snapshot.find(name)
    return peg if peg is not None and snapshot.is_trusted_by(named_by.owner_id, peg.tool) else None


def _why(snapshot: Snapshot, name: str, caller: Caller, named_by: NamedBy) -> str:
    if named_by.tool_id is not None:
        return _DELETED
    peg = snapshot.find(name)
    return _UNBOUND if peg is not None and snapshot.may_call(peg.tool, caller) else ""
