"""Calls of table tools that continue while their tables are changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pegboard import Pegboard
from tests.waiting import until

CALLERS = 10


@dataclass
class Traffic:
    """Calls that continue, and their results."""

    board: Pegboard
    tool: str
    rows_a_call: int = 1
    there: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    is_over: bool = False
    _count: int = 0

    async def call_on(self) -> None:
        """Call until it is over."""
        while not self.is_over:
            self._count += 1
            numbers = [f"{self.tool} {self._count} {place}" for place in range(self.rows_a_call)]
            arguments = {"n": numbers[0]} if self.rows_a_call == 1 else {"rows": [{"n": n} for n in numbers]}
            result = await self.board.call(self.tool, arguments)
            if result.problem is not None:
                self.codes.append(result.problem.code)
            else:
                assert result.output["rowCount"] == self.rows_a_call
                self.there += numbers

    async def answered(self, code: str | None = None) -> None:
        """Return after one more call was answered with this code, or has succeeded."""
        before = len(self.there), self.codes.count(str(code))

        async def more() -> bool:
            return len(self.there) > before[0] if code is None else self.codes.count(code) > before[1]

        await until(more, 20)


@asynccontextmanager
async def traffic(board: Pegboard, *tools: str) -> AsyncIterator[list[Traffic]]:
    """Callers of these tools, which call until the context ends."""
    made = [Traffic(board, tool, 3 if tool.endswith("-batch") else 1) for tool in tools]
    tasks = [asyncio.create_task(one.call_on()) for one in made for _ in range(CALLERS)]
    try:
        for one in made:
            await one.answered()
        yield made
    finally:
        for one in made:
            one.is_over = True
        await asyncio.gather(*tasks)
