"""Envelopes asked of a tool one by one, each with what came back or why nothing did."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import orjson

from pegboard.contract.report import Failure
from pegboard.contract.sending import NoEnvelope, Send

VERSION = "1.0"
# The clocks of many servers tick in milliseconds, and an answer in the same one must not seem to be before its call.
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """One exchange: what was sent, what came, and how long that took; `why` says why nothing usable came."""

    sent: dict[str, Any]
    received: Any
    elapsed_ms: float
    why: str | None = None

    def failure(self, expected: str) -> Failure:
        """That this exchange is not as it should be."""
        return Failure(expected, self.sent, self.received if self.why is None else self.why)

    @property
    def payload(self) -> Any:
        """What the tool answered, if it did."""
        return self.received.get("payload") if isinstance(self.received, dict) else None


class Asker:
    """Sends envelopes for one tool."""

    def __init__(self, send: Send, tool: str, seconds: float) -> None:
        self._send = send
        self._tool = tool
        self._seconds = seconds

    def envelope(self, arguments: Mapping[str, Any], **instead: Any) -> dict[str, Any]:
        """A good envelope with a request id of its own; `instead` replaces fields, and None leaves them out."""
        began = datetime.now(UTC) - _TICK
        whole = {
            "tool_name": self._tool,
            "args": dict(arguments),
            "request_id": str(uuid4()),
            "timestamp": began.isoformat("T", "milliseconds").replace("+00:00", "Z"),
            "version": VERSION,
        }
        return {name: value for name, value in {**whole, **instead}.items() if value is not None}

    async def ask(self, envelope: dict[str, Any]) -> Asked:
        """What comes of it, in any case."""
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
        except Exception as error:  # whatever a tool raises is a finding, and never the end of the checks
            why = f"an exception: {type(error).__name__}: {error}"
        return Asked(envelope, received, (time.perf_counter() - begun) * 1000, why)

    async def good(self, arguments: Mapping[str, Any]) -> Asked:
        """What comes of a good envelope with these arguments."""
        return await self.ask(self.envelope(arguments))
