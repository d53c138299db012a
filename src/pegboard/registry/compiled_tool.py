"""A tool in memory with its validators, its executor and its limits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.read_arguments import ArgumentChecker
from pegboard.kinds.base import ArgumentCheck, Prepared
from pegboard.kinds.catalog import find_kind
from pegboard.model.call_errors import ToolError
from pegboard.model.tool import Retry, Tool

# The default retry of a tool that is safe to run again: up to three more attempts.
SAFE_RETRY = Retry(max_attempts=4)
NO_RETRY = Retry(max_attempts=1)


class CompiledTool:
    """A tool with everything that a call needs; each part is compiled on first use and cached."""

    __slots__ = (
        "_arguments",
        "_output",
        "_prepare",
        "_prepared",
        "attempt_timeout",
        "has_effects",
        "kind",
        "retry",
        "timeout",
        "tool",
    )

    def __init__(self, tool: Tool, prepare: Callable[[Tool], Prepared]) -> None:
        self.tool = tool
        self.kind = kind = find_kind(tool.tool_type)
        # True if a call may change something, so that an interrupted call has to be reported as in doubt.
        self.has_effects = kind.has_effects and not tool.read_only
        self.retry = tool.retry or (SAFE_RETRY if tool.read_only or tool.idempotent else NO_RETRY)
        one = kind.get_timeout(tool.config)
        tries = self.retry.max_attempts if "timeout" in self.retry.on else 1
        self.timeout: float = tool.timeout or (one * tries if one else kind.default_timeout)
        # If a timeout is retried, one attempt may not use the whole time.
        self.attempt_timeout: float = one or self.timeout / tries
        self._prepare = prepare
        self._prepared: Prepared | None = None
        self._arguments: ArgumentCheck | None = None
        self._output: BoundedValidator | None = None

    @property
    def arguments(self) -> ArgumentCheck:
        """The checker of the arguments."""
        if self._arguments is None and self.kind.arguments is not None:
            self._arguments = self.kind.arguments(self.tool)
        elif self._arguments is None:
            field = self.kind.presets_field
            presets = self.tool.config.get(field) if field is not None else None
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
    def is_transactional(self) -> bool:
        """True if the tool commits the journal rows of its calls together with their effects."""
        try:
            return self.prepared.is_transactional
        except ToolError:
            return False  # it cannot run, and a call reports why

    @property
    def receipts_in(self) -> str | None:
        """The database in which the tool commits receipts of its calls, if it is not the board's own."""
        try:
            return self.prepared.receipts_in
        except ToolError:
            return None  # it cannot run, and a call reports why

    def warm(self) -> None:
        """Start preparing the tool for its first call; errors are ignored here and reported by the call."""
        with suppress(ToolError):
            if (warm := self.prepared.warm) is not None:
                warm()

    def forget(self) -> None:
        """Discard the prepared form, because a dependency of it has changed; the next call prepares it again."""
        self._prepared = None
