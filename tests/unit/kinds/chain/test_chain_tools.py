"""Chains saved as tools, and their timeouts."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.testing import memory_board

CHAIN: dict[str, Any] = {"steps": [{"id": "a", "tool": "echo"}]}


@pytest.mark.parametrize(
    ("chain", "more", "seconds"),
    [
        (CHAIN, {}, 300),
        ({**CHAIN, "timeout": 7}, {}, 7),
        ({**CHAIN, "timeout": 7}, {"timeout": 3}, 3),
    ],
)
async def test_a_saved_chain_has_the_time_that_it_says(chain: Any, more: dict[str, Any], seconds: float) -> None:
    async with memory_board() as board:
        config = {"handler": "chain", "chain": chain}
        await board.add({"name": "c", "tool_type": "internal", "input_schema": {}, "config": config, **more})
        compiled = board.snapshot.find("c")
        assert compiled is not None
        assert compiled.timeout == seconds
