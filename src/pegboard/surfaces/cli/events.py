"""Answers of the board that come as events while it works."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from pegboard.surfaces.cli.client import CONNECT_SECONDS, READ_SECONDS, Client, Reply
from pegboard.surfaces.cli.failures import Unreachable

EVENTS = "text/event-stream"


class EventsClient(Client):
    """A client that is told how far the board has come."""

    @classmethod
    def of(cls, client: Client) -> EventsClient:
        """The same client, so able."""
        return cls(client._http, client._url, client._key_from)

    async def follow(self, path: str, body: Any, on_progress: Callable[[dict[str, Any]], None]) -> Reply:
        """The report at the end, and on the way there each progress; a failure is raised like any other."""
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, read=None)
        request = self._http.build_request(
            "POST",
            self._url + path,
            content=json.dumps(body, allow_nan=False).encode(),
            headers={"Accept": EVENTS, "Content-Type": "application/json"},
            timeout=timeout,
        )
        with self._failures():
            response = await self._http.send(request, stream=True)
            try:
                if not response.headers.get("content-type", "").startswith(EVENTS):
                    await response.aread()
                    return self._read(response, any_status=False)
                async for name, data in _events(response):
                    if name == "complete":
                        return Reply(response.status_code, json.dumps(data, ensure_ascii=False), data)
                    if name == "error":
                        raise self._refusal(int(data.get("status") or 500), data)
                    on_progress(data)
            finally:
                await response.aclose()
        raise Unreachable(f"The connection to {self._url} ended before the work did; run it again to see what is left")


async def _events(response: httpx.Response) -> AsyncIterator[tuple[str, Any]]:
    name = ""
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
            if word == b"event":
                name = value.decode()
            elif word == b"data":
                yield name, json.loads(value)
