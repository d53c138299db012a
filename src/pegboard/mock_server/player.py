"""Plays answers from fixtures: the same calls in the same order get the same answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pegboard.board import Pegboard
from pegboard.kinds.mock.executor import contains_json
from pegboard.mock_server.fixtures import Fixtures, FixtureTool, Response, build_tool_error
from pegboard.model.call_errors import ExecutionFailed
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


class Player:
    """Returns the answers of one tool, and counts them."""

    def __init__(self, tool: FixtureTool) -> None:
        self._tool = tool
        self._given = [0] * len(tool.responses)

    # Positional-only, because a tool may have an argument called `self`.
    async def answer(self, /, **arguments: Any) -> Any:
        """Return the value of the first matching response that is not used up, or raise its error."""
        place, response = self._next(arguments)
        # Counted before the sleep, so that answers follow the order of the calls.
        self._given[place] += 1
        log.info("mock_answered", tool=self._tool.name, response=place + 1, time=self._given[place])
        if response.latency_ms:
            await asyncio.sleep(response.latency_ms / 1000)
        if response.fails:
            raise build_tool_error(response.error.code, response.error.message, response.error.retryable)
        return response.respond

    def reset(self) -> None:
        """Reset all counts."""
        self._given = [0] * len(self._given)

    def _next(self, arguments: dict[str, Any]) -> tuple[int, Response]:
        used_up = 0
        for place, response in enumerate(self._tool.responses):
            if not contains_json(arguments, response.when):
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
    """The tools of a fixtures file, registered on a board."""

    def __init__(self, players: Sequence[Player]) -> None:
        self._players = players

    def reset(self) -> None:
        """Reset the counts of every tool."""
        for player in self._players:
            player.reset()


async def register_fixtures(board: Pegboard, fixtures: Fixtures) -> Mock:
    """Replace the board's tools by those of the fixtures, as public tools."""
    for item in list(board.snapshot.list_offered_tools(board.admin)):
        await board.tools.delete(item.tool.id, board.admin)
    players = []
    for tool in fixtures.tools:
        player = Player(tool)
        handler = f"mock:{tool.name}"
        board.handler(handler)(player.answer)
        how = {"tool_type": "internal", "config": {"handler": handler}, "is_public": True}
        await board.add({**tool.definition, **how})
        players.append(player)
    return Mock(players)
