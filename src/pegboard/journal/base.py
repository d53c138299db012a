"""What the pipeline asks of a journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from pegboard.core.call import Execution, ReadyCall, ToolResult
from pegboard.journal.answers import Answer


class Earlier(NamedTuple):
    """The call that was made with the same key before, and how it was answered."""

    run_id: str
    answer: Answer


class Journal(Protocol):
    """Where executions go; a caller is answered only after `record` has returned."""

    @property
    def trouble(self) -> str | None:
        """Why calls cannot be recorded at the moment, if they cannot."""
        ...

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> Earlier | None:
        """Make sure that this call cannot be lost, before it runs; the earlier one where its key was used already.

        `draft` gives the row it becomes if nobody lives to tell how it ended. Raises Unavailable where nothing can
        be recorded, and says so where the key cannot be used for this call.
        """
        ...

    async def record(self, execution: Execution, result: ToolResult) -> None:
        """Make the row durable; raises Unavailable where that failed."""
        ...

    async def close(self) -> None:
        """Finish what was handed in, then stop."""
        ...
