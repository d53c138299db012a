"""The ways to take tools on from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.executors.reach import Reach
from pegboard.imports.base import Shelf
from pegboard.imports.mcp import McpImport
from pegboard.imports.openapi import OpenApiImport
from pegboard.imports.workshop import Workshop
from pegboard.registry.opening import Opener
from pegboard.registry.registry import Registry
from pegboard.registry.snapshot import Snapshot
from pegboard.store.database import Database


@dataclass(frozen=True, slots=True)
class Imports:
    """`await board.imports.openapi(caller, …)` and `await board.imports.mcp(caller, …)`."""

    openapi: OpenApiImport
    mcp: McpImport
    workshop: Workshop

    @classmethod
    def of(
        cls, registry: Registry, database: Database, snapshot: Snapshot, *, reach: Reach, opener: Opener, max_bytes: int
    ) -> Imports:
        """The importers of one board, which read at most so much of a document."""
        workshop = Workshop()
        shelf = Shelf(registry, database, snapshot, workshop)
        return cls(
            OpenApiImport(shelf, reach.outbound, missing_secrets=opener.missing, max_bytes=max_bytes),
            McpImport(shelf, reach.upstreams, fill_in=opener.fill_in, opened=opener.open),
            workshop,
        )

    def close(self) -> None:
        """Begin nothing more."""
        self.workshop.close()
