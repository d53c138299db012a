"""Find the tool that this caller means and may run."""

from __future__ import annotations

from pegboard.core.call import Caller
from pegboard.core.errors import Drifted, ToolInactive, ToolNotFound
from pegboard.registry.peg import Peg
from pegboard.registry.snapshot import Snapshot


def resolve(snapshot: Snapshot, name: str, caller: Caller) -> Peg:
    """The tool of that name or alias; one that the caller may not see is not found."""
    peg = snapshot.find(name)
    if peg is None or not snapshot.may_call(peg.tool, caller):
        raise ToolNotFound(name)
    if not peg.tool.is_active:
        raise ToolInactive(name)
    if peg.tool.drifted:
        raise Drifted(
            f"Tool '{name}' was changed by the server that offers it, and is not called until its owner accepts that: "
            f"pegboard tools accept {peg.tool.name}"
        )
    return peg
