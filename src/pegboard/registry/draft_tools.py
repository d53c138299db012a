"""Tools from unsaved definitions, to show what a model would receive and what providers would refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller
from pegboard.model.tool import Kind, Tool
from pegboard.registry.apply_plan import yield_to_event_loop
from pegboard.registry.tool_create import read_definition
from pegboard.registry.tool_registry import ToolRegistry

# Replace the kind of a definition without config, of which only the part for models is needed.
_WITHOUT_CONFIG = {"tool_type": Kind.MOCK, "config": {"mock_response": {}}}


async def build_drafts(definitions: Sequence[Any], caller: Caller, registry: ToolRegistry) -> list[Tool]:
    """Return the tools that the definitions describe, checked as if they were registered by the caller.

    A definition may be without `config`. Raises Invalid with the faults of the first definition that is not valid.
    """
    refuse_agents(caller)
    tools = []
    for place, definition in enumerate(definitions):
        await yield_to_event_loop(place)
        is_whole = not isinstance(definition, dict) or "config" in definition or "implementation" in definition
        try:
            spec = read_definition(definition if is_whole else {**definition, **_WITHOUT_CONFIG})
            tools.append(registry.make_tool(spec, caller))
        except Invalid as error:
            faults = [Fault(f"tools.{place} {fault.field}".rstrip(), fault.message) for fault in error.faults]
            raise Invalid.of("The definitions are not valid", faults) from None
    return tools
