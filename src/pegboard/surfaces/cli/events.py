"""Answers of the board that come as events while it works."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from pegboard.surfaces.cli.client import Client, Reply
from pegboard.surfaces.cli.failures import Unreachable

EVENTS = "text/event-stream"


class Event(NamedTuple):
    """Something that the board tells: its number where it has one, and what it says, also as it came."""

    number: str
    name: str
    text: str
    data: Any


class Opened(NamedTuple):
    """An answer that has begun: its events, or a whole reply of a board that has nothing to tell on the way."""

    run_id: str | None
    events: AsyncIterator[Event]
    reply: Reply | None


class EventsClient(Client):
    """A client that is told what happens while it happens."""

    @classmethod
    def of(cls, client: Client) -> EventsClient:
        """The same client, so able."""
        return cls(client._http, client._url, client._key_from)

    @property
    def url(self) -> str:
        """Where the board is."""
        return self._url

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> AsyncIterator[Opened]:
        """What the board tells; whatever goes wrong meanwhile is a Failure, silence for a minute unless `patient`."""
        asked = {"Accept": EVENTS, **(headers or {})}
        request = self._request(method, path, params=params, body=body, headers=asked, patient=patient)
        with self._failures():
            response = await self._http.send(request, stream=True)
            try:
                is_stream = response.headers.get("content-type", "").startswith(EVENTS)
                if not is_stream:
                    await response.aread()
                reply = None if is_stream else self._read(response, any_status=False)
                yield Opened(response.headers.get("x-run-id"), _events(response), reply)
            finally:
                await response.aclose()

    async def follow(self, path: str, body: Any, on_progress: Callable[[dict[str, Any]], None]) -> Reply:
        """The report at the end, and on the way there each progress; a failure is raised like any other."""
        content = json.dumps(body, allow_nan=False).encode()
        async with self.open("POST", path, body=content, patient=True) as opened:
            if opened.reply is not None:
                return opened.reply
            async for event in opened.events:
                if event.name == "complete":
                    return Reply(200, event.text, event.data)
                if event.name == "error":
                    raise self._refusal(int(event.data.get("status") or 500), event.data)
                on_progress(event.data)
        raise Unreachable(f"The connection to {self._url} ended before the work did; run it again to see what is left")


async def _events(response: httpx.Response) -> AsyncIterator[Event]:
    number = name = ""
    begun: list[bytes] = []
    async for part in response.aiter_bytes():
        # Not by the lines of a text, which end in more ways than those of events do.
        first, *others = part.split(b"\n")
        begun.append(first)
        if not others:
            continue
        lines = [b"".join(begun), *others[:-1]]
        begun = [others[-1]]
        for line in lines:
            word, _, value = line.partition(b": ")
            if word == b"id":
                number = value.decode()
            elif word == b"event":
                name = value.decode()
            elif word == b"data":
                yield _event(number, name, value)


def _event(number: str, name: str, value: bytes) -> Event:
    try:
        text = value.decode()
        return Event(number, name, text, json.loads(text))
    except (ValueError, RecursionError):
        raise Unreachable(f"What answers sends an event '{name[:100]}' that cannot be read") from None
