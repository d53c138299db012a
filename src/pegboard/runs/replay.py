"""Replays recorded calls: with their tool as it is now, another tool, or an earlier version of the tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from typing import Any, Final, Literal

from pegboard.json_schema.schema_document import Path, SchemaDocument
from pegboard.json_schema.value_text import format_field_path, format_value, shorten
from pegboard.kinds.base import Prepared
from pegboard.kinds.catalog import find_kind
from pegboard.model.api_errors import Conflict, Forbidden, Invalid, NotFound
from pegboard.model.call import Caller, CallRequest, Execution, NamedBy, ToolCall, ToolResult
from pegboard.model.json_text import is_json_equal, replace_unstorable
from pegboard.model.tool import Tool
from pegboard.pipeline import Pipeline
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.resolve import find_tool
from pegboard.stages.run import ReplayedCall
from pegboard.storage import tool_rows
from pegboard.storage.database import Database
from pegboard.storage.tool_rows import StoredToolVersion

MAX_DIFFERENCES = 100
# Maximum length of a value that is included whole in a difference.
MAX_VALUE_CHARS = 200
# Maximum length of an error in the journal.
_MAX_ERROR_CHARS = 2000
# Access, rate limit and retention settings always come from the current version.
_CURRENT_FIELDS = ("name", "is_active", "drifted", "is_public", "rate_limit", "keep_arguments", "keep_result")
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between the recorded and the new result; long values are truncated."""

    path: str
    change: Literal["changed", "added", "removed"]
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded call, the tool that it was replayed with, the result, and the differences.

    `more` is True if there are further differences; `note` explains why the results could not be compared.
    `arguments_changed` is True if it ran with other arguments than the recorded ones, None if those were not kept.
    """

    execution: Execution
    tool: Tool
    result: ToolResult
    differences: tuple[Difference, ...]
    more: bool = False
    note: str | None = None
    arguments_changed: bool | None = False

    @property
    def same(self) -> bool | None:
        """True if it ended as recorded; None if there is no difference but the results could not be compared."""
        if self.differences:
            return False
        return None if self.note else True


@dataclass(eq=False)
class CallReplayer:
    """Replays recorded calls."""

    database: Database
    snapshot: Snapshot
    pipeline: Pipeline
    prepare: Callable[[Tool], Prepared]
    refuse: Callable[[Tool, Caller], None]

    async def run(
        self,
        execution: Execution,
        request: CallRequest,
        *,
        tool: str | None = None,
        version: int | None = None,
        careful: bool = False,
        arguments: Any = None,
    ) -> Replay:
        """Replay the call for a caller who may see it, and compare; `careful` refuses tools with effects.

        `arguments` are used in place of the recorded ones, which need not be kept then.
        """
        if tool is not None and version is not None:
            raise Invalid("Give either another tool or a version of the call's own tool, not both")
        caller = request.caller
        arguments_changed: bool | None = False
        if arguments is None:
            arguments = await self._arguments(execution)
        else:
            arguments_changed = await self._differs(execution, arguments)
        compiled = present = self._other(tool, caller) if tool is not None else self._own(execution, caller)
        if version is not None:
            compiled = await self._load_version(present, version, caller)
        if careful:
            self._refuse_effects(compiled, caller)
        name = compiled.tool.name
        if self.snapshot.find(name) is not present:
            name = present.tool.id  # a function of this process has the name
        call = ToolCall(name, arguments, surface=request.surface, request_id=request.request_id)
        replaying = ReplayedCall(execution.id, compiled if compiled is not present else None)
        result = await self.pipeline.run(call, caller, replaying=replaying)
        replay = compare_outcomes(execution, compiled.tool, result)
        return replace(replay, arguments_changed=arguments_changed)

    async def _differs(self, execution: Execution, arguments: Any) -> bool | None:
        """Return whether these arguments are others than those of the call; None if those were not kept."""
        if execution.arguments is None:
            return None
        return not is_json_equal(await self._arguments(execution), arguments)

    async def _arguments(self, execution: Execution) -> Any:
        """Return the arguments of the call, without those that its tool added."""
        arguments = execution.arguments
        if execution.arguments_digest is None:
            raise Invalid(
                f"Execution '{execution.id}' was refused before its arguments were accepted ({execution.code}), so "
                f"there is nothing to run again; call '{shorten(execution.tool_name)}' itself"
            )
        if arguments is None:
            raise Invalid(
                f"The arguments of execution '{execution.id}' were not kept, so it cannot be run again; "
                f"set keep_arguments: true on '{execution.tool_name}' to make later calls replayable"
            )
        kind = find_kind(execution.kind or "")
        if kind.presets_field is None or execution.tool_id is None or not isinstance(arguments, Mapping):
            return arguments
        then = await self._version(execution.tool_id, execution.tool_version or 0)
        if then is None:
            return arguments
        presets: Mapping[str, Any] = then.definition["config"].get(kind.presets_field) or {}
        declared, _ = SchemaDocument(then.definition["input_schema"]).list_declared_names()
        beside = [(name, value) for name, value in presets.items() if name not in declared]
        return {name: value for name, value in arguments.items() if (name, value) not in beside}

    def _own(self, execution: Execution, caller: Caller) -> CompiledTool:
        """Return the tool that was called, under its current name."""
        for ref in (execution.tool_id or "", execution.tool_name):
            compiled = self.snapshot.find(ref)
            if (
                compiled is not None
                and compiled.tool.id == execution.tool_id
                and self.snapshot.may_call(compiled.tool, caller)
            ):
                return compiled
        raise NotFound(
            f"The tool that execution '{execution.id}' called, '{execution.tool_name}', was removed, or you may not "
            f"call it; name another one to run it with, or restore it: pegboard tools restore {execution.tool_id}"
        )

    def _other(self, ref: str, caller: Caller) -> CompiledTool:
        compiled = self.snapshot.find(ref)
        if compiled is None or not self.snapshot.may_call(compiled.tool, caller):
            raise NotFound(f"Tool '{shorten(ref)}' not found")
        return compiled

    async def _load_version(self, present: CompiledTool, version: int, caller: Caller) -> CompiledTool:
        tool = present.tool
        if version == tool.version:
            return present
        if not (caller.is_admin or tool.owner_id == caller.user_id):
            raise Forbidden(f"Only its owner and admins may run earlier versions of '{tool.name}'")
        then = await self._version(tool.id, version) if 0 < version < tool.version else None
        if then is None:
            raise NotFound(f"Tool '{tool.name}' has no version {version}; it is at version {tool.version}")
        # An inactive or drifted tool accepts no calls in any version.
        if not tool.is_active or tool.drifted:
            return present
        earlier = _restore_version(tool, then)
        self.refuse(earlier, caller)
        return CompiledTool(earlier, self.prepare)

    async def _version(self, tool_id: str, version: int) -> StoredToolVersion | None:
        async with self.database.read() as conn:
            found = await tool_rows.list_versions(conn, tool_id, before=version + 1, limit=1)
        return found[0] if found and found[0].version == version else None

    def _refuse_effects(self, compiled: CompiledTool, caller: Caller) -> None:
        tool = compiled.tool
        name = tool.fallback.tool if tool.fallback is not None else None
        fallback = find_tool(self.snapshot, name, NamedBy.of(tool, name, caller, None)) if name else None
        for each in [compiled, *([fallback] if fallback is not None else [])]:
            if each.has_effects and not each.tool.idempotent:
                raise Conflict(
                    f"'{each.tool.name}' may change something, and is not marked idempotent or read_only: running this "
                    "call again may do it twice. Confirm that you want that (confirm: true, or --yes), or run it "
                    "against a mock (tool, or --tool MOCK) or a harmless version (version, or --version N)"
                )


def compare_outcomes(execution: Execution, tool: Tool, result: ToolResult) -> Replay:
    """Return the differences between the recorded and the new result of a call."""
    found = _compare_status(execution, result)
    note = None
    if execution.status == "succeeded" and result.success:
        if execution.result is None:
            note = (
                "There is no recorded result to compare with: it is kept if the tool has keep_result: true, "
                "unless it is null or larger than 64 KiB"
            )
        else:
            found = chain(found, find_differences(execution.result, result.output, ("result",)))
    listed = tuple(islice(found, MAX_DIFFERENCES + 1))
    return Replay(execution, tool, result, listed[:MAX_DIFFERENCES], len(listed) > MAX_DIFFERENCES, note)


def find_differences(before: Any, after: Any, path: Path = ()) -> Iterator[Difference]:
    """Yield the differences between two JSON values in order; arrays are compared by index, objects by name.

    Hand-written, because libraries for this recurse, and compute all differences before they return the first.
    """
    todo = [iter([(path, before, after)])]  # no recursion: a result may be nested deeply
    while todo:
        step = next(todo[-1], None)
        if step is None:
            todo.pop()
            continue
        here, one, other = step
        if isinstance(one, dict) and isinstance(other, dict):
            todo.append(_pair_members(here, one, other))
        elif isinstance(one, list) and isinstance(other, list):
            todo.append(_pair_items(here, one, other))
        elif one is _ABSENT:
            yield Difference(format_field_path(here) or "", "added", None, _shorten_value(other))
        elif other is _ABSENT:
            yield Difference(format_field_path(here) or "", "removed", _shorten_value(one), None)
        elif not is_json_equal(one, other):
            yield Difference(format_field_path(here) or "", "changed", _shorten_value(one), _shorten_value(other))


_ValuePairs = Iterator[tuple[Path, Any, Any]]


def _pair_members(path: Path, one: dict[str, Any], other: dict[str, Any]) -> _ValuePairs:
    for name in chain(one, (name for name in other if name not in one)):
        yield _extend_path(path, name), one.get(name, _ABSENT), other.get(name, _ABSENT)


def _pair_items(path: Path, one: list[Any], other: list[Any]) -> _ValuePairs:
    for place, (item, its) in enumerate(zip_longest(one, other, fillvalue=_ABSENT)):
        yield _extend_path(path, place), item, its


def _extend_path(path: Path, step: str | int) -> Path:
    # A longer path would not be displayed anyway.
    return (*path, step) if len(path) <= MAX_VALUE_CHARS else path


def _compare_status(execution: Execution, result: ToolResult) -> Iterator[Difference]:
    problem = result.problem
    status = "succeeded" if result.success else "failed" if result.attempts else "refused"
    error = replace_unstorable(problem.message[:_MAX_ERROR_CHARS]) if problem is not None else None
    then = [execution.status, execution.code, execution.error]
    now = [status, problem.code if problem is not None else None, error]
    for name, before, after in zip(("status", "code", "error"), then, now, strict=True):
        if before != after:
            change: Any = "added" if before is None else "removed" if after is None else "changed"
            yield Difference(name, change, _shorten_value(before), _shorten_value(after))
    # Unknown for a call in doubt, and zero for one that was answered from an earlier call.
    known = execution.attempts if execution.status != "in_doubt" else 0
    if known and result.attempts and known != result.attempts:
        yield Difference("attempts", "changed", known, result.attempts)


def _shorten_value(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, MAX_VALUE_CHARS)
    return value if _is_short(value) else format_value(value)


def _is_short(value: Any) -> bool:
    room, todo = MAX_VALUE_CHARS, [value]
    while todo and room >= 0:
        item = todo.pop()
        room -= len(item) if isinstance(item, str | dict | list) else 1
        if room >= 0 and isinstance(item, dict | list):
            todo += chain(item, item.values()) if isinstance(item, dict) else item
    return room >= 0


def _restore_version(tool: Tool, then: StoredToolVersion) -> Tool:
    """Return the tool as it was at a version, with the current access rules."""
    known = tool_rows.read_stored_fields(
        {name: value for name, value in then.definition.items() if name in Tool.__dataclass_fields__}
    )
    was = Tool(id=tool.id, owner_id=tool.owner_id, created_at=tool.created_at, updated_at=then.created_at, **known)
    return replace(was, version=then.version, **{name: getattr(tool, name) for name in _CURRENT_FIELDS})
