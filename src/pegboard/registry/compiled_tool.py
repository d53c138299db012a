"""A tool in memory with its validators, its executor and its limits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.read_arguments import ArgumentChecker
from pegboard.kinds.base import Prepared
from pegboard.kinds.kind_configs import get_default_timeout
from pegboard.kinds.table.arguments import TableArgumentChecker
from pegboard.model.call_errors import ToolError
from pegboard.model.chain import CHAIN_HANDLER, get_chain_timeout
from pegboard.model.tool import Kind, Retry, Tool

# The default retry of a tool that is safe to run again: up to three more attempts.
SAFE_RETRY = Retry(max_attempts=4)
NO_RETRY = Retry(max_attempts=1)


class CompiledTool:
    """A tool with everything that a call needs; each part is compiled on first use and cached."""

    __slots__ = ("_arguments", "_output", "_prepare", "_prepared", "attempt_timeout", "retry", "timeout", "tool")

    def __init__(self, tool: Tool, prepare: Callable[[Tool], Prepared]) -> None:
        self.tool = tool
        self.retry = tool.retry or (SAFE_RETRY if tool.read_only or tool.idempotent else NO_RETRY)
        one: float | None = tool.config.get("timeout") or get_chain_timeout(tool.config.get(CHAIN_HANDLER))
        tries = self.retry.max_attempts if "timeout" in self.retry.on else 1
        self.timeout: float = tool.timeout or (one * tries if one else get_default_timeout(tool.tool_type))
        # If a timeout is retried, one attempt may not use the whole time.
        self.attempt_timeout: float = one or self.timeout / tries
        self._prepare = prepare
        self._prepared: Prepared | None = None
        self._arguments: ArgumentChecker | TableArgumentChecker | None = None
        self._output: BoundedValidator | None = None

    @property
    def arguments(self) -> ArgumentChecker | TableArgumentChecker:
        """The checker of the arguments."""
        if self._arguments is None and self.tool.tool_type is Kind.TABLE:
            self._arguments = TableArgumentChecker(self.tool)
        elif self._arguments is None:
            presets = self.tool.config.get("parameters") if self.tool.tool_type is Kind.BUILTIN else None
            self._arguments = ArgumentChecker(
                self.tool.input_schema, unknown=self.tool.unknown_parameters, presets=presets or None
            )
        return self._arguments

    @property
    def output(self) -> BoundedValidator:
        """The validator of the output; used only if the tool has an output schema."""
        if self._output is None:
            self._output = BoundedValidator(self.tool.output_schema or {})
        return self._output

    @property
    def prepared(self) -> Prepared:
        """The executor's prepared form of the tool; raises ToolError if the tool cannot be prepared."""
        if self._prepared is None:
            self._prepared = self._prepare(self.tool)
        return self._prepared

    @property
    def writes_receipts(self) -> bool:
        """True if the tool writes a receipt of its effect to the board's own database."""
        try:
            return self.prepared.receipts
        except ToolError:
            return False  # it cannot run, and a call reports why

    def warm(self) -> None:
        """Start preparing the tool for its first call; errors are ignored here and reported by the call."""
        with suppress(ToolError):
            if (warm := self.prepared.warm) is not None:
                warm()

    def forget(self) -> None:
        """Discard the prepared form, because a dependency of it has changed; the next call prepares it again."""
        self._prepared = None
