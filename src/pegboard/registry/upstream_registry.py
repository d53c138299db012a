"""The imported MCP servers of a board: saved by imports, listed, and removed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.kinds.base import InjectedConfig
from pegboard.kinds.mcp.pinned_entries import EntryComparison
from pegboard.kinds.mcp.upstream_store import UpstreamImport
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import NotFound
from pegboard.model.call import Caller
from pegboard.model.ids import new_id
from pegboard.model.page import Page, cut_page, read_id_cursor
from pegboard.model.registered_upstream import RegisteredUpstream, ServerAddress
from pegboard.model.tool import Tool
from pegboard.registry.http_origins import HttpOrigins, list_http_origins
from pegboard.registry.named_secrets import SecretInjector
from pegboard.registry.secret_fields import are_equal_unsealed, seal_auth, seal_config, unseal_auth, unseal_config
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.registry.upstream_description import UpstreamDescription, describe_upstream
from pegboard.storage import tool_rows, upstream_rows
from pegboard.storage.database import Database
from pegboard.storage.vault import Vault


@dataclass(eq=False)
class UpstreamRegistry:
    """Changes the imported servers in the database; the snapshot is refreshed before a method returns."""

    database: Database
    snapshot: Snapshot
    vault: Vault
    opener: SecretInjector
    tools: ToolRegistry
    breakers: CircuitBreakers

    async def page(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[RegisteredUpstream]:
        """Return one page of the caller's servers, or for an admin those of all users, oldest first."""
        refuse_agents(caller)
        after = read_id_cursor(cursor)
        found = self.snapshot.upstreams.list_owned(None if caller.is_admin else caller.user_id)
        rest = [upstream for upstream in found if after is None or upstream.id > after]
        return cut_page(rest[: limit + 1], limit, lambda upstream: [upstream.id])

    def get_owned(self, upstream_id: str, caller: Caller) -> RegisteredUpstream:
        """Return the server of this id; raise NotFound if there is none or this caller may not change it."""
        refuse_agents(caller)
        found = self.snapshot.upstreams.find(upstream_id.lower())
        if found is None or not (caller.is_admin or found.owner_id == caller.user_id):
            raise NotFound(f"Upstream '{upstream_id}' not found")
        return found

    def find(self, address: ServerAddress, owner_id: str) -> RegisteredUpstream | None:
        """Return the owner's server at this address."""
        return next((each for each in self.snapshot.upstreams.list_owned(owner_id) if each.address == address), None)

    def describe(self, upstream: RegisteredUpstream) -> UpstreamDescription:
        """Return the description of a server for the API."""
        return describe_upstream(upstream, self.snapshot, self.breakers)

    async def list_origins(self, caller: Caller) -> HttpOrigins:
        """Return the origins that the caller's HTTP tools call, or for an admin those of all users."""
        refuse_agents(caller)
        owner_id = None if caller.is_admin else caller.user_id
        tools = [each.tool for each in self.snapshot.iterate_tools() if owner_id in (None, each.tool.owner_id)]
        health = self.breakers.read_health(owner_id)
        # In an OS thread, because it reads the URLs of all tools.
        return await asyncio.to_thread(list_http_origins, tools, health)

    def list_tools(self, upstream: RegisteredUpstream) -> list[Tool]:
        """Return the tools that were imported from a server, by name."""
        return [item.tool for item in self.snapshot.upstreams.list_tools(upstream.id)]

    def open(self, upstream: RegisteredUpstream) -> InjectedConfig:
        """Return its config and credentials, decrypted, with secrets filled in; raise SecretUnreadable."""
        return self.opener.open_fields(upstream.owner_id, upstream.id, upstream.config, upstream.sealed_auth)

    def unseal(self, upstream: RegisteredUpstream) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return its config and credentials as its owner wrote them; raise SecretUnreadable."""
        config = unseal_config(upstream.config, self.vault, upstream.id)
        return config, unseal_auth(upstream.sealed_auth, self.vault, upstream.id)

    async def save(self, given: UpstreamImport, caller: Caller) -> tuple[RegisteredUpstream, EntryComparison]:
        """Create or update the caller's server at this address, and return it with the changes of its entries."""
        refuse_agents(caller)
        now = datetime.now(UTC)
        async with self.database.change() as change:
            owned = await upstream_rows.list_owned_upstreams(change.conn, caller.user_id)
            before = next((each for each in owned if each.address == given.address), None)
            found = given.compare(before.entries if before is not None else {})
            after = replace(self._update(before, given, caller, now), entries=found.entries)
            if before is None:
                await upstream_rows.add_upstream(change.conn, after, revision=change.revision)
            elif replace(after, updated_at=before.updated_at) != before:
                await upstream_rows.save_upstream(change.conn, after, revision=change.revision)
        await self.snapshot.refresh()
        return after, found

    async def change(
        self, upstream_id: str, change: Callable[[RegisteredUpstream], RegisteredUpstream]
    ) -> RegisteredUpstream | None:
        """Replace a server by what `change` returns for it; return None if it was removed before."""
        async with self.database.change() as transaction:
            before = await upstream_rows.get_upstream(transaction.conn, upstream_id)
            after = before and change(before)
            if after is not None and after != before:
                after = replace(after, updated_at=datetime.now(UTC))
                await upstream_rows.save_upstream(transaction.conn, after, revision=transaction.revision)
        await self.snapshot.refresh()
        return after

    async def remove(self, upstream_id: str, caller: Caller, *, tools: bool = False) -> RegisteredUpstream:
        """Remove a server with its entries and credentials, and with `tools` also the tools imported from it."""
        known = self.get_owned(upstream_id, caller)
        async with self.database.change() as change:
            upstream = await upstream_rows.get_upstream(change.conn, known.id)
            if upstream is None:
                raise NotFound(f"Upstream '{upstream_id}' not found")
            ids = [tool.id for tool in self.list_tools(upstream)] if tools else []
            for tool in await tool_rows.list_tools_by_id(change.conn, ids):
                if not tool.is_deleted:
                    await self.tools.mark_deleted(change, tool, caller)
            now = datetime.now(UTC)
            gone = replace(
                upstream,
                config={},
                sealed_auth=None,
                entries={},
                follow=False,
                is_deleted=True,
                deleted_at=now,
                updated_at=now,
            )
            await upstream_rows.save_upstream(change.conn, gone, revision=change.revision)
        await self.snapshot.refresh()
        return gone

    def _update(
        self, before: RegisteredUpstream | None, given: UpstreamImport, caller: Caller, now: datetime
    ) -> RegisteredUpstream:
        """Return the server after an import, without its new entries."""
        old = before or RegisteredUpstream(new_id(), caller.user_id, given.name, given.address.prefix, {}, now, now)
        kept = {name: value for name, value in old.config.items() if name not in given.config}
        config = {**kept, **seal_config(given.config, self.vault, old.id)}
        auth = seal_auth(given.auth, self.vault, old.id) if given.auth is not None else old.sealed_auth
        if are_equal_unsealed(config, auth, old.config, old.sealed_auth, self.vault, old.id):
            config, auth = dict(old.config), old.sealed_auth
        return replace(
            old,
            name=given.name,
            config=config,
            sealed_auth=auth,
            include=tuple(given.include),
            is_public=old.is_public if given.is_public is None else given.is_public,
            follow=old.follow if given.follow is None else given.follow,
            tools=tuple(given.tools),
            updated_at=now,
        )
