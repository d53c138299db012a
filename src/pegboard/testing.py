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
from pegboard.core.call import Caller
from pegboard.settings import Settings
from pegboard.store.executions import ExecutionFilter


class NoSettings(Settings):
    """Settings that read neither environment nor files, so that a test means the same everywhere."""

    # Made only if something is written there, and never the home of the board that you work with.
    home: Path = Field(
        default_factory=lambda: Path(tempfile.gettempdir()) / f"pegboard-{uuid4().hex}",
        description="Folder of the board's state",
    )

    @classmethod
    def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, **_: Any) -> Any:  # type: ignore[override]
        """Only what the code says."""
        return (init_settings,)


@asynccontextmanager
async def memory_board(tools: Sequence[dict[str, Any]] = (), **settings: Any) -> AsyncIterator[Pegboard]:
    """A board that touches no file and no network, with these tools on it."""
    async with Pegboard.open("memory", settings=NoSettings(**settings)) as board:
        for definition in tools:
            await board.add(definition)
        yield board


async def member(board: Pegboard, name: str = "member") -> Caller:
    """A caller who is no admin."""
    user = await board.people.create_user(name, "member", board.admin)
    return Caller(user.id, user.name, user.role)


async def calls_of(board: Pegboard, tool: str | None = None) -> list[Any]:
    """The executions so far, oldest first."""
    page = await board.executions(ExecutionFilter(tool=tool), limit=200)
    return list(reversed(page.items))
