"""Responses of the board that are streams of server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply
from pegboard.surfaces.cli.exit_codes import BoardUnreachable

EVENT_STREAM_TYPE = "text/event-stream"


class ServerEvent(NamedTuple):
    """A server-sent event: its id if it has one, its name, and its data, parsed and as text."""

    number: str
    name: str
    text: str
    data: Any


class OpenedStream(NamedTuple):
    """An open response: a stream of events, or a complete reply if the board sent no stream."""

    run_id: str | None
    events: AsyncIterator[ServerEvent]
    reply: ApiReply | None


class EventsClient(ApiClient):
    """A client that also reads server-sent events."""

    @classmethod
    def of(cls, client: ApiClient) -> EventsClient:
        """The same client, so able."""
        return cls(client._http, client._url, client._key_source)

    @property
    def url(self) -> str:
        """The URL of the board."""
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
    ) -> AsyncIterator[OpenedStream]:
        """Yield the open response; raise a CommandFailure on errors, and after a minute of silence unless `patient`."""
        asked = {"Accept": EVENT_STREAM_TYPE, **(headers or {})}
        request = self._request(method, path, params=params, body=body, headers=asked, patient=patient)
        with self._failures():
            response = await self._http.send(request, stream=True)
            try:
                is_stream = response.headers.get("content-type", "").startswith(EVENT_STREAM_TYPE)
                if not is_stream:
                    await response.aread()
                reply = None if is_stream else self._read(response, any_status=False)
                yield OpenedStream(response.headers.get("x-run-id"), _parse_events(response), reply)
            finally:
                await response.aclose()

    async def follow(self, path: str, body: Any, on_progress: Callable[[dict[str, Any]], None]) -> ApiReply:
        """Return the final report and pass progress to `on_progress`; raise a CommandFailure on an error event."""
        content = json.dumps(body, allow_nan=False).encode()
        async with self.open("POST", path, body=content, patient=True) as opened:
            if opened.reply is not None:
                return opened.reply
            async for event in opened.events:
                if event.name == "complete":
                    return ApiReply(200, event.text, event.data)
                if event.name == "error":
                    raise self._refusal(int(event.data.get("status") or 500), event.data)
                on_progress(event.data)
        raise BoardUnreachable(
            f"The connection to {self._url} ended before the work did; run it again to see what is left"
        )


async def _parse_events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    number = name = ""
    begun: list[bytes] = []
    async for part in response.aiter_bytes():
        # Not `splitlines`: server-sent events end lines in fewer ways than text does.
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
                yield _parse_event(number, name, value)


def _parse_event(number: str, name: str, value: bytes) -> ServerEvent:
    try:
        text = value.decode()
        return ServerEvent(number, name, text, json.loads(text))
    except (ValueError, RecursionError):
        raise BoardUnreachable(f"What answers sends an event '{name[:100]}' that cannot be read") from None
