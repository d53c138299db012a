"""Functions of this process that hang on the board as tools, or serve stored ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.refusals import Conflict
from pegboard.core.tool import Kind
from pegboard.executors.internal import Handler, InternalExecutor
from pegboard.registry.definition import bare, build, read_definition
from pegboard.registry.functions import function_id, function_tool
from pegboard.registry.snapshot import Snapshot
from pegboard.store.vault import Vault


class Functions:
    """The functions that one process brings to its board."""

    def __init__(self, internal: InternalExecutor, snapshot: Snapshot, vault: Vault, admin: Caller) -> None:
        self._internal = internal
        self._snapshot = snapshot
        self._vault = vault
        self._admin = admin

    def hang(self, function: Callable[..., Any], name: str | None, fields: Mapping[str, Any]) -> None:
        """Make it a tool of the admin's, which is never stored; raises Conflict where a stored one has its name."""
        described = function_tool(function, name)
        taken = self._snapshot.find(described.name)
        if taken is not None and taken.tool not in self._snapshot.local():
            raise Conflict(f"A tool named '{described.name}' is stored on this board already")
        if taken is not None and taken.tool.tool_type is Kind.TABLE:
            raise Conflict(f"A tool named '{described.name}' comes from the file of tables already")
        now = datetime.now(UTC)
        spec = read_definition(
            {
                "name": described.name,
                "description": described.description,
                "tool_type": Kind.INTERNAL,
                "config": {"handler": described.name},
                "input_schema": described.input_schema,
                "output_schema": described.output_schema,
                **fields,
            }
        )
        new = bare(function_id(described.name), self._admin.user_id, now)
        tool = build(spec, self._vault, self._admin, new, now)
        _put(self._internal.functions, tool.id, described.handler)
        self._snapshot.hang(tool)

    def offer(self, name: str, handler: Handler) -> None:
        """Have it serve the stored tools of kind internal that name this handler, in place of the one before."""
        _put(self._internal.handlers, name, handler)
        self._snapshot.forget(lambda tool: tool.tool_type is Kind.INTERNAL and tool.config.get("handler") == name)


def _put(handlers: dict[str, Handler], key: str, handler: Handler) -> None:
    before = handlers.get(key)
    handlers[key] = handler
    if before is not None:
        before.threads.close()
