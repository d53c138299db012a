"""Sends envelopes to a tool, directly or over HTTP, and returns each answer or the reason why there is none."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import orjson

from pegboard.contract.compliance_report import Failure

MAX_ANSWER_BYTES = 16 * 2**20
# The caller's own timeout is shorter.
REQUEST_TIMEOUT_SECONDS = 600.0
_MAX_EXCERPT_CHARS = 300

Send = Callable[[dict[str, Any]], Awaitable[Any]]


class NoEnvelope(Exception):
    """Raised if the answer is not an envelope; the message describes the answer."""


@asynccontextmanager
async def sender(url: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Send]:
    """Open a client that posts envelopes to a URL and returns the JSON; it raises NoEnvelope unless HTTP 200."""
    async with httpx.AsyncClient(
        headers=dict(headers or {}), timeout=REQUEST_TIMEOUT_SECONDS, trust_env=not _is_loopback(url)
    ) as http:

        async def send(envelope: dict[str, Any]) -> Any:
            try:
                async with http.stream("POST", url, json=envelope) as response:
                    body = await _read_bounded_body(response)
            except httpx.HTTPError as error:
                raise NoEnvelope(f"no answer: {str(error) or type(error).__name__}") from None
            shown = body[:_MAX_EXCERPT_CHARS].decode("utf-8", "replace")
            if response.status_code != 200:
                raise NoEnvelope(f"HTTP {response.status_code}: {shown}")
            try:
                return orjson.loads(body)
            except ValueError:
                raise NoEnvelope(f"HTTP 200 with something that is not JSON: {shown}") from None

        yield send


async def _read_bounded_body(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise NoEnvelope(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes")
    return b"".join(parts)


def _is_loopback(url: str) -> bool:
    """True if no proxy should be used."""
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


ENVELOPE_VERSION = "1.0"
# Many servers' clocks have millisecond resolution; an answer in the same millisecond must not appear to precede its
# call.
_CLOCK_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class EnvelopeExchange:
    """One exchange: envelope sent, answer received and duration; `why` is the reason if there is no usable answer."""

    sent: dict[str, Any]
    received: Any
    elapsed_ms: float
    why: str | None = None

    def failure(self, expected: str) -> Failure:
        """Return a failure of this exchange."""
        return Failure(expected, self.sent, self.received if self.why is None else self.why)

    @property
    def payload(self) -> Any:
        """The payload of the answer, or None."""
        return self.received.get("payload") if isinstance(self.received, dict) else None


class EnvelopeSender:
    """Sends envelopes for one tool."""

    def __init__(self, send: Send, tool: str, seconds: float) -> None:
        self._send = send
        self._tool = tool
        self._seconds = seconds

    def envelope(self, arguments: Mapping[str, Any], **instead: Any) -> dict[str, Any]:
        """Return a valid envelope with a new request id; `instead` replaces fields, and None removes them."""
        began = datetime.now(UTC) - _CLOCK_TICK
        whole = {
            "tool_name": self._tool,
            "args": dict(arguments),
            "request_id": str(uuid4()),
            "timestamp": began.isoformat("T", "milliseconds").replace("+00:00", "Z"),
            "version": ENVELOPE_VERSION,
        }
        return {name: value for name, value in {**whole, **instead}.items() if value is not None}

    async def ask(self, envelope: dict[str, Any]) -> EnvelopeExchange:
        """Send an envelope and return the exchange; never raises."""
        begun = time.perf_counter()
        received: Any = None
        why: str | None = None
        try:
            async with asyncio.timeout(self._seconds):
                received = orjson.loads(orjson.dumps(await self._send(envelope)))
        except TimeoutError:
            why = f"nothing within {self._seconds:g} s"
        except NoEnvelope as error:
            why = str(error)
        except (orjson.JSONEncodeError, orjson.JSONDecodeError) as error:
            why = f"something that is not JSON: {error}"
        except Exception as error:  # any exception of a tool is a finding and must not stop the checks
            why = f"an exception: {type(error).__name__}: {error}"
        return EnvelopeExchange(envelope, received, (time.perf_counter() - begun) * 1000, why)

    async def send_valid(self, arguments: Mapping[str, Any]) -> EnvelopeExchange:
        """Send a valid envelope with these arguments."""
        return await self.ask(self.envelope(arguments))
