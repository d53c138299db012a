"""A call that is followed from its beginning to its end, through connections that break."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

import typer

from pegboard.surfaces.cli.client import Client, Reply
from pegboard.surfaces.cli.events import Event, EventsClient, Opened
from pegboard.surfaces.cli.failures import Failure, Refused, Unreachable
from pegboard.surfaces.cli.output import say
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.telling import Tell, telling

# Before each attempt to go on; the board waits two seconds for somebody who comes back.
PAUSES = (0.0, 0.2, 0.4, 0.8, 1.6, 3.2)
_INTERRUPTED = 130


async def follow(client: Client, **request: Any) -> Reply:
    """The answer of one call that `POST /v1/calls` is asked for; Ctrl-C cancels it on the board and exits with 130."""
    followed = Followed(EventsClient.of(client), request)
    try:
        with telling() as tell:
            last = await followed.last(tell)
    except asyncio.CancelledError:
        if followed.run_id is None:
            raise
        await followed.cancel()
        raise typer.Exit(_INTERRUPTED) from None
    if last.name == "error":
        raise Refused(str(last.data.get("message")), followed.ways())
    headers = {"x-thread-error": last.data["thread_error"]} if "thread_error" in last.data else {}
    return Reply(200, member(last.text, "answer"), last.data["answer"], headers)


class Followed:
    """One call that is followed."""

    def __init__(self, client: EventsClient, request: dict[str, Any]) -> None:
        self.run_id: str | None = None
        self._client = client
        self._request = request
        # What the journal has, which comes a moment after what the events are known by.
        self._execution_id: str | None = None
        self._seen = ""

    async def last(self, tell: Tell) -> Event:
        """Tell every event but the last, which is the end."""
        pauses = iter(PAUSES)
        while True:
            try:
                async with self._open() as opened:
                    self.run_id = _run_id_of(opened)
                    async for event in opened.events:
                        pauses = iter(PAUSES)
                        self._seen = event.number
                        if event.name in ("complete", "error"):
                            return event
                        if event.name == "tool_use":
                            self._execution_id = event.data["run_id"]
                        tell(event)
            except Unreachable as failure:
                why = failure.message
                if self.run_id is None:
                    raise
            except Refused as refused:
                if self.run_id is None:
                    raise
                raise Refused(f"The call cannot be followed any more: {refused.message}", self.ways()) from None
            else:
                why = f"{self._client.url} ended it"
            pause = next(pauses, None)
            if pause is None:
                raise Unreachable(f"The connection broke and cannot be made again: {why}", self.ways())
            await asyncio.sleep(pause)

    async def cancel(self) -> None:
        """End the call on the board, and say whether it has."""
        assert self.run_id is not None
        if (task := asyncio.current_task()) is not None:
            task.uncancel()
        try:
            await self._client.delete(route("calls", self.run_id))
        except Failure as failure:
            say(failure.message, label="Not cancelled: ", colour="yellow")
        else:
            say(self._execution_id or self.run_id, label="Cancelled ", colour="yellow")

    def ways(self) -> list[str]:
        """What can be done about a call that was lost sight of."""
        run_id = self._execution_id or self.run_id
        lines = [f"It is known as {run_id}. See how it ended with: pegboard audit show {run_id}"]
        if "Idempotency-Key" in self._request["headers"]:
            return [*lines, "Or run the same command again: with its --once it gets the same answer, and runs no more"]
        return lines

    def _open(self) -> AbstractAsyncContextManager[Opened]:
        if self.run_id is None:
            return self._client.open("POST", route("calls"), **self._request)
        headers = {"Last-Event-ID": self._seen} if self._seen else None
        return self._client.open("GET", route("calls", self.run_id, "events"), headers=headers)


def _run_id_of(opened: Opened) -> str:
    if opened.reply is not None or opened.run_id is None:
        raise Refused("This board does not tell of calls as they run; leave --follow out")
    return opened.run_id


def member(text: str, name: str) -> str:
    """The JSON text of one member of an object, as it was written."""
    decode = json.JSONDecoder().raw_decode
    place = text.index("{") + 1
    while True:
        key, place = decode(text, _next(text, place))
        start = _next(text, place)
        _, place = decode(text, start)
        if key == name:
            return text[start:place]


def _next(text: str, place: int) -> int:
    """Where the next value begins."""
    while text[place] in " ,:":
        place += 1
    return place
