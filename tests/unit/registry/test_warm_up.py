"""A new tool is prepared before its first call."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.mcp_servers.processes import descendants
from tests.waiting import until

CODE = "def main():\n    return 1\n"


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "tool_type": "python", "config": {"code": CODE}, **fields}


async def one_more_than(before: set[int]) -> None:
    async def is_there() -> bool:
        return len(descendants() - before) >= 1

    await until(is_there)


async def added(board: Pegboard) -> None:
    await board.add(tool("one"))


async def changed(board: Pegboard) -> None:
    await board.add(tool("one", is_active=False))
    assert not board.confinement.sandbox.stats().zygotes
    await board.tools.update("one", {"is_active": True}, board.admin)


async def applied(board: Pegboard) -> None:
    await board.apply([tool("one")])


@pytest.mark.parametrize("how", [added, changed, applied], ids=lambda how: how.__name__)
async def test_its_process_starts_without_a_call(how: Any) -> None:
    async with memory_board() as board:
        before = descendants()
        await how(board)
        await one_more_than(before)


async def test_a_tool_that_cannot_run_is_registered() -> None:
    async with memory_board() as board:
        await board.add(tool("one", config={"code": CODE, "libraries": ["sympy"]}))
        result = await board.call("one")
        assert result.problem is not None
        assert "not installed here: pip install sympy" in result.problem.message
