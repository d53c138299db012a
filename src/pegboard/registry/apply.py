"""Tools as code: make the board match a list of definitions."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.definitions import ToolCreate
from pegboard.core.refusals import Fault, Forbidden, Invalid, Refusal
from pegboard.core.tool import Tool
from pegboard.registry.definition import read_definition
from pegboard.registry.registry import Registry, refuse_agents
from pegboard.registry.shipped import SHIPPED_IDS
from pegboard.registry.snapshot import Snapshot
from pegboard.store import tools
from pegboard.store.database import Change, Database
from pegboard.store.tools import ToolFilter


@dataclass(slots=True)
class Plan:
    """What an apply does, or would do: names, and for updates the fields that differ."""

    created: list[str] = field(default_factory=list)
    updated: dict[str, list[str]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


class _DryRun(Exception):
    """Undoes the transaction of a dry run."""


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
    """Create, update and with `prune` delete the caller's tools, all or nothing; a dry run is taken back at its end."""
    refuse_agents(caller)
    specs = _read_all(definitions)
    plan = Plan()
    with contextlib.suppress(_DryRun):
        async with database.change() as change:
            await _put_all(specs, caller, change, registry, plan)
            if prune:
                await _prune({spec.name.lower() for spec in specs}, caller, change, registry, plan)
            if dry_run:
                raise _DryRun
    if not dry_run:
        await snapshot.refresh()
    return plan


def _read_all(definitions: Sequence[Any]) -> list[ToolCreate]:
    faults: list[Fault] = []
    specs: list[ToolCreate] = []
    seen: dict[str, int] = {}
    for place, definition in enumerate(definitions):
        name = definition.get("name") if isinstance(definition, dict) else None
        label = f"tools.{place}" + (f" '{name}'" if isinstance(name, str) else "")
        try:
            spec = read_definition(definition)
        except Invalid as error:
            faults += [Fault(f"{label} {fault.field}", fault.message) for fault in error.faults]
            continue
        if spec.name.lower() in seen:
            faults.append(Fault(label, f"the same name as tools.{seen[spec.name.lower()]}"))
        seen.setdefault(spec.name.lower(), place)
        specs.append(spec)
    if faults:
        raise Invalid.of("The definitions are not valid", faults)
    return specs


async def _put_all(specs: Sequence[ToolCreate], caller: Caller, change: Change, registry: Registry, plan: Plan) -> None:
    faults: list[Fault] = []
    for place, spec in enumerate(specs):
        try:
            before = await tools.named(change.conn, spec.name)
            if before is None:
                await registry.add(change, spec, caller)
                plan.created.append(spec.name)
                continue
            if not (caller.is_admin or before.owner_id == caller.user_id):
                raise Forbidden("a tool of this name belongs to somebody else")
            after = await registry.put(change, before, spec, caller)
            if after is before:
                plan.unchanged.append(spec.name)
            else:
                plan.updated[spec.name] = _differing(before, after)
        except Refusal as error:
            inner = error.faults or (Fault("", error.message),)
            faults += [Fault(f"tools.{place} '{spec.name}' {fault.field}".rstrip(), fault.message) for fault in inner]
    if faults:
        raise Invalid.of("Nothing was applied", faults)


async def _prune(keep: set[str], caller: Caller, change: Change, registry: Registry, plan: Plan) -> None:
    after: tuple[str, str] | None = None
    while page := await tools.page(change.conn, ToolFilter(owner_id=caller.user_id), after=after, limit=500):
        after = (page[-1].name.lower(), page[-1].id)
        for tool in page:
            if tool.name.lower() not in keep and tool.id not in SHIPPED_IDS:
                await registry.take_down(change, tool, caller)
                plan.deleted.append(tool.name)


def _differing(before: Tool, after: Tool) -> list[str]:
    stored = {"auth_config": "sealed_auth"}
    return [
        name
        for name in ToolCreate.model_fields
        if getattr(before, stored.get(name, name)) != getattr(after, stored.get(name, name))
    ]
