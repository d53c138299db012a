"""Plan an import: which tools are created, updated or left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.kinds.import_target import Definition
from pegboard.model.api_errors import Forbidden, Refusal
from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport, LeftOut
from pegboard.model.tool import Tool, list_lookup_names
from pegboard.registry.apply_plan import NAME_TAKEN_MESSAGE, ApplyPlan, ApplyWork, list_changed_fields
from pegboard.registry.build_tool import write_definition
from pegboard.registry.tool_create import read_definition
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.storage import tool_rows

# Makes the plan; it is called with a function that reports the number of planned tools and the total.
BuildPlan = Callable[[Callable[[int, int], None]], "tuple[ApplyWork, ImportReport]"]

# Config keys that the owner may set if the source does not; all other keys come from the source.
_OWNER_CONFIG_KEYS = ("headers", "env", "working_dir", "timeout", "response", "max_response_bytes")
_SUGGESTED_FIELDS = ("display_name", "tags", "read_only", "idempotent", "destructive")
_PREFIX_HINT = "import with another prefix"


@dataclass(frozen=True, slots=True)
class ImportPlanner:
    """Plans an import of these definitions against the tools that are on the board.

    Fields that a definition does not contain keep the value that the owner has set.
    """

    definitions: Sequence[Definition]
    caller: Caller
    belongs: Callable[[Tool, Definition], bool]
    held_back: Callable[[Tool, Tool], bool]
    registry: ToolRegistry
    are_sound: bool
    # Tools that were built already, by name and previous version, so that planning again costs only what changed.
    known: dict[tuple[str, object], Tool] = field(default_factory=dict)

    async def read_current_tools(self) -> BuildPlan:
        """Read the current tools and return the function that plans from them."""
        names = [str(definition["name"]) for definition in self.definitions]
        async with self.registry.database.read() as conn:
            before = await tool_rows.find_tools_by_name(conn, names)
            new = {name: f"new {place}" for place, name in enumerate(names) if name.lower() not in before}
            in_use = set(await self.registry.find_taken_names(conn, new))
        return lambda on_progress: self._plan_tools(names, before, in_use, on_progress)

    def _plan_tools(
        self, names: list[str], before: dict[str, Tool], in_use: set[str], on_progress: Callable[[int, int], None]
    ) -> tuple[ApplyWork, ImportReport]:
        work, report = ApplyWork(ApplyPlan(), names, before, [], []), ImportReport()
        for place, definition in enumerate(self.definitions):
            name = names[place]
            old = before.get(name.lower())
            try:
                if old is not None:
                    self._update(old, definition, work, report)
                elif in_use & set(list_lookup_names(name)):
                    raise Forbidden(f"{NAME_TAKEN_MESSAGE}; {_PREFIX_HINT}")
                else:
                    work.created.append(self._build_once(name, None, lambda made=definition: self._build_tool(made)))  # type: ignore[misc]
                    report.created.append(name)
            except Refusal as error:
                # Without the tool's name, so that the reason is the same for all tools with this problem.
                reasons = "; ".join(f"{fault.field}: {fault.message}" for fault in error.faults)
                report.left_out.append(LeftOut(name, reasons or error.message))
            on_progress(place + 1, len(names))
        return work, report

    def _build_tool(self, definition: Definition) -> Tool:
        return self.registry.make_tool(read_definition(definition), self.caller, is_sound=self.are_sound)

    def _build_version(self, old: Tool, wanted: Definition) -> Tool:
        return self.registry.build_version(old, read_definition(wanted), self.caller, is_sound=self.are_sound)

    def _build_once(self, name: str, old: Tool | None, make: Callable[[], Tool]) -> Tool:
        key = (name, old and (old.id, old.version, old.updated_at))
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def _update(self, old: Tool, definition: Definition, work: ApplyWork, report: ImportReport) -> None:
        # This applies to admins too: the owner could send the credentials that the import sets to another server.
        if old.owner_id != self.caller.user_id:
            raise Forbidden(f"a tool of this name belongs to another user; {_PREFIX_HINT}")
        if not self.belongs(old, definition):
            raise Forbidden(f"a tool of this name does not come from this source; {_PREFIX_HINT}, or remove it first")
        shown = write_definition(old)
        wanted = _keep_owner_fields(shown, definition)
        # A definition that equals the current one needs no check; one with credentials never equals it.
        changed = old if wanted == shown else self._build_once(old.name, old, lambda: self._build_version(old, wanted))
        if changed is old:
            report.unchanged.append(old.name)
            return
        is_held = self.held_back(old, changed)
        (report.drifted if is_held else report.updated).append(old.name)
        now = write_definition(changed)
        report.changes[old.name] = {
            name: {"before": shown[name], "after": now[name]}
            for name in list_changed_fields(old, changed)
            if name in shown
        }
        if not is_held:
            work.updated.append(changed)


def _keep_owner_fields(shown: Definition, definition: Definition) -> dict[str, Any]:
    """Return the definition, with the current values of the fields that it leaves to the tool's owner."""
    own = {name: value for name, value in shown["config"].items() if name in _OWNER_CONFIG_KEYS}
    pinned = [one["config"].get("pinned") for one in (shown, definition)]
    # Suggested fields of the source apply once; later the owner's values stay, unless the pinned definition changes.
    theirs = _SUGGESTED_FIELDS if pinned[0] == pinned[1] else ("tags",)
    values = {name: value for name, value in definition.items() if name not in theirs}
    return {**shown, **values, "config": {**own, **definition["config"]}}
