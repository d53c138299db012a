"""Executor of builtin tools: operations shipped with Pegboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.kinds.base import OpenTool, Prepared
from pegboard.kinds.builtin.base import Builtin
from pegboard.kinds.builtin.config import BuiltinConfig
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import HandlerNotFound


class BuiltinExecutor:
    """Runs the operation that the tool names."""

    def __init__(self, builtins: Mapping[str, Builtin]) -> None:
        self._builtins = builtins

    def prepare(self, tool: OpenTool) -> Prepared:
        """Look up the operation once; raise HandlerNotFound if it does not exist."""
        name = BuiltinConfig.model_validate(tool.config).operation
        builtin = self._builtins.get(name)
        if builtin is None:
            raise HandlerNotFound(f"Builtin handler '{name}' not found")
        operation = builtin.run

        async def run(call: ReadyCall) -> Any:
            return operation(call.arguments)

        return Prepared(run, instant=True)

    async def close(self) -> None:
        """Do nothing: this executor holds no resources."""
