"""Tools as code: make the board match a list of definitions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.definitions import ToolCreate
from pegboard.core.refusals import MAX_FAULTS, Conflict, Fault, Forbidden, Invalid, Refusal
from pegboard.core.tool import Tool
from pegboard.registry.definition import read_definition
from pegboard.registry.registry import Registry, refuse_agents
from pegboard.registry.shipped import SHIPPED_IDS
from pegboard.registry.shown import cut
from pegboard.registry.snapshot import Snapshot, names_of
from pegboard.store import tools
from pegboard.store.database import Database

# Definitions checked before others get their turn, and how often a plan is made anew that others overtook.
_TURN = 8
TRIES = 5
# Tools made ready for their first call at once; the others are when it comes.
_WARMED = 8
NAME_TAKEN = "exists already as another tool's name or alias"


@dataclass(slots=True)
class Plan:
    """What an apply does, or would do: names, and for updates the fields that differ."""

    created: list[str] = field(default_factory=list)
    updated: dict[str, list[str]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Work:
    """A plan, the tools it was made from, and the tools that carry it out."""

    plan: Plan
    names: list[str]
    before: dict[str, Tool]
    created: list[Tool]
    updated: list[Tool]
    deleted: list[Tool] = field(default_factory=list)
    prune: bool = False


async def apply(
    definitions: Sequence[Any],
    caller: Caller,
    *,
    prune: bool,
    dry_run: bool,
    registry: Registry,
    database: Database,
    snapshot: Snapshot,
) -> Plan:
    """Create, update and with `prune` delete the caller's tools, all or nothing; a dry run only reads.

    Everything is checked and sealed before the change begins, so that others write and call meanwhile; if what it was
    based on has changed by then, it is done anew.
    """
    refuse_agents(caller)
    specs = await _read_all(definitions)
    for _ in range(TRIES):
        work = await _planned(specs, caller, prune=prune, registry=registry, database=database)
        if dry_run or await carried_out(work, caller, registry=registry, database=database):
            await snapshot.refresh()
            if not dry_run:
                for tool in (*work.created, *work.updated)[:_WARMED]:
                    snapshot.warm(tool.id)
            return work.plan
    raise Conflict("Nothing was applied: the same tools keep being changed by others; try again")


async def _read_all(definitions: Sequence[Any]) -> list[ToolCreate]:
    faults: list[Fault] = []
    specs: list[ToolCreate] = []
    seen: dict[str, int] = {}
    for place, definition in enumerate(definitions):
        name = definition.get("name") if isinstance(definition, dict) else None
        label = f"tools.{place}" + (f" '{cut(name)}'" if isinstance(name, str) else "")
        await take_turns(place)
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


async def _planned(
    specs: Sequence[ToolCreate], caller: Caller, *, prune: bool, registry: Registry, database: Database
) -> Work:
    names = [spec.name for spec in specs]
    async with database.read() as conn:
        before = await tools.all_named(conn, names)
        owned = await tools.all_owned(conn, caller.user_id) if prune else []
        new = {spec.name: f"new {place}" for place, spec in enumerate(specs) if spec.name.lower() not in before}
        faults = _taken(names, await registry.taken(conn, new))
    plan, created, updated = Plan(), [], []
    for place, spec in enumerate(specs):
        await take_turns(place)
        old = before.get(spec.name.lower())
        try:
            if old is None:
                created.append(registry.made(spec, caller))
                plan.created.append(spec.name)
                continue
            if not (caller.is_admin or old.owner_id == caller.user_id):
                raise Forbidden("a tool of this name belongs to somebody else")
            changed = registry.changed(old, spec, caller)
            if changed is old:
                plan.unchanged.append(spec.name)
            else:
                plan.updated[spec.name] = differing(old, changed)
                updated.append(changed)
        except Refusal as error:
            inner = error.faults or (Fault("", error.message),)
            faults += [Fault(f"tools.{place} '{spec.name}' {fault.field}".rstrip(), fault.message) for fault in inner]
    if faults:
        raise Invalid.of("Nothing was applied", faults)
    beside = {name: tool for tool in (*created, *updated) for name in names_of(tool.name)}
    created = [registry.bound(tool, beside) for tool in created]
    updated = [registry.bound(tool, beside) for tool in updated]
    deleted = _not_kept(owned, names)
    plan.deleted += [tool.name for tool in deleted]
    return Work(plan, names, before, created, updated, deleted, prune)


async def carried_out(work: Work, caller: Caller, *, registry: Registry, database: Database) -> bool:
    """Whether the work was done; not if the tools are no longer what it was planned from."""
    async with database.change() as change:
        now = await tools.all_named(change.conn, work.names)
        owned = await tools.all_owned(change.conn, caller.user_id) if work.prune else []
        if _places(now.values()) != _places(work.before.values()) or _places(_not_kept(owned, work.names)) != _places(
            work.deleted
        ):
            return False
        taken = await registry.taken(change.conn, {tool.name: tool.id for tool in work.created})
        if faults := _taken(work.names, taken):
            raise Invalid.of("Nothing was applied", faults)
        await tools.add_all(change.conn, work.created, revision=change.revision, by=caller.user_id)
        for tool in work.updated:
            await tools.save(change.conn, tool, revision=change.revision, by=caller.user_id)
        for tool in work.deleted:
            await registry.take_down(change, tool, caller)
    return True


async def take_turns(place: int) -> None:
    """Let others have their turn every few definitions."""
    if place % _TURN == 0:
        await asyncio.sleep(0.001)  # not 0: threads that write the journal need a moment too


def _taken(wanted: Sequence[str], names: Iterable[str]) -> list[Fault]:
    places = {name.lower(): f"tools.{place} " for place, name in enumerate(wanted)}
    return [Fault(f"{places.get(name, '')}'{name}'", NAME_TAKEN) for name in names]


def _not_kept(owned: Sequence[Tool], names: Sequence[str]) -> list[Tool]:
    keep = {name.lower() for name in names}
    return [tool for tool in owned if tool.name.lower() not in keep and tool.id not in SHIPPED_IDS]


def _places(some: Iterable[Tool]) -> set[tuple[str, int, object]]:
    return {(tool.id, tool.version, tool.updated_at) for tool in some}


def differing(before: Tool, after: Tool) -> list[str]:
    """The fields of a definition that two versions of a tool differ in."""
    stored = {"auth_config": "sealed_auth"}
    return [
        name
        for name in (*ToolCreate.model_fields, "bound_tools")
        if getattr(before, stored.get(name, name)) != getattr(after, stored.get(name, name))
    ]
