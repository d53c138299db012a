"""Tools that wait until the test releases them, and payloads of their calls that are followed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from pegboard import Pegboard
from pegboard.dialects.parsed_calls import ParsedCalls
from pegboard.model.call import Caller, CallRequest
from pegboard.progress.event_log import LogEvent
from pegboard.runs.followed_runs import FollowedRun, FollowedRuns
from pegboard.runs.handle import CallPayload
from pegboard.testing import memory_board

ENDS = ("complete", "error")


class WaitingTools:
    """A board with two tools that wait: `leaves` ends with its caller, `stays` continues without."""

    def __init__(self, board: Pegboard, following: FollowedRuns) -> None:
        self.board = board
        self.following = following
        self.began: dict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self.may_end: dict[int, asyncio.Event] = defaultdict(asyncio.Event)

        async def wait(n: int) -> int:
            self.began[n].set()
            await self.may_end[n].wait()
            return n

        board.tool(name="leaves")(wait)
        board.tool(name="stays", on_disconnect="detach")(wait)

    def start(self, *names: str, **more: Any) -> FollowedRun:
        """Follow calls of these tools, each with its position as its number."""
        raw = [{"name": name, "arguments": {"n": place}} for place, name in enumerate(names)]
        return self.follow(self.board.payloads.read(raw, "plain", self.board.admin), self.board.admin, **more)

    def follow(
        self,
        asked: ParsedCalls,
        caller: Caller,
        *,
        text: str | None = None,
        shape: str | None = None,
        **more: Any,
    ) -> FollowedRun:
        """Follow these calls as this caller."""
        return self.board.calls.follow(CallPayload(CallRequest(caller, **more), asked, text, shape))

    async def all_began(self, places: Sequence[int]) -> None:
        """Wait until these calls run."""
        with anyio.fail_after(10):
            for place in places:
                await self.began[place].wait()

    def release(self, *places: int) -> None:
        """Let these calls end."""
        for place in places:
            self.may_end[place].set()


@asynccontextmanager
async def waiting_tools(**settings: Any) -> AsyncIterator[WaitingTools]:
    """The two tools on a board of their own."""
    async with memory_board(drain_seconds=2) as board:
        following = board.calls.following = FollowedRuns(board.payloads, **{"max_followed": 2000, **settings})
        yield WaitingTools(board, following)
        await following.close()


async def read(feed: FollowedRun, number: int = 0) -> list[LogEvent]:
    """Return all events of a feed, which must have exactly one end."""
    events: list[LogEvent] = []
    with anyio.fail_after(10):
        async for batch in feed.events.batches(number):
            events += batch
    assert [event.name in ENDS for event in events] == [False] * (len(events) - 1) + [True]
    return events


def results(events: Sequence[LogEvent]) -> list[Any]:
    """Return the result of each call, or the code of its error."""
    found = [event.data for event in events if event.name == "tool_result"]
    return [data["result"] if "result" in data else data["code"] for data in found]
