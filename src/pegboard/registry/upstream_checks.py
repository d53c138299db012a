"""Compares imported MCP servers with what they offer now, on request, and imports them again as they were imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pegboard.kinds.mcp.importer import LIST_SECONDS, McpImport, convert_to_refusal
from pegboard.kinds.mcp.peer import UpstreamPeer
from pegboard.kinds.mcp.upstream_monitor import UpstreamMonitor
from pegboard.model.api_errors import Conflict
from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport, ReportProgress, ignore_progress
from pegboard.registry.upstream_registry import UpstreamRegistry


@dataclass(eq=False)
class UpstreamChecks:
    """`board.imports.checks.check(id, caller)` and `board.imports.checks.repeat(id, caller)`."""

    run_import: McpImport
    registered: UpstreamRegistry
    monitor: UpstreamMonitor
    get_peer: Callable[[str], UpstreamPeer]
    # Returns the user of an id with the rights that it has now, or None if it was removed.
    find_owner: Callable[[str], Caller | None]

    async def check(
        self, upstream_id: str, caller: Caller, *, on_progress: ReportProgress = ignore_progress
    ) -> ImportReport:
        """Return what an import of the server would change, and mark the tools and entries that it has changed.

        Nothing is added or accepted.
        """
        upstream = self.registered.get_owned(upstream_id, caller)
        peer = self.get_peer(upstream.id)
        with convert_to_refusal():
            await self.monitor.expire(peer)
            await self.monitor.refresh(peer, LIST_SECONDS)
        report = await self.repeat(upstream_id, caller, dry_run=True, on_progress=on_progress)
        await self.run_import.flag_drifted(report)
        return report

    async def repeat(
        self, upstream_id: str, caller: Caller, *, dry_run: bool = False, on_progress: ReportProgress = ignore_progress
    ) -> ImportReport:
        """Import the server again for its owner, with the address, credentials and options of the last import."""
        upstream = self.registered.get_owned(upstream_id, caller)
        owner = self.find_owner(upstream.owner_id)
        if owner is None:
            raise Conflict(f"The owner of '{upstream.name}' was removed, so that nothing can be imported for it")
        with convert_to_refusal():
            config, auth = self.registered.unseal(upstream)
        return await self.run_import(
            owner,
            **config,
            name=upstream.name,
            prefix=upstream.prefix,
            include=upstream.include,
            auth_config=auth,
            is_public=upstream.is_public,
            dry_run=dry_run,
            on_progress=on_progress,
        )
