"""Read server-sent events, all at once or one by one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import httpx

from pegboard import Pegboard
from pegboard.runs.followed_runs import FollowedRuns
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import bearer

EVENTS = {"Accept": "text/event-stream"}
RETRY = "retry: 500"


def replace_following(board: Pegboard, **limits: Any) -> None:
    """Have the board follow calls with these limits."""
    board.following = board.calls.following = FollowedRuns(board.payloads, max_followed=100, **limits)


class Received(NamedTuple):
    """One event."""

    id: int
    name: str
    data: Any


def parsed(text: str) -> list[Received]:
    """Return the events of a whole stream, after a check of its form."""
    # Before the first event, the client gets the id to continue after.
    assert re.match(rf"{RETRY}\n(id: \d+\n)?\n", text)
    assert text.endswith("\n\n")
    found = []
    for block in text.removesuffix("\n\n").split("\n\n")[1:]:
        if block.startswith(":"):
            continue
        number, name, data = block.split("\n")
        assert (number[:4], name[:7], data[:6]) == ("id: ", "event: ", "data: ")
        found.append(Received(int(number[4:]), name[7:], json.loads(data[6:])))
    return found


class Reader:
    """Reads a stream event by event."""

    def __init__(self, answered: httpx.Response) -> None:
        self.answered = answered
        self.run_id = answered.headers.get("x-run-id", "")
        self._lines = answered.aiter_lines()

    async def next(self) -> Received | None:
        """Return the next event, or None at the end."""
        block: list[str] = []
        with anyio.fail_after(10):
            async for line in self._lines:
                if line:
                    block.append(line)
                elif len(block) == 3 and block[0].startswith("id: "):
                    return Received(int(block[0][4:]), block[1][7:], json.loads(block[2][6:]))
                else:
                    block = []
        return None

    async def until(self, name: str) -> Received:
        """The next event of that name."""
        while (result := await self.next()) is not None:
            if result.name == name:
                return result
        raise AssertionError(f"the stream ended without {name}")

    async def rest(self) -> list[Received]:
        """Everything to the end."""
        found = []
        while (result := await self.next()) is not None:
            found.append(result)
        return found


@asynccontextmanager
async def reading(
    url: str, path: str, *, method: str = "GET", key: str = KEY, headers: dict[str, str] | None = None, **more: Any
) -> AsyncIterator[Reader]:
    """A stream of a real server, read as it arrives; the client disconnects at the end of the context."""
    async with (
        httpx.AsyncClient(base_url=url, headers={**bearer(key), **EVENTS, **(headers or {})}, timeout=30) as speaker,
        speaker.stream(method, path, **more) as answered,
    ):
        assert answered.status_code == 200, (await answered.aread()).decode()
        yield Reader(answered)
