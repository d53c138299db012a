"""The ways to take tools on from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.imports.mcp import McpImport
from pegboard.imports.openapi import OpenApiImport


@dataclass(frozen=True, slots=True)
class Imports:
    """`await board.imports.openapi(caller, …)` and `await board.imports.mcp(caller, …)`."""

    openapi: OpenApiImport
    mcp: McpImport
