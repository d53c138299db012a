"""Finds tools, agents, users and one execution by a text, among what the caller may see."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import NotFound
from pegboard.model.call import Caller
from pegboard.model.filters import ToolFilter
from pegboard.model.json_text import is_uuid
from pegboard.registry.execution_reader import ExecutionReader
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tool_registry import ToolRegistry

MAX_FOUND = 20
# Agents and users leave this many places to tools.
_MAX_OTHERS = 5


@dataclass(frozen=True, slots=True)
class FoundThing:
    """What a search found: its id and its name, which is that of the tool for an execution."""

    type: Literal["tool", "agent", "user", "execution"]
    id: str
    name: str


async def search_board(
    text: str, caller: Caller, *, tools: ToolRegistry, snapshot: Snapshot, executions: ExecutionReader
) -> list[FoundThing]:
    """Return at most MAX_FOUND things: an execution of this id, then what has the text in its name, names first."""
    refuse_agents(caller)
    low = text.lower()
    found = []
    if is_uuid(text):
        with suppress(NotFound):  # it may be the id of something else
            execution = await executions.get(low, caller)
            found.append(FoundThing("execution", execution.id, execution.tool_name))
    named = snapshot.find(text)
    if named is not None and snapshot.may_call(named.tool, caller):
        found.append(FoundThing("tool", named.tool.id, named.tool.name))
    agents = snapshot.list_agents(None if caller.is_admin else caller.user_id)
    others = [FoundThing("agent", each.id, each.name) for each in agents if low == each.id or low in each.name.lower()]
    others = others[:_MAX_OTHERS]
    if caller.is_admin:
        users = [each for each in snapshot.list_users() if low == each.id or low in each.name.lower()]
        others += [FoundThing("user", each.id, each.name) for each in users[:_MAX_OTHERS]]
    page = await tools.page(ToolFilter(q=text), caller, cursor=None, limit=MAX_FOUND)
    matching = [FoundThing("tool", each.id, each.name) for each in page.items]
    matching.sort(key=lambda each: low not in each.name.lower())
    found += [each for each in matching if each not in found][: MAX_FOUND - len(found) - len(others)]
    return found + others
