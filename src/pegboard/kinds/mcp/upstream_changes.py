"""Changes of imported servers: marks what they change, adds what they add if their owner wants it, accepts changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pegboard.kinds.import_target import ImportTarget
from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mcp.importer import LIST_SECONDS, ToolSelection, build_import_definitions, convert_to_refusal
from pegboard.kinds.mcp.live_lists import LiveLists, read_live_lists
from pegboard.kinds.mcp.pinned_entries import MAX_NAME_CHARS, EntryComparison, compare_entries
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream, UpstreamTool
from pegboard.kinds.mcp.upstream_store import UpstreamStore
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.api_errors import Conflict
from pegboard.model.call import Caller
from pegboard.model.call_errors import UpstreamUnreachable
from pegboard.model.import_report import EntryChanges, ignore_progress
from pegboard.model.mcp_peer import EntryKind
from pegboard.model.registered_upstream import RegisteredUpstream
from pegboard.model.validation_messages import validate_model
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# A server with more tools has to be imported again for each further one.
MAX_FOLLOWED_TOOLS = 1000
_MAX_LOGGED_NAMES = 20


@dataclass(eq=False)
class UpstreamChanges:
    """Compares the current entries of imported servers with the registered ones, and stores the differences."""

    import_target: ImportTarget
    pool: McpSessionPool
    registered: UpstreamStore
    find: Callable[[str], RegisteredUpstream | None]
    # Returns the user of an id with the rights that it has now, or None if it was removed.
    find_owner: Callable[[str], Caller | None]

    async def observe(self, upstream_id: str, live: LiveLists) -> None:
        """Store which entries have changed or are gone; of a followed server, add its new entries and tools."""
        upstream = self.find(upstream_id)
        if upstream is None:
            return
        owner = self.find_owner(upstream.owner_id)
        is_followed = upstream.follow and owner is not None

        def update(known: RegisteredUpstream) -> RegisteredUpstream:
            found = compare_entries(known.entries, live.entries, is_adding=is_followed and known.follow)
            return known if found.entries == known.entries else replace(known, entries=found.entries)

        if update(upstream) is not upstream:
            after = await self.registered.change(upstream_id, update)
            if after is not None:
                _log_changes(upstream, after)
        if is_followed and owner is not None and live.tools is not None:
            await self._add_tools(upstream, live.tools, owner)

    async def accept(
        self,
        upstream_id: str,
        caller: Caller,
        *,
        entry: str | None = None,
        digest: str | None = None,
        dry_run: bool = False,
    ) -> tuple[RegisteredUpstream, dict[EntryKind, EntryChanges]]:
        """Accept the definitions that a server has now, of all changed entries or of the one of this name or URI.

        With a `digest`, only a definition with this digest is accepted, so that the caller has seen it before. Raise
        Conflict if nothing has changed, no entry of this name, or the entry has another digest.
        """
        upstream = self.registered.get_owned(upstream_id, caller)
        with convert_to_refusal():
            filled = self.registered.open(upstream)
            server = Upstream.of(validate_model(McpConfig, filled.config, ""), filled.auth, upstream.owner_id)
            self.pool.check(server)
            mask = SecretMask(server.secrets | filled.secrets)
            try:
                async with asyncio.timeout(LIST_SECONDS):
                    live = await read_live_lists(self.pool, server, mask)
            except TimeoutError:
                raise UpstreamUnreachable(
                    f"{upstream.name} did not list its entries within {LIST_SECONDS:g} s"
                ) from None
        if live.failure is not None:
            raise UpstreamUnreachable(live.failure.message)
        found = EntryComparison({})

        def update(known: RegisteredUpstream) -> RegisteredUpstream:
            nonlocal found
            found = compare_entries(
                known.entries,
                live.entries,
                is_adding=False,
                accepts=lambda _kind, name, now: entry in (None, name) and digest in (None, now),
            )
            return replace(known, entries=found.entries)

        update(upstream)
        accepted = {
            kind: EntryChanges(
                updated=changes.updated,
                gone=[name for name in changes.gone if digest is None and entry in (None, name)],
                changes={name: changes.changes[name] for name in changes.updated},
                digests={name: changes.digests[name] for name in changes.updated},
            )
            for kind, changes in found.changes.items()
            if changes.updated or (digest is None and any(entry in (None, name) for name in changes.gone))
        }
        if not accepted and digest is not None:
            raise Conflict(f"'{upstream.name}' has changed it again, or accepted it already; look at its changes first")
        if not accepted:
            which = "No prompt, resource or template" if entry is None else f"No entry '{entry[:200]}'"
            raise Conflict(f"{which} of '{upstream.name}' has changed; there is nothing to accept")
        if dry_run:
            return upstream, accepted
        return await self.registered.change(upstream.id, update) or upstream, accepted

    async def _add_tools(self, upstream: RegisteredUpstream, offered: Sequence[UpstreamTool], owner: Caller) -> None:
        wanted = ToolSelection(upstream.include)
        known_names = frozenset(upstream.tools)
        # A longer name could not be registered, and all new names are stored.
        new = [tool for tool in offered if tool.name not in known_names and len(tool.name) <= MAX_NAME_CHARS]
        free = MAX_FOLLOWED_TOOLS - len(upstream.tools)
        if len(new) > free:
            log.warning(
                "mcp_tools_not_followed", upstream=upstream.name, most=MAX_FOLLOWED_TOOLS, left_out=len(new) - free
            )
            new = new[: max(0, free)]
        if not new:
            return
        config, auth = self.registered.unseal(upstream)
        definitions, left_out = build_import_definitions(
            filter(wanted, new), config, auth, name=upstream.name, prefix=upstream.prefix, is_public=upstream.is_public
        )
        report = await self.import_target.import_tools(
            definitions, owner, lambda _tool, _definition: False, dry_run=False, on_progress=ignore_progress
        )
        names = [tool.name for tool in new]
        await self.registered.change(
            upstream.id, lambda known: replace(known, tools=tuple(dict.fromkeys([*known.tools, *names])))
        )
        log.info(
            "mcp_tools_added",
            upstream=upstream.name,
            tools=report.created[:_MAX_LOGGED_NAMES],
            count=len(report.created),
            left_out={each.name: each.reason for each in [*left_out, *report.left_out][:_MAX_LOGGED_NAMES]},
        )


def _log_changes(before: RegisteredUpstream, after: RegisteredUpstream) -> None:
    for kind in {**before.entries, **after.entries}:
        states = {entry.name: entry.state for entry in before.get_entries(kind)}
        new = [entry.name for entry in after.get_entries(kind) if entry.name not in states]
        drifted = [
            entry.name
            for entry in after.get_entries(kind)
            if entry.state == "drifted" and states.get(entry.name) == "active"
        ]
        if new:
            log.info("mcp_entries_added", upstream=after.name, list=kind, names=new[:_MAX_LOGGED_NAMES], count=len(new))
        if drifted:
            names = drifted[:_MAX_LOGGED_NAMES]
            log.warning("mcp_entries_drifted", upstream=after.name, list=kind, names=names, count=len(drifted))
