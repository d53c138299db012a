"""The tools on the board: added, changed, listed, taken down and put back."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Caller
from pegboard.core.definitions import ToolCreate
from pegboard.core.errors import EgressRefused
from pegboard.core.ids import new_id
from pegboard.core.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from pegboard.core.tool import Kind, Tool, alias_of
from pegboard.registry.bindings import bind
from pegboard.registry.confined import STRICT, CodeRules
from pegboard.registry.definition import bare, build, definition_of, read_definition
from pegboard.registry.listing import fits, order
from pegboard.registry.pages import Page, a_name, a_version, an_id, cut, read_cursor
from pegboard.registry.python_tools import following
from pegboard.registry.sealing import equal_when_opened
from pegboard.registry.shipped import SHIPPED_IDS
from pegboard.registry.snapshot import Snapshot, names_of
from pegboard.store import tools
from pegboard.store.database import Change, Database
from pegboard.store.tools import ToolFilter, ToolVersion
from pegboard.store.types import is_uuid
from pegboard.store.vault import Vault

_LIKE_ALIAS = re.compile(r".{1,55}_[0-9a-f]{8}", re.IGNORECASE)
# What may be changed on a tool that is shipped with the board.
_ADJUSTABLE = {
    "is_active",
    "is_public",
    "rate_limit",
    "tags",
    "timeout",
    "keep_arguments",
    "keep_result",
    "max_result_bytes",
}


class Registry:
    """Changes the tools in the store; the snapshot follows before the change is answered."""

    def __init__(
        self,
        database: Database,
        snapshot: Snapshot,
        vault: Vault,
        reachable: Callable[[str], None] | None = None,
        rules: CodeRules = STRICT,
    ) -> None:
        self._database = database
        self._snapshot = snapshot
        self._vault = vault
        # Raises EgressRefused for a URL that no call could ever reach.
        self._reachable = reachable or (lambda _url: None)
        self._rules = rules

    async def create(self, spec: ToolCreate, caller: Caller) -> Tool:
        """The new tool, owned by the caller and callable at once."""
        refuse_agents(caller)
        tool = self.made(spec, caller)
        async with self._database.change() as change:
            await self._claim_names(change.conn, tool)
            await tools.add(change.conn, tool, revision=change.revision, by=caller.user_id)
        await self._snapshot.refresh()
        self._snapshot.warm(tool.id)
        return tool

    async def update(self, ref: str, patch: Mapping[str, Any], caller: Caller) -> Tool:
        """The changed tool: absent keeps, null clears, a masked value keeps; a stale `version` is refused."""
        refuse_agents(caller)
        seen = await self.owned(ref, caller)
        # Before the change begins, so that others write meanwhile: reading code and schemas takes its time.
        changed = self._patched(seen, patch, caller)
        async with self._database.change() as change:
            tool = await self._own(change.conn, ref, caller)
            if tool != seen:
                changed = self._patched(tool, patch, caller)
            if changed.name.lower() != tool.name.lower():
                await self._claim_names(change.conn, changed)
            if changed is not tool:
                await tools.save(change.conn, changed, revision=change.revision, by=caller.user_id)
        await self._snapshot.refresh()
        self._snapshot.warm(changed.id)
        return changed

    async def delete(self, ref: str, caller: Caller) -> Tool:
        """The tool, taken down; its name is free again and it can be restored."""
        refuse_agents(caller)
        async with self._database.change() as change:
            tool = await self.take_down(change, await self._own(change.conn, ref, caller), caller)
        await self._snapshot.refresh()
        return tool

    async def restore(self, ref: str, caller: Caller) -> Tool:
        """The deleted tool of that id or name, back on the board under its old name."""
        refuse_agents(caller)
        async with self._database.change() as change:
            by_id = await tools.get(change.conn, ref.lower()) if is_uuid(ref) else None
            found = [by_id] if by_id is not None else await tools.deleted_named(change.conn, ref)
            found = [tool for tool in found if _manages(tool, caller)]
            if not found:
                raise NotFound(f"No deleted tool has the name or id '{ref}'")
            if len(found) > 1:
                ids = ", ".join(f"{tool.id} (deleted {tool.deleted_at:%Y-%m-%d %H:%M:%S})" for tool in found[:10])
                raise Conflict(f"{len(found)} deleted tools were named '{ref}'; restore one by its id: {ids}")
            tool = found[0]
            if tool.is_deleted:
                self._rules.refuse(tool, caller)
                await self._claim_names(change.conn, tool)
                now = datetime.now(UTC)
                tool = replace(tool, is_deleted=False, deleted_at=None, updated_at=now)
                await tools.save(change.conn, tool, revision=change.revision, by=caller.user_id)
        await self._snapshot.refresh()
        return tool

    async def get(self, ref: str, caller: Caller) -> Tool:
        """The tool of that name, alias or id, if this caller may see it."""
        peg = self._snapshot.find(ref)
        if peg is None or not self._snapshot.may_call(peg.tool, caller):
            raise NotFound(f"Tool '{ref}' not found")
        return peg.tool

    async def page(self, wanted: ToolFilter, caller: Caller, *, cursor: str | None, limit: int) -> Page[Tool]:
        """The tools this caller may see that fit the filter, by name; deleted ones only to their owner."""
        if not caller.is_admin and caller.agent_id is None:
            wanted = replace(wanted, visible_to=caller.user_id)
            if wanted.deleted:
                wanted = replace(wanted, owner_id=caller.user_id)
        place = read_cursor(cursor, a_name, an_id)
        after = (place[0], place[1]) if place else None
        if caller.agent_id is None:
            async with self._database.read() as conn:
                stored = await tools.page(conn, wanted, after=after, limit=limit + 1)
            beside = self._snapshot.local()
        else:
            # An agent's tools are few and scattered among all: they are picked out in memory.
            stored = []
            beside = [peg.tool for peg in self._snapshot.pegs() if self._snapshot.may_call(peg.tool, caller)]
        unstored = sorted(
            (tool for tool in beside if fits(tool, wanted) and (not after or order(tool) > after)), key=order
        )
        found = list(heapq.merge(stored, unstored, key=order))
        return cut(found, limit, list(order(found[min(limit, len(found)) - 1])) if found else None)

    async def versions(self, ref: str, caller: Caller, *, cursor: str | None, limit: int) -> Page[ToolVersion]:
        """What the tool was before, newest first; to its owner and admins."""
        refuse_agents(caller)
        async with self._database.read() as conn:
            tool = await self._own(conn, ref, caller, deleted=True)
            place = read_cursor(cursor, a_version)
            found = await tools.versions(conn, tool.id, before=place[0] if place else None, limit=limit + 1)
        return cut(found, limit, [str(found[min(limit, len(found)) - 1].version)] if found else None)

    def made(self, spec: ToolCreate, caller: Caller, *, is_sound: bool = False) -> Tool:
        """The new tool that the definition describes, sealed and, unless its schemas are known to be sound, checked."""
        now = datetime.now(UTC)
        fresh = bare(new_id(), caller.user_id, now)
        return self.bound(
            self._within_reach(build(spec, self._vault, caller, fresh, now, is_sound=is_sound, rules=self._rules))
        )

    def bound(self, tool: Tool, beside: Mapping[str, Tool] | None = None) -> Tool:
        """The tool with the names of other tools in it bound to their ids; `beside` are tools saved with it."""
        return bind(tool, self._snapshot, beside)

    def changed(self, tool: Tool, spec: ToolCreate, caller: Caller, *, is_sound: bool = False) -> Tool:
        """The tool in its next version, as the definition says; the very same tool where it is so already."""
        changed = self.bound(
            build(spec, self._vault, caller, tool, datetime.now(UTC), is_sound=is_sound, rules=self._rules)
        )
        if self.same(tool, changed) and changed.bound_tools == tool.bound_tools:
            return tool
        if tool.id in SHIPPED_IDS and not self.same(
            tool, replace(changed, **{f: getattr(tool, f) for f in _ADJUSTABLE})
        ):
            raise Forbidden(
                f"'{tool.name}' is shipped with the board; only {', '.join(sorted(_ADJUSTABLE))} can be changed on it. "
                "Register a tool of another name on the same operation instead"
            )
        if changed.config != tool.config:
            self._within_reach(changed)
        # Whoever pins another definition of the upstream's has accepted it.
        drifted = tool.drifted and changed.config.get("pinned") == tool.config.get("pinned")
        return replace(changed, version=tool.version + 1, drifted=drifted)

    async def flag(self, drifted: Iterable[Tool], others: Iterable[Tool] = ()) -> None:
        """Flag tools whose upstream has changed them, and the others no longer, unless their owners did meanwhile."""
        wanted = {**{tool.id: (tool, True) for tool in drifted}, **{tool.id: (tool, False) for tool in others}}
        async with self._database.change() as change:
            for now in await tools.all_with_ids(change.conn, list(wanted)):
                tool, is_drifted = wanted[now.id]
                if now.version == tool.version and now.drifted != is_drifted:
                    flagged = replace(now, drifted=is_drifted)
                    await tools.save(change.conn, flagged, revision=change.revision, by=now.owner_id)
        await self._snapshot.refresh()

    async def accept(self, tool: Tool, patch: Mapping[str, Any], caller: Caller) -> Tool:
        """The tool with the upstream's definition as its own, and its flag taken off."""
        async with self._database.change() as change:
            now = await self._own(change.conn, tool.id, caller)
            if now.version != tool.version:
                raise Conflict(f"Tool '{tool.name}' was changed meanwhile; look at it and accept again")
            changed = self.changed(now, read_definition({**definition_of(now), **patch}), caller)
            changed = replace(changed, drifted=False)
            await tools.save(change.conn, changed, revision=change.revision, by=caller.user_id)
        await self._snapshot.refresh()
        return changed

    async def owned(self, ref: str, caller: Caller) -> Tool:
        """The tool of that name or id, if this caller may change it."""
        refuse_agents(caller)
        async with self._database.read() as conn:
            return await self._own(conn, ref, caller)

    def _patched(self, tool: Tool, patch: Mapping[str, Any], caller: Caller) -> Tool:
        expected = patch.get("version")
        if expected is not None and expected != tool.version:
            raise Conflict(f"Tool '{tool.name}' is at version {tool.version} by now, not {expected}; read it again")
        spec = read_definition({**definition_of(tool), **following(tool, patch), **_cleared(patch)})
        return self.changed(tool, spec, caller)

    def _within_reach(self, tool: Tool) -> Tool:
        for key in ("url", "server_url"):
            if tool.config.get(key) is not None:
                try:
                    self._reachable(tool.config[key])
                except EgressRefused as error:
                    fault = Fault(f"config.{key}", error.message)
                    raise Invalid.of(f"The definition of '{tool.name}' is not valid", [fault]) from None
        return tool

    async def take_down(self, change: Change, tool: Tool, caller: Caller) -> Tool:
        """The tool marked deleted within this change."""
        now = datetime.now(UTC)
        gone = replace(tool, is_deleted=True, deleted_at=now, updated_at=now)
        await tools.save(change.conn, gone, revision=change.revision, by=caller.user_id)
        return gone

    def same(self, one: Tool, other: Tool) -> bool:
        """Whether two tools are defined alike, their secrets compared as plain text."""
        plain = [name for name in ToolCreate.model_fields if name not in ("config", "auth_config")]
        if any(getattr(one, name) != getattr(other, name) for name in plain):
            return False
        return equal_when_opened(one.config, one.sealed_auth, other.config, other.sealed_auth, self._vault, one.id)

    async def _own(self, conn: AsyncConnection, ref: str, caller: Caller, *, deleted: bool = False) -> Tool:
        tool = await (tools.get(conn, ref.lower()) if is_uuid(ref) else tools.named(conn, ref))
        if tool is not None and tool.is_deleted and not (deleted and _manages(tool, caller)):
            tool = None
        if tool is None or not (tool.is_public or _manages(tool, caller)):
            local = self._snapshot.find(ref)
            if local is not None and local.tool.id in {tool.id for tool in self._snapshot.local()}:
                if local.tool.tool_type is Kind.TABLE:
                    raise Forbidden(f"Tool '{ref}' comes from the file of tables (PEGBOARD_TABLES); change it there")
                raise Forbidden(f"Tool '{ref}' lives in the code of the process that runs the board")
            raise NotFound(f"Tool '{ref}' not found")
        if not _manages(tool, caller):
            raise Forbidden(f"Tool '{tool.name}' belongs to somebody else")
        return tool

    async def taken(self, conn: AsyncConnection, wanting: Mapping[str, str]) -> list[str]:
        """Of these names and their aliases those, in lower case, that tools of other ids than given have already."""
        wanted: dict[str, str] = {}
        taken = [
            each for name, own in wanting.items() for each in names_of(name) if wanted.setdefault(each, own) != own
        ]
        holders = await tools.all_named(conn, list(wanted))
        local = {name for tool in self._snapshot.local() for name in names_of(tool.name)}
        odd: dict[str, set[str]] = {}
        if any(_LIKE_ALIAS.fullmatch(name) for name in wanted):
            for tool_id, name in await tools.oddly_named(conn):
                odd.setdefault((alias_of(name) or "").lower(), set()).add(tool_id)
        return taken + [
            name
            for name, tool_id in wanted.items()
            if name in local or {*odd.get(name, ()), *({holders[name].id} if name in holders else ())} - {tool_id}
        ]

    async def _claim_names(self, conn: AsyncConnection, tool: Tool) -> None:
        for name in await self.taken(conn, {tool.name: tool.id}):
            shown = tool.name if name == tool.name.lower() else name
            raise Conflict(f"A tool named '{shown}' exists already; names are unique without regard to case")


def refuse_agents(caller: Caller) -> None:
    """Keys that are bound to an agent call tools; they change nothing else."""
    if caller.agent_id is not None:
        raise Forbidden("This key is bound to an agent and can only call its tools")


def admins_only(caller: Caller, what: str) -> None:
    """Raise Forbidden unless the caller is an admin, with a key that is bound to no agent."""
    refuse_agents(caller)
    if not caller.is_admin:
        raise Forbidden(f"Only admins may {what}")


def _manages(tool: Tool, caller: Caller) -> bool:
    return caller.is_admin or tool.owner_id == caller.user_id


def _cleared(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Null clears: the field's own default takes its place, where it has one."""
    defaults = {name: field.get_default() for name, field in ToolCreate.model_fields.items() if not field.is_required()}
    return {name: defaults.get(name) if value is None else value for name, value in patch.items() if name != "version"}
