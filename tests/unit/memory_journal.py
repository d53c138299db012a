"""A journal in memory, for tests of the code that uses a journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pegboard import ToolResult
from pegboard.journal.entries import ClosingEntry
from pegboard.journal.journal import EarlierCall
from pegboard.model.call import Execution, ReadyCall
from pegboard.model.call_errors import Unavailable


class Recording:
    """A journal that records its calls and behaves as configured."""

    def __init__(self) -> None:
        self.begun: list[ReadyCall] = []
        self.drafts: list[Execution] = []
        self.rows: list[Execution] = []
        self.results: list[ToolResult] = []
        self.earlier: EarlierCall | None = None
        self.refusing = False
        self.losing = False
        self.wait: asyncio.Event | None = None
        self.trouble: str | None = None

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> EarlierCall | None:
        if self.refusing:
            raise Unavailable("no room")
        self.begun.append(ready)
        self.drafts.append(draft())
        return self.earlier

    async def record(self, execution: Execution, result: ToolResult) -> None:
        self.rows.append(execution)
        self.results.append(result)
        if self.wait is not None:
            await self.wait.wait()
        if self.losing:
            raise Unavailable("The disk is full")

    def build_closing(self, execution: Execution, result: ToolResult) -> ClosingEntry:
        raise AssertionError("no tool of these tests is transactional")

    def release(self, run_id: str) -> None:
        raise AssertionError("no tool of these tests is transactional")

    async def close(self) -> None:
        return
