"""Answers out of fixtures: the same calls in the same order get the same ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pegboard.board import Pegboard
from pegboard.core.errors import ExecutionFailed
from pegboard.executors.mock import contains
from pegboard.mocking.faults import fault
from pegboard.mocking.fixtures import Fixtures, FixtureTool, Response
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


class Player:
    """Gives the answers of one tool, and counts them."""

    def __init__(self, tool: FixtureTool) -> None:
        self._tool = tool
        self._given = [0] * len(tool.responses)

    # Positional only, since a tool may have an argument called `self`.
    async def answer(self, /, **arguments: Any) -> Any:
        """What the first response returns that fits and is not used up; raises what it says where it fails."""
        place, response = self._next(arguments)
        # Counted before the wait, so that calls are answered by the order in which they came.
        self._given[place] += 1
        log.info("mock_answered", tool=self._tool.name, response=place + 1, time=self._given[place])
        if response.latency_ms:
            await asyncio.sleep(response.latency_ms / 1000)
        if response.fails:
            raise fault(response.error.code, response.error.message, response.error.retryable)
        return response.respond

    def reset(self) -> None:
        """Begin again, as if nobody had called."""
        self._given = [0] * len(self._given)

    def _next(self, arguments: dict[str, Any]) -> tuple[int, Response]:
        used_up = 0
        for place, response in enumerate(self._tool.responses):
            if not contains(arguments, response.when):
                continue
            if response.times is None or self._given[place] < response.times:
                return place, response
            used_up += 1
        total = len(self._tool.responses)
        why = f"{used_up} that fit are used up" if used_up else "no `when` is contained in the arguments"
        raise ExecutionFailed(
            f"The fixtures have no answer to this call of '{self._tool.name}': of {total} responses, {why}; add one "
            "without `when` and `times` to answer every other call"
        )


class Mock:
    """The tools of some fixtures, hung on a board."""

    def __init__(self, players: Sequence[Player]) -> None:
        self._players = players

    def reset(self) -> None:
        """Have every sequence begin again."""
        for player in self._players:
            player.reset()


async def hang(board: Pegboard, fixtures: Fixtures) -> Mock:
    """Have the board answer as the fixtures say: their tools are on it, public, and no others."""
    for peg in list(board.snapshot.handed_to(board.admin)):
        await board.tools.delete(peg.tool.id, board.admin)
    players = []
    for tool in fixtures.tools:
        player = Player(tool)
        handler = f"mock:{tool.name}"
        board.handler(handler)(player.answer)
        how = {"tool_type": "internal", "config": {"handler": handler}, "is_public": True}
        await board.add({**tool.definition, **how})
        players.append(player)
    return Mock(players)
