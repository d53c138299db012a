"""Builtin tools: operations shipped with the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.builtins.base import Builtin
from pegboard.core.call import ReadyCall
from pegboard.core.configs import BuiltinConfig
from pegboard.core.errors import HandlerNotFound
from pegboard.executors.base import OpenTool, Prepared


class BuiltinExecutor:
    """Runs the operation that the tool names."""

    def __init__(self, builtins: Mapping[str, Builtin]) -> None:
        self._builtins = builtins

    def prepare(self, tool: OpenTool) -> Prepared:
        """The operation, looked up once."""
        name = BuiltinConfig.model_validate(tool.config).operation
        builtin = self._builtins.get(name)
        if builtin is None:
            raise HandlerNotFound(f"Builtin handler '{name}' not found")
        operation = builtin.run

        async def run(call: ReadyCall) -> Any:
            return operation(call.arguments)

        return Prepared(run, instant=True)

    async def close(self) -> None:
        """Nothing is held."""
