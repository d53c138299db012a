"""A ready board in memory, for your own tests.

from pegboard.testing import memory_board

async def test_my_tool():
    async with memory_board() as board:
        board.tool(my_function)
        assert (await board.call("my_function", {"x": 1})).output == 2
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import Field

from pegboard.board import Pegboard
from pegboard.model.call import Caller
from pegboard.model.filters import ExecutionFilter
from pegboard.settings import Settings


class NoSettings(Settings):
    """Settings that read neither environment nor files, so that tests do not depend on the machine."""

    # Created only if something is written to it; never the home of an existing board.
    home: Path = Field(
        default_factory=lambda: Path(tempfile.gettempdir()) / f"pegboard-{uuid4().hex}",
        description="Folder of the board's state",
    )

    @classmethod
    def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, **_: Any) -> Any:  # type: ignore[override]
        """Use only the keyword arguments."""
        return (init_settings,)


@asynccontextmanager
async def memory_board(tools: Sequence[dict[str, Any]] = (), **settings: Any) -> AsyncIterator[Pegboard]:
    """Open a board in memory with these tools; it uses no file and no network."""
    async with Pegboard.open("memory", settings=NoSettings(**settings)) as board:
        for definition in tools:
            await board.add(definition)
        yield board


async def member(board: Pegboard, name: str = "member") -> Caller:
    """Create a user with the role member and return it as a caller."""
    user = await board.people.create_user(name, "member", board.admin)
    return Caller(user.id, user.name, user.role)


async def calls_of(board: Pegboard, tool: str | None = None) -> list[Any]:
    """Return the recorded executions, oldest first."""
    page = await board.executions(ExecutionFilter(tool=tool), limit=200)
    return list(reversed(page.items))
