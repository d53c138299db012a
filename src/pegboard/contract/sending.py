"""Envelopes over HTTP."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson

MAX_ANSWER = 16 * 2**20
# Whoever asks gives up earlier.
LONGEST = 600.0
_SHOWN = 300

Send = Callable[[dict[str, Any]], Awaitable[Any]]


class NoEnvelope(Exception):
    """What came is no envelope; the message says what it is."""


@asynccontextmanager
async def sender(url: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Send]:
    """What posts envelopes to a URL and gives the JSON that comes back; NoEnvelope for any other answer than 200."""
    async with httpx.AsyncClient(headers=dict(headers or {}), timeout=LONGEST, trust_env=not _is_loopback(url)) as http:

        async def send(envelope: dict[str, Any]) -> Any:
            try:
                async with http.stream("POST", url, json=envelope) as response:
                    body = await _read(response)
            except httpx.HTTPError as error:
                raise NoEnvelope(f"no answer: {str(error) or type(error).__name__}") from None
            shown = body[:_SHOWN].decode("utf-8", "replace")
            if response.status_code != 200:
                raise NoEnvelope(f"HTTP {response.status_code}: {shown}")
            try:
                return orjson.loads(body)
            except ValueError:
                raise NoEnvelope(f"HTTP 200 with something that is not JSON: {shown}") from None

        yield send


async def _read(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER:
            raise NoEnvelope(f"an answer of more than {MAX_ANSWER:,} bytes")
    return b"".join(parts)


def _is_loopback(url: str) -> bool:
    """Whether no proxy should be asked."""
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
