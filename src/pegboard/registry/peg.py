"""A tool as it hangs on the board."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pegboard.core.chains import CHAIN, chain_seconds
from pegboard.core.configs import default_timeout
from pegboard.core.errors import ToolError
from pegboard.core.tool import Kind, Retry, Tool
from pegboard.executors.base import Prepared
from pegboard.registry.arguments import Arguments
from pegboard.registry.schemas import BoundedValidator
from pegboard.registry.tables.arguments import TableArguments

# What a tool that may safely run again gets without asking: three more tries when it breaks its contract.
SAFE_RETRY = Retry(max_attempts=4)
NO_RETRY = Retry(max_attempts=1)


class Peg:
    """A tool with everything a call needs, each part compiled on first use and kept."""

    __slots__ = ("_arguments", "_output", "_prepare", "_prepared", "attempt_timeout", "retry", "timeout", "tool")

    def __init__(self, tool: Tool, prepare: Callable[[Tool], Prepared]) -> None:
        self.tool = tool
        self.retry = tool.retry or (SAFE_RETRY if tool.read_only or tool.idempotent else NO_RETRY)
        one: float | None = tool.config.get("timeout") or chain_seconds(tool.config.get(CHAIN))
        tries = self.retry.max_attempts if "timeout" in self.retry.on else 1
        self.timeout: float = tool.timeout or (one * tries if one else default_timeout(tool.tool_type))
        # Where a timeout is tried again, an attempt may not take all of the time.
        self.attempt_timeout: float = one or self.timeout / tries
        self._prepare = prepare
        self._prepared: Prepared | None = None
        self._arguments: Arguments | TableArguments | None = None
        self._output: BoundedValidator | None = None

    @property
    def arguments(self) -> Arguments | TableArguments:
        """What checks the arguments."""
        if self._arguments is None and self.tool.tool_type is Kind.TABLE:
            self._arguments = TableArguments(self.tool)
        elif self._arguments is None:
            presets = self.tool.config.get("parameters") if self.tool.tool_type is Kind.BUILTIN else None
            self._arguments = Arguments(
                self.tool.input_schema, unknown=self.tool.unknown_parameters, presets=presets or None
            )
        return self._arguments

    @property
    def output(self) -> BoundedValidator:
        """The validator of the output; only asked for where there is an output schema."""
        if self._output is None:
            self._output = BoundedValidator(self.tool.output_schema or {})
        return self._output

    @property
    def prepared(self) -> Prepared:
        """What runs the tool; raises ToolError for as long as it cannot."""
        if self._prepared is None:
            self._prepared = self._prepare(self.tool)
        return self._prepared

    @property
    def writes_receipts(self) -> bool:
        """Whether an effect of this tool leaves a receipt in the board's own database."""
        try:
            return self.prepared.receipts
        except ToolError:
            return False  # it cannot run, and whoever tries will be told why

    def warm(self) -> None:
        """Begin to make ready what the first call would wait for; what is wrong with the tool is said when called."""
        with suppress(ToolError):
            if (warm := self.prepared.warm) is not None:
                warm()

    def forget(self) -> None:
        """Prepare anew at the next call, since something the tool relies on has changed."""
        self._prepared = None
