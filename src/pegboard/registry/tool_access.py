"""The users and agents who can call a tool, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from pegboard.model.accounts import User, refuse_agents
from pegboard.model.api_errors import Forbidden
from pegboard.model.call import Caller
from pegboard.model.page import MAX_PAGE_SIZE
from pegboard.model.tool import Tool
from pegboard.registry.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """One reason why calls are possible; `keys` is the number of valid keys that it applies to.

    `user_id` is None for all users (`public`), and for all admins if the reader is no admin.
    """

    because: Literal["owner", "public", "admin", "agent"]
    user_id: str | None = None
    user_name: str | None = None
    agent_id: str | None = None
    agent_name: str | None = None
    keys: int | None = None


@dataclass(frozen=True, slots=True)
class ToolAccess:
    """Who can call a tool; `blocked_by` is why no call is accepted now, and `more` is True if the list is cut."""

    tool_id: str
    tool_name: str
    blocked_by: Literal["inactive", "drifted"] | None
    items: Sequence[AccessEntry]
    more: bool


def list_access(snapshot: Snapshot, tool: Tool, caller: Caller) -> ToolAccess:
    """Return who can call the tool, for its owner and admins; an owner who is no admin sees only their own agents."""
    refuse_agents(caller)
    if not (caller.is_admin or tool.owner_id == caller.user_id):
        raise Forbidden(f"Tool '{tool.name}' belongs to another user")
    found = list(islice(_list_entries(snapshot, tool, caller), MAX_PAGE_SIZE + 1))
    blocked_by: Literal["inactive", "drifted"] | None = None
    if not tool.is_active:
        blocked_by = "inactive"
    elif tool.drifted:
        blocked_by = "drifted"
    return ToolAccess(tool.id, tool.name, blocked_by, found[:MAX_PAGE_SIZE], len(found) > MAX_PAGE_SIZE)


def _list_entries(snapshot: Snapshot, tool: Tool, caller: Caller) -> Iterator[AccessEntry]:
    keys = Counter((key.user_id, key.agent_id) for key in snapshot.keys.list_valid_keys())

    def describe(because: Literal["owner", "admin"], user: User) -> AccessEntry:
        return AccessEntry(because, user.id, user.name, keys=keys[user.id, None])

    owner = snapshot.user(tool.owner_id)
    if owner is not None:
        yield describe("owner", owner)
    if tool.is_public:
        yield AccessEntry("public")
    if not caller.is_admin:
        yield AccessEntry("admin")
    else:
        for user in snapshot.list_users():
            if user.role == "admin" and user.id != tool.owner_id:
                yield describe("admin", user)
    for agent in snapshot.list_agents(None if caller.is_admin else caller.user_id):
        if snapshot.may_call(tool, Caller(agent.owner_id, "", agent_id=agent.id)):
            holder = snapshot.user(agent.owner_id)
            name = None if holder is None else holder.name
            yield AccessEntry("agent", agent.owner_id, name, agent.id, agent.name, keys[agent.owner_id, agent.id])
