"""What an executor is: it prepares a tool once, and what it prepared runs each call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pegboard.core.call import ReadyCall
from pegboard.core.tool import Tool


@dataclass(frozen=True, slots=True)
class OpenTool:
    """A tool with its secrets readable, and those of its owner's that are filled in; it never leaves the executors."""

    tool: Tool
    config: Mapping[str, Any]
    auth: Mapping[str, Any] | None = None
    secrets: frozenset[str] = frozenset()


class Output(NamedTuple):
    """What a call returned, and what the journal keeps of it besides: what it printed, the row it inserted."""

    value: Any
    printed: str = ""
    row_id: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A tool ready to run; `instant` ones never wait, so nobody needs to watch their time.

    `run` gives what the call returned, or an Output where there is more for the journal.
    One that `receipts` has all its effects in the board's own database, each in one transaction with a receipt
    (`store.receipts.add`); a call that is cut off is then known to have happened, or not to have.
    """

    run: Callable[[ReadyCall], Awaitable[Any]]
    instant: bool = False
    receipts: bool = False
    # Begins to make ready what the first call would have to wait for.
    warm: Callable[[], None] | None = None


class Executor(Protocol):
    """Runs the tools of one kind."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """The tool made ready for any number of calls; raises ToolError where it cannot run."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...
