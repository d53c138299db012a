"""Shared helpers of tests of replays."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Caller, Pegboard, Refusal
from pegboard.testing import calls_of

KEEPING: dict[str, Any] = {"keep_arguments": True, "keep_result": True}


async def make_call(board: Pegboard, tool: str, arguments: Any = None, caller: Caller | None = None) -> str:
    """Make a call and return the id of its row."""
    return (await board.call(tool, arguments, caller=caller)).run_id


def mock_answer(response: Any) -> dict[str, Any]:
    """Return the config of a mock with this answer."""
    return {"config": {"mock_response": response}}


async def refusal(board: Pegboard, execution_id: str, kind: type[Refusal], **how: Any) -> str:
    """The error of a replay that must be refused."""
    before = len(await calls_of(board))
    with pytest.raises(kind) as caught:
        await board.replay(execution_id, **how)
    assert len(await calls_of(board)) == before, "what is refused is not run"
    return caught.value.message
