"""The importers of a board: OpenAPI documents and MCP servers."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.http.importer import OpenApiImport
from pegboard.kinds.mcp.importer import McpImport
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.registry.import_runner import ImportRunner, ImportThreads
from pegboard.registry.secret_injection import SecretInjector
from pegboard.registry.tool_registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Imports:
    """`await board.imports.openapi(caller, …)` and `await board.imports.mcp(caller, …)`."""

    openapi: OpenApiImport
    mcp: McpImport
    import_threads: ImportThreads

    @classmethod
    def of(
        cls,
        registry: ToolRegistry,
        *,
        outbound: GuardedClient,
        upstreams: McpSessionPool,
        opener: SecretInjector,
        max_bytes: int,
    ) -> Imports:
        """Create the importers of one board; `max_bytes` limits the size of a document."""
        import_threads = ImportThreads()
        target = ImportRunner(registry, import_threads)
        return cls(
            OpenApiImport(target, outbound, missing_secrets=opener.missing, max_bytes=max_bytes),
            McpImport(target, upstreams, fill_in=opener.fill_in, opened=opener.open),
            import_threads,
        )

    def close(self) -> None:
        """Shut down the import threads; imports that have not started are cancelled."""
        self.import_threads.close()
