"""The Journal protocol that the pipeline uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from pegboard.journal.stored_answers import StoredAnswer
from pegboard.model.call import Execution, ReadyCall, ToolResult


class EarlierCall(NamedTuple):
    """The earlier call with the same idempotency key, and its answer."""

    run_id: str
    answer: StoredAnswer


class Journal(Protocol):
    """Stores executions; a caller gets its result only after `record` has returned."""

    @property
    def trouble(self) -> str | None:
        """The reason why calls cannot be recorded now, or None."""
        ...

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> EarlierCall | None:
        """Commit an intent before the call runs, so that it cannot be lost; return the earlier call of its key.

        `draft` returns the row that is recorded if the process ends before the call does. Raises Unavailable if nothing
        can be recorded, and another ToolError if the key cannot be used for this call.
        """
        ...

    async def record(self, execution: Execution, result: ToolResult) -> None:
        """Make the row durable; raise Unavailable if that failed."""
        ...

    async def close(self) -> None:
        """Write the pending rows, then stop."""
        ...
