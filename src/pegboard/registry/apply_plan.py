"""Apply a list of tool definitions: create, update and optionally delete tools so that the board matches the list."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.json_schema.value_text import shorten
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import MAX_FAULTS, Conflict, Fault, Forbidden, Invalid, Refusal
from pegboard.model.call import Caller
from pegboard.model.tool import Tool, list_lookup_names
from pegboard.registry.shipped_tools import SHIPPED_IDS
from pegboard.registry.tool_create import ToolCreate, read_definition
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.storage import tool_rows

# The number of definitions that are handled before other tasks may run.
_DEFINITIONS_PER_TURN = 8
# How often a plan is made at most, if the tools are changed by others at the same time.
MAX_TRIES = 5
# How many created or updated tools are warmed at once; the others are prepared at their first call.
_MAX_WARMED_TOOLS = 8
NAME_TAKEN_MESSAGE = "exists already as another tool's name or alias"


@dataclass(slots=True)
class ApplyPlan:
    """The changes that an apply makes, or would make: names of tools, and for updates the changed fields."""

    created: list[str] = field(default_factory=list)
    updated: dict[str, list[str]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ApplyWork:
    """A plan, the tools that it was made from, and the tools to write."""

    plan: ApplyPlan
    names: list[str]
    before: dict[str, Tool]
    created: list[Tool]
    updated: list[Tool]
    deleted: list[Tool] = field(default_factory=list)
    prune: bool = False


async def apply_definitions(
    definitions: Sequence[Any],
    caller: Caller,
    *,
    prune: bool,
    dry_run: bool,
    registry: ToolRegistry,
) -> ApplyPlan:
    """Create, update and with `prune` delete the caller's tools, all or nothing; a dry run only reads.

    Everything is checked and sealed before the transaction begins, so that other writes and calls are not blocked. If
    the tools have changed by then, the plan is made again, up to MAX_TRIES times; then Conflict is raised.
    """
    refuse_agents(caller)
    specs = await _read_all(definitions)
    for _ in range(MAX_TRIES):
        work = await _build_work(specs, caller, registry, prune=prune)
        if dry_run or await carry_out(work, caller, registry):
            await registry.snapshot.refresh()
            if not dry_run:
                for tool in (*work.created, *work.updated)[:_MAX_WARMED_TOOLS]:
                    registry.snapshot.warm(tool.id)
            return work.plan
    raise Conflict("Nothing was applied: the same tools keep being changed by others; try again")


async def _read_all(definitions: Sequence[Any]) -> list[ToolCreate]:
    faults: list[Fault] = []
    specs: list[ToolCreate] = []
    seen: dict[str, int] = {}
    for place, definition in enumerate(definitions):
        name = definition.get("name") if isinstance(definition, dict) else None
        label = f"tools.{place}" + (f" '{shorten(name)}'" if isinstance(name, str) else "")
        await yield_to_event_loop(place)
        if len(faults) > MAX_FAULTS:
            break
        try:
            spec = read_definition(definition)
        except Invalid as error:
            faults += [Fault(f"{label} {fault.field}".rstrip(), fault.message) for fault in error.faults]
            continue
        if spec.name.lower() in seen:
            faults.append(Fault(label, f"the same name as tools.{seen[spec.name.lower()]}"))
        seen.setdefault(spec.name.lower(), place)
        specs.append(spec)
    if faults:
        raise Invalid.of("The definitions are not valid", faults)
    return specs


async def _build_work(specs: Sequence[ToolCreate], caller: Caller, registry: ToolRegistry, *, prune: bool) -> ApplyWork:
    names = [spec.name for spec in specs]
    async with registry.database.read() as conn:
        before = await tool_rows.find_tools_by_name(conn, names)
        owned = await tool_rows.list_owned_tools(conn, caller.user_id) if prune else []
        new = {spec.name: f"new {place}" for place, spec in enumerate(specs) if spec.name.lower() not in before}
        faults = _build_name_faults(names, await registry.find_taken_names(conn, new))
    plan, created, updated = ApplyPlan(), [], []
    for place, spec in enumerate(specs):
        await yield_to_event_loop(place)
        old = before.get(spec.name.lower())
        try:
            if old is None:
                created.append(registry.make_tool(spec, caller))
                plan.created.append(spec.name)
                continue
            if not (caller.is_admin or old.owner_id == caller.user_id):
                raise Forbidden("a tool of this name belongs to another user")
            changed = registry.build_version(old, spec, caller)
            if changed is old:
                plan.unchanged.append(spec.name)
            else:
                plan.updated[spec.name] = list_changed_fields(old, changed)
                updated.append(changed)
        except Refusal as error:
            inner = error.faults or (Fault("", error.message),)
            faults += [Fault(f"tools.{place} '{spec.name}' {fault.field}".rstrip(), fault.message) for fault in inner]
    if faults:
        raise Invalid.of("Nothing was applied", faults)
    beside = {name: tool for tool in (*created, *updated) for name in list_lookup_names(tool.name)}
    created = [registry.bind_names(tool, beside) for tool in created]
    updated = [registry.bind_names(tool, beside) for tool in updated]
    deleted = _list_prunable(owned, names)
    plan.deleted += [tool.name for tool in deleted]
    return ApplyWork(plan, names, before, created, updated, deleted, prune)


async def carry_out(work: ApplyWork, caller: Caller, registry: ToolRegistry) -> bool:
    """Write the plan and return True, or return False if the tools have changed since it was made."""
    async with registry.database.change() as change:
        now = await tool_rows.find_tools_by_name(change.conn, work.names)
        owned = await tool_rows.list_owned_tools(change.conn, caller.user_id) if work.prune else []
        if _list_versions(now.values()) != _list_versions(work.before.values()) or _list_versions(
            _list_prunable(owned, work.names)
        ) != _list_versions(work.deleted):
            return False
        taken = await registry.find_taken_names(change.conn, {tool.name: tool.id for tool in work.created})
        if faults := _build_name_faults(work.names, taken):
            raise Invalid.of("Nothing was applied", faults)
        await tool_rows.add_tools(change.conn, work.created, revision=change.revision, by=caller.user_id)
        for tool in work.updated:
            await tool_rows.save_tool(change.conn, tool, revision=change.revision, by=caller.user_id)
        for tool in work.deleted:
            await registry.mark_deleted(change, tool, caller)
    return True


async def yield_to_event_loop(place: int) -> None:
    """Yield to the event loop every few definitions."""
    if place % _DEFINITIONS_PER_TURN == 0:
        await asyncio.sleep(0.001)  # not 0: the threads that write the journal need time too


def _build_name_faults(wanted: Sequence[str], names: Iterable[str]) -> list[Fault]:
    places = {name.lower(): f"tools.{place} " for place, name in enumerate(wanted)}
    return [Fault(f"{places.get(name, '')}'{name}'", NAME_TAKEN_MESSAGE) for name in names]


def _list_prunable(owned: Sequence[Tool], names: Sequence[str]) -> list[Tool]:
    keep = {name.lower() for name in names}
    return [tool for tool in owned if tool.name.lower() not in keep and tool.id not in SHIPPED_IDS]


def _list_versions(some: Iterable[Tool]) -> set[tuple[str, int, object]]:
    return {(tool.id, tool.version, tool.updated_at) for tool in some}


def list_changed_fields(before: Tool, after: Tool) -> list[str]:
    """Return the fields of a definition in which two versions of a tool differ."""
    stored = {"auth_config": "sealed_auth"}
    return [
        name
        for name in (*ToolCreate.model_fields, "bound_tools")
        if getattr(before, stored.get(name, name)) != getattr(after, stored.get(name, name))
    ]
