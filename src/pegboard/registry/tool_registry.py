"""The tool registry: create, update, delete and restore stored tools, and list them with those of this process."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.kinds.catalog import find_kind
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Conflict, Fault, Forbidden, Invalid, NotFound
from pegboard.model.call import Caller
from pegboard.model.call_errors import EgressRefused
from pegboard.model.filters import ToolFilter, ToolSort
from pegboard.model.ids import new_id
from pegboard.model.json_text import is_uuid
from pegboard.model.page import Page, cut_page, read_cursor, read_id, read_moment, read_name, read_version
from pegboard.model.tool import Tool, list_lookup_names, make_alias
from pegboard.registry.build_tool import build_tool, make_empty_tool, write_definition
from pegboard.registry.registration_policy import RegistrationPolicy
from pegboard.registry.secret_fields import are_equal_unsealed
from pegboard.registry.shipped_tools import SHIPPED_IDS
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tool_create import ToolCreate, read_definition
from pegboard.storage import tool_rows
from pegboard.storage.database import Change, Database
from pegboard.storage.tool_rows import StoredToolVersion
from pegboard.storage.vault import Vault


def get_sort_key(tool: Tool) -> tuple[str, str]:
    """Return the key that lists are sorted by, the same as in SQL."""
    return (tool.name.lower(), tool.id)


def get_latest_key(tool: Tool) -> tuple[datetime, str]:
    """Return the key that lists by the time of the last update are sorted by, in reverse."""
    return (tool.updated_at, tool.id)


def matches_filter(tool: Tool, wanted: ToolFilter) -> bool:
    """Return True if the tool matches the filter, with the same semantics as the SQL query."""
    text = f"{tool.name}\n{tool.description or ''}".lower()
    return (
        not wanted.deleted
        and (wanted.visible_to is None or tool.is_public or tool.owner_id == wanted.visible_to)
        and wanted.owner_id in (None, tool.owner_id)
        and wanted.tool_type in (None, tool.tool_type)
        and wanted.is_active in (None, tool.is_active)
        and wanted.is_public in (None, tool.is_public)
        and wanted.drifted in (None, tool.drifted)
        and (wanted.tag is None or wanted.tag in tool.tags)
        and (wanted.q is None or wanted.q.lower() in text)
    )


def _limit_to_visible(wanted: ToolFilter, caller: Caller) -> ToolFilter:
    """Return the filter for what this caller may see."""
    if caller.is_admin or caller.agent_id is not None:
        return wanted
    wanted = replace(wanted, visible_to=caller.user_id)
    if not wanted.deleted:
        return wanted
    # With another owner, nothing.
    others = wanted.owner_id not in (None, caller.user_id)
    return replace(wanted, owner_id=caller.user_id, among=frozenset() if others else wanted.among)


def _is_in_memory(wanted: ToolFilter, caller: Caller) -> bool:
    """Return True if the tools are selected in memory: an agent has few, scattered over the whole list."""
    return caller.agent_id is not None or wanted.among is not None


# The first part of a cursor of a list by the time of the last update.
_LATEST_MARK = "updated_at"


def _read_latest_mark(text: str) -> str:
    if text != _LATEST_MARK:
        raise ValueError(text)
    return text


_ALIAS_SHAPE = re.compile(r".{1,55}_[0-9a-f]{8}", re.IGNORECASE)
# Fields that may be changed on a shipped tool.
_EDITABLE_SHIPPED_FIELDS = {
    "is_active",
    "is_public",
    "rate_limit",
    "tags",
    "timeout",
    "keep_arguments",
    "keep_result",
    "max_result_bytes",
}


@dataclass(eq=False)
class ToolRegistry:
    """Changes the tools in the database; the snapshot is refreshed before a method returns."""

    database: Database
    snapshot: Snapshot
    vault: Vault
    reachable: Callable[[str], None]
    """Raises EgressRefused for a URL that the address policy never allows."""
    rules: RegistrationPolicy

    async def create(self, spec: ToolCreate, caller: Caller, *, dry_run: bool = False) -> Tool:
        """Create a tool that is owned by the caller, and return it; it can be called at once. A dry run only checks."""
        refuse_agents(caller)
        tool = self.make_tool(spec, caller)
        if dry_run:
            async with self.database.read() as conn:
                await self._claim_names(conn, tool)
            return tool
        async with self.database.change() as change:
            await self._claim_names(change.conn, tool)
            await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by=caller.user_id)
        await self.snapshot.refresh()
        self.snapshot.warm(tool.id)
        return tool

    async def update(self, ref: str, patch: Mapping[str, Any], caller: Caller, *, dry_run: bool = False) -> Tool:
        """Update the tool and return it: absent fields and masked values stay, null clears. A dry run only checks.

        Raises Conflict if `version` is given and is not the current one.
        """
        refuse_agents(caller)
        seen = await self.get_owned(ref, caller)
        # Before the transaction begins, so that it does not block other writes: checking code and schemas is slow.
        changed = self._apply_patch(seen, patch, caller)
        if dry_run:
            if changed.name.lower() != seen.name.lower():
                async with self.database.read() as conn:
                    await self._claim_names(conn, changed)
            return changed
        async with self.database.change() as change:
            tool = await self._own(change.conn, ref, caller)
            if tool != seen:
                changed = self._apply_patch(tool, patch, caller)
            if changed.name.lower() != tool.name.lower():
                await self._claim_names(change.conn, changed)
            if changed is not tool:
                await tool_rows.save_tool(change.conn, changed, revision=change.revision, by=caller.user_id)
        await self.snapshot.refresh()
        self.snapshot.warm(changed.id)
        return changed

    async def delete(self, ref: str, caller: Caller) -> Tool:
        """Mark the tool as deleted and return it; its name becomes free, and the tool can be restored."""
        refuse_agents(caller)
        async with self.database.change() as change:
            tool = await self.mark_deleted(change, await self._own(change.conn, ref, caller), caller)
        await self.snapshot.refresh()
        return tool

    async def restore(self, ref: str, caller: Caller) -> Tool:
        """Restore the deleted tool of that id or name, under its old name.

        Raises NotFound if there is none, and Conflict if several deleted tools have this name or the name is taken.
        """
        refuse_agents(caller)
        async with self.database.change() as change:
            by_id = await tool_rows.get_tool(change.conn, ref.lower()) if is_uuid(ref) else None
            found = [by_id] if by_id is not None else await tool_rows.find_deleted_by_name(change.conn, ref)
            found = [tool for tool in found if _can_manage(tool, caller)]
            if not found:
                raise NotFound(f"No deleted tool has the name or id '{ref}'")
            if len(found) > 1:
                ids = ", ".join(f"{tool.id} (deleted {tool.deleted_at:%Y-%m-%d %H:%M:%S})" for tool in found[:10])
                raise Conflict(f"{len(found)} deleted tools were named '{ref}'; restore one by its id: {ids}")
            tool = found[0]
            if tool.is_deleted:
                self.rules.check_registration(tool, caller)
                await self._claim_names(change.conn, tool)
                now = datetime.now(UTC)
                tool = replace(tool, is_deleted=False, deleted_at=None, updated_at=now)
                await tool_rows.save_tool(change.conn, tool, revision=change.revision, by=caller.user_id)
        await self.snapshot.refresh()
        return tool

    async def get(self, ref: str, caller: Caller) -> Tool:
        """Return the tool of that name, alias or id; raise NotFound if there is none or the caller may not see it."""
        compiled = self.snapshot.find(ref)
        if compiled is None or not self.snapshot.may_call(compiled.tool, caller):
            raise NotFound(f"Tool '{ref}' not found")
        return compiled.tool

    async def page(
        self, wanted: ToolFilter, caller: Caller, *, cursor: str | None, limit: int, sort: ToolSort = "name"
    ) -> Page[Tool]:
        """Return one page of the matching tools that this caller may see; deleted ones only to their owner."""
        wanted = _limit_to_visible(wanted, caller)
        if sort == "updated_at":
            return await self._latest_page(wanted, caller, cursor, limit)
        place = read_cursor(cursor, read_name, read_id)
        after = (place[0], place[1]) if place else None
        stored = []
        if not _is_in_memory(wanted, caller):
            async with self.database.read() as conn:
                stored = await tool_rows.list_tools(conn, wanted, after=after, limit=limit + 1)
        beside = self._list_beside(wanted, caller)
        unstored = sorted((tool for tool in beside if not after or get_sort_key(tool) > after), key=get_sort_key)
        found = list(heapq.merge(stored, unstored, key=get_sort_key))
        return cut_page(found, limit, get_sort_key)

    async def _latest_page(self, wanted: ToolFilter, caller: Caller, cursor: str | None, limit: int) -> Page[Tool]:
        """Return one page, last updated first."""
        # The first part is in no cursor of another order.
        place: list[Any] | None = read_cursor(cursor, _read_latest_mark, read_moment, read_id)
        after = (place[1], place[2]) if place else None
        stored = []
        if not _is_in_memory(wanted, caller):
            async with self.database.read() as conn:
                stored = await tool_rows.list_latest_tools(conn, wanted, after=after, limit=limit + 1)
        beside = (tool for tool in self._list_beside(wanted, caller) if after is None or get_latest_key(tool) < after)
        unstored = sorted(beside, key=get_latest_key, reverse=True)
        found = list(heapq.merge(stored, unstored, key=get_latest_key, reverse=True))
        return cut_page(found, limit, lambda tool: [_LATEST_MARK, tool.updated_at.isoformat(), tool.id])

    async def count(self, wanted: ToolFilter, caller: Caller) -> int:
        """Return the number of matching tools that this caller may see."""
        wanted = _limit_to_visible(wanted, caller)
        beside = len(self._list_beside(wanted, caller))
        if _is_in_memory(wanted, caller):
            return beside
        async with self.database.read() as conn:
            return beside + await tool_rows.count_tools(conn, wanted)

    def _list_beside(self, wanted: ToolFilter, caller: Caller) -> list[Tool]:
        """Return the matching tools that are not read from the database, in no order."""
        if wanted.among is not None:
            beside = [item.tool for item in map(self.snapshot.find_by_id, wanted.among) if item is not None]
        elif caller.agent_id is not None:
            beside = [item.tool for item in self.snapshot.iterate_tools()]
        else:
            beside = self.snapshot.local()
        if caller.agent_id is not None:
            beside = [tool for tool in beside if self.snapshot.may_call(tool, caller)]
        return [tool for tool in beside if matches_filter(tool, wanted)]

    async def versions(self, ref: str, caller: Caller, *, cursor: str | None, limit: int) -> Page[StoredToolVersion]:
        """Return one page of the earlier versions of the tool, newest first, for its owner and admins."""
        refuse_agents(caller)
        async with self.database.read() as conn:
            tool = await self._own(conn, ref, caller, deleted=True)
            place = read_cursor(cursor, read_version)
            found = await tool_rows.list_versions(conn, tool.id, before=place[0] if place else None, limit=limit + 1)
        return cut_page(found, limit, lambda stored: [str(stored.version)])

    def make_tool(self, spec: ToolCreate, caller: Caller, *, is_sound: bool = False) -> Tool:
        """Return the new tool that the definition describes, sealed; `is_sound` skips the check of its schemas."""
        now = datetime.now(UTC)
        fresh = make_empty_tool(new_id(), caller.user_id, now)
        tool = build_tool(spec, self.vault, caller, fresh, now, is_sound=is_sound, rules=self.rules)
        self._check_reachable(tool)
        return self.bind_names(tool)

    def bind_names(self, tool: Tool, beside: Mapping[str, Tool] | None = None) -> Tool:
        """Return the tool with each tool name in it bound to the id of the current tool of that name.

        A name alone would refer to another tool after its tool was renamed or deleted and another user took the name.
        `beside` are tools that are saved together with it. A name that was bound before is bound again only to a tool
        of the owner or of an admin; otherwise the old binding stays.
        """
        bound: dict[str, str] = {}
        owner = Caller(tool.owner_id, "")
        for name in _list_tool_names(tool):
            compiled = self.snapshot.find(name)
            named = (beside or {}).get(name) or (compiled.tool if compiled is not None else None)
            before = tool.bound_tools.get(name)
            if named is not None and not self.snapshot.may_call(named, owner):
                named = None
            if named is not None and (before is None or self.snapshot.is_trusted_by(tool.owner_id, named)):
                bound[name] = named.id
            elif before is not None:
                bound[name] = before
        return tool if bound == tool.bound_tools else replace(tool, bound_tools=bound)

    def build_version(self, tool: Tool, spec: ToolCreate, caller: Caller, *, is_sound: bool = False) -> Tool:
        """Return the next version of the tool as defined, or the same object if nothing changes."""
        changed = self.bind_names(
            build_tool(spec, self.vault, caller, tool, datetime.now(UTC), is_sound=is_sound, rules=self.rules)
        )
        if self.has_same_definition(tool, changed) and changed.bound_tools == tool.bound_tools:
            return tool
        if tool.id in SHIPPED_IDS and not self.has_same_definition(
            tool, replace(changed, **{f: getattr(tool, f) for f in _EDITABLE_SHIPPED_FIELDS})
        ):
            raise Forbidden(
                f"'{tool.name}' is shipped with the board; only "
                f"{', '.join(sorted(_EDITABLE_SHIPPED_FIELDS))} can be changed on it. "
                "Register a tool of another name on the same operation instead"
            )
        if (changed.tool_type, changed.config) != (tool.tool_type, tool.config):
            self._check_reachable(changed)
        # A caller who pins another definition of the upstream has accepted it.
        drifted = tool.drifted and changed.config.get("pinned") == tool.config.get("pinned")
        return replace(changed, version=tool.version + 1, drifted=drifted)

    async def flag(self, drifted: Iterable[Tool], others: Iterable[Tool] = ()) -> None:
        """Set or clear the drift flag of these tools, unless their version has changed since they were read."""
        wanted = {**{tool.id: (tool, True) for tool in drifted}, **{tool.id: (tool, False) for tool in others}}
        async with self.database.change() as change:
            for now in await tool_rows.list_tools_by_id(change.conn, list(wanted)):
                tool, is_drifted = wanted[now.id]
                if now.version == tool.version and now.drifted != is_drifted:
                    flagged = replace(now, drifted=is_drifted)
                    await tool_rows.save_tool(change.conn, flagged, revision=change.revision, by=now.owner_id)
        await self.snapshot.refresh()

    async def accept(self, tool: Tool, patch: Mapping[str, Any], caller: Caller) -> Tool:
        """Replace the definition by the upstream's and clear the drift flag; raise Conflict if the tool has changed."""
        async with self.database.change() as change:
            now = await self._own(change.conn, tool.id, caller)
            if now.version != tool.version:
                raise Conflict(f"Tool '{tool.name}' was changed in the meantime; review it and accept it again")
            changed = self.build_version(now, read_definition({**write_definition(now), **patch}), caller)
            changed = replace(changed, drifted=False)
            await tool_rows.save_tool(change.conn, changed, revision=change.revision, by=caller.user_id)
        await self.snapshot.refresh()
        return changed

    async def get_owned(self, ref: str, caller: Caller) -> Tool:
        """Return the tool of that name or id; raise NotFound or Forbidden if this caller may not change it."""
        refuse_agents(caller)
        async with self.database.read() as conn:
            return await self._own(conn, ref, caller)

    def find_owner(self, user_id: str) -> Caller | None:
        """Return a user as the caller of changes in its name, with its present role, or None if it was removed."""
        user = self.snapshot.user(user_id)
        return None if user is None else Caller(user.id, user.name, user.role)

    def _apply_patch(self, tool: Tool, patch: Mapping[str, Any], caller: Caller) -> Tool:
        expected = patch.get("version")
        if expected is not None and expected != tool.version:
            raise Conflict(f"Tool '{tool.name}' is now at version {tool.version}, not {expected}; read it again")
        wanted = {**write_definition(tool), **_derive_schema_again(tool, patch), **_replace_nulls(patch)}
        spec = read_definition(wanted, kept_kind=tool.tool_type)
        return self.build_version(tool, spec, caller)

    def _check_reachable(self, tool: Tool) -> None:
        for key in find_kind(tool.tool_type).url_fields:
            if tool.config.get(key) is not None:
                try:
                    self.reachable(tool.config[key])
                except EgressRefused as error:
                    fault = Fault(f"config.{key}", error.message)
                    raise Invalid.of(f"The definition of '{tool.name}' is not valid", [fault]) from None

    async def mark_deleted(self, change: Change, tool: Tool, caller: Caller) -> Tool:
        """Mark the tool as deleted in this transaction and return it."""
        now = datetime.now(UTC)
        gone = replace(tool, is_deleted=True, deleted_at=now, updated_at=now)
        await tool_rows.save_tool(change.conn, gone, revision=change.revision, by=caller.user_id)
        return gone

    def has_same_definition(self, one: Tool, other: Tool) -> bool:
        """Return True if two tools have the same definition, with secrets compared in plain text."""
        plain = [name for name in ToolCreate.model_fields if name not in ("config", "auth_config")]
        if any(getattr(one, name) != getattr(other, name) for name in plain):
            return False
        return are_equal_unsealed(one.config, one.sealed_auth, other.config, other.sealed_auth, self.vault, one.id)

    async def _own(self, conn: AsyncConnection, ref: str, caller: Caller, *, deleted: bool = False) -> Tool:
        tool = await (tool_rows.get_tool(conn, ref.lower()) if is_uuid(ref) else tool_rows.find_tool_by_name(conn, ref))
        if tool is not None and tool.is_deleted and not (deleted and _can_manage(tool, caller)):
            tool = None
        if tool is None or not (tool.is_public or _can_manage(tool, caller)):
            local = self.snapshot.find(ref)
            if local is not None and local.tool.id in {tool.id for tool in self.snapshot.local()}:
                raise Forbidden(f"Tool '{ref}' {local.kind.local_origin}")
            raise NotFound(f"Tool '{ref}' not found")
        if not _can_manage(tool, caller):
            raise Forbidden(f"Tool '{tool.name}' belongs to another user")
        return tool

    async def find_taken_names(self, conn: AsyncConnection, wanting: Mapping[str, str]) -> list[str]:
        """Return the taken names and aliases, in lower case; `wanting` has the id of the tool for each name."""
        wanted: dict[str, str] = {}
        taken = [
            each
            for name, own in wanting.items()
            for each in list_lookup_names(name)
            if wanted.setdefault(each, own) != own
        ]
        holders = await tool_rows.find_tools_by_name(conn, list(wanted))
        local = {name for tool in self.snapshot.local() for name in list_lookup_names(tool.name)}
        odd: dict[str, set[str]] = {}
        if any(_ALIAS_SHAPE.fullmatch(name) for name in wanted):
            for tool_id, name in await tool_rows.list_nonportable_names(conn):
                odd.setdefault((make_alias(name) or "").lower(), set()).add(tool_id)
        return taken + [
            name
            for name, tool_id in wanted.items()
            if name in local or {*odd.get(name, ()), *({holders[name].id} if name in holders else ())} - {tool_id}
        ]

    async def _claim_names(self, conn: AsyncConnection, tool: Tool) -> None:
        for name in await self.find_taken_names(conn, {tool.name: tool.id}):
            shown = tool.name if name == tool.name.lower() else name
            raise Conflict(f"A tool named '{shown}' exists already; names are unique without regard to case")


def _can_manage(tool: Tool, caller: Caller) -> bool:
    return caller.is_admin or tool.owner_id == caller.user_id


def _derive_schema_again(tool: Tool, patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that derives the schema again if it was derived from the config and the config changes."""
    derive = find_kind(tool.tool_type).derive_schema
    if derive is None or patch.get("config") is None or "tool_type" in patch:
        return {}
    return {"input_schema": None} if derive(tool.config) == tool.input_schema else {}


def _replace_nulls(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch with each null replaced by the default of its field, if the field has one."""
    defaults = {name: field.get_default() for name, field in ToolCreate.model_fields.items() if not field.is_required()}
    return {name: defaults.get(name) if value is None else value for name, value in patch.items() if name != "version"}


def _list_tool_names(tool: Tool) -> Iterator[str]:
    """Return the names of other tools in a definition, in lower case."""
    for name in find_kind(tool.tool_type).list_tool_names(tool.config):
        yield name.lower()
    if tool.fallback is not None and tool.fallback.tool:
        yield tool.fallback.tool.lower()
