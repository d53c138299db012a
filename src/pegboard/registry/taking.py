"""Import definitions from an API document or an MCP server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.refusals import Conflict, Forbidden, Invalid, Refusal
from pegboard.core.tool import Tool
from pegboard.registry.apply import NAME_TAKEN, TRIES, Plan, Work, carried_out, differing
from pegboard.registry.definition import definition_of, read_definition
from pegboard.registry.registry import Registry, refuse_agents
from pegboard.registry.snapshot import Snapshot, names_of
from pegboard.store import tools
from pegboard.store.database import Database

Definition = Mapping[str, Any]
Plans = Callable[[Callable[[int, int], None]], "tuple[Work, TakenOn]"]
"""Makes the plan, telling how far it has come."""
InThread = Callable[[Plans], Awaitable["tuple[Work, TakenOn]"]]

# What of a config its owner sets, where the source does not; the rest is the source's to say.
_OWNERS_CONFIG = ("headers", "env", "working_dir", "timeout", "response", "max_response_bytes")
_SUGGESTED = ("display_name", "tags", "read_only", "idempotent", "destructive")
_PREFIX = "import with another prefix"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of the source that did not become a tool, or not wholly, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class TakenOn:
    """What taking on did, or would do.

    `drifted` are tools that the upstream has changed since their owner took them on, `gone` those that it no longer
    has; neither is touched. `warnings` name what keeps tools from working, and what was changed in schemas.
    `changes` has each updated or drifted tool's fields before and after, secrets masked.
    """

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    drifted: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)


async def take_on(
    definitions: Sequence[Definition],
    caller: Caller,
    *,
    belongs: Callable[[Tool, Definition], bool],
    held_back: Callable[[Tool, Tool], bool] = lambda _now, _then: False,
    dry_run: bool,
    registry: Registry,
    database: Database,
    snapshot: Snapshot,
    in_thread: InThread,
    are_sound: bool = False,
) -> TakenOn:
    """Create the tools defined, and update those that came from the same source before, as `belongs` tells.

    A definition that cannot be used is left out with its reason, and the others are taken on. What a definition does
    not name, its owner may have set since: that stays as it is. An update that is `held_back`, told the tool as it is
    and as it would be, is listed as drifted. `are_sound` says that the definitions' schemas are checked already.
    """
    refuse_agents(caller)
    planner = _Planner(definitions, caller, belongs, held_back, registry, are_sound)
    for _ in range(TRIES):
        plan = await planner.looked(database)
        # In a thread: hundreds of tools take seconds to plan, and calls go on meanwhile.
        work, taken = await in_thread(plan)
        try:
            if dry_run or await carried_out(work, caller, registry=registry, database=database):
                await snapshot.refresh()
                return taken
        except Invalid:
            continue  # a name was taken meanwhile: the next plan sees it
    raise Conflict("Nothing was imported: the same tools keep being changed by others; try again")


@dataclass(frozen=True, slots=True)
class _Planner:
    """Works out, from what is on the board at the moment, what taking these definitions on means."""

    definitions: Sequence[Definition]
    caller: Caller
    belongs: Callable[[Tool, Definition], bool]
    held_back: Callable[[Tool, Tool], bool]
    registry: Registry
    are_sound: bool
    # What became of a definition and the tool it was held against, so that planning anew costs only what changed.
    known: dict[tuple[str, object], Tool] = field(default_factory=dict)

    async def looked(self, database: Database) -> Plans:
        """What plans from the tools that are on the board now."""
        names = [str(definition["name"]) for definition in self.definitions]
        async with database.read() as conn:
            before = await tools.all_named(conn, names)
            new = {name: f"new {place}" for place, name in enumerate(names) if name.lower() not in before}
            in_use = set(await self.registry.taken(conn, new))
        return lambda on_progress: self._planned(names, before, in_use, on_progress)

    def _planned(
        self, names: list[str], before: dict[str, Tool], in_use: set[str], on_progress: Callable[[int, int], None]
    ) -> tuple[Work, TakenOn]:
        work, taken = Work(Plan(), names, before, [], []), TakenOn()
        for place, definition in enumerate(self.definitions):
            name = names[place]
            old = before.get(name.lower())
            try:
                if old is not None:
                    self._update(old, definition, work, taken)
                elif in_use & set(names_of(name)):
                    raise Forbidden(f"{NAME_TAKEN}; {_PREFIX}")
                else:
                    work.created.append(self._once(name, None, lambda made=definition: self._made(made)))  # type: ignore[misc]
                    taken.created.append(name)
            except Refusal as error:
                taken.left_out.append(LeftOut(name, _reason(error)))
            on_progress(place + 1, len(names))
        return work, taken

    def _made(self, definition: Definition) -> Tool:
        return self.registry.made(read_definition(definition), self.caller, is_sound=self.are_sound)

    def _changed(self, old: Tool, wanted: Definition) -> Tool:
        return self.registry.changed(old, read_definition(wanted), self.caller, is_sound=self.are_sound)

    def _once(self, name: str, old: Tool | None, make: Callable[[], Tool]) -> Tool:
        key = (name, old and (old.id, old.version, old.updated_at))
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def _update(self, old: Tool, definition: Definition, work: Work, taken: TakenOn) -> None:
        # Not even an admin: whoever owns a tool could send what it is imported with, credentials too, elsewhere.
        if old.owner_id != self.caller.user_id:
            raise Forbidden(f"a tool of this name belongs to somebody else; {_PREFIX}")
        if not self.belongs(old, definition):
            raise Forbidden(f"a tool of this name does not come from this source; {_PREFIX}, or remove it first")
        shown = definition_of(old)
        wanted = _kept(shown, definition)
        # The same as it is shown, it need not be checked again; credentials that are given never are.
        changed = old if wanted == shown else self._once(old.name, old, lambda: self._changed(old, wanted))
        if changed is old:
            taken.unchanged.append(old.name)
            return
        is_held = self.held_back(old, changed)
        (taken.drifted if is_held else taken.updated).append(old.name)
        now = definition_of(changed)
        taken.changes[old.name] = {
            name: {"before": shown[name], "after": now[name]} for name in differing(old, changed) if name in shown
        }
        if not is_held:
            work.updated.append(changed)


def _reason(error: Refusal) -> str:
    """The reason without the tool's name, so that it is the same text for all tools that it holds for."""
    return "; ".join(f"{fault.field}: {fault.message}" for fault in error.faults) or error.message


def _kept(shown: Definition, definition: Definition) -> dict[str, Any]:
    """The definition, with what it leaves to the tool's owner as the tool is shown with it."""
    own = {name: value for name, value in shown["config"].items() if name in _OWNERS_CONFIG}
    pinned = [one["config"].get("pinned") for one in (shown, definition)]
    # What the source only suggests is the owner's from then on, unless it is a new definition that they accept.
    theirs = _SUGGESTED if pinned[0] == pinned[1] else ("tags",)
    said = {name: value for name, value in definition.items() if name not in theirs}
    return {**shown, **said, "config": {**own, **definition["config"]}}
