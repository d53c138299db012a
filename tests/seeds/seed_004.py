"""The envelopes of seed 004's examples, sent to a board through the library and REST."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

import httpx

from pegboard import Pegboard
from pegboard.model.json_text import json_text
from pegboard.testing import calls_of

INPUT = ("tool_name", "args", "request_id", "timestamp", "version")
OUTPUT = (
    *("tool_name", "request_id", "status", "payload", "error_msg"),
    *("processing_time_ms", "timestamp", "version"),
)
# Fields that differ between any two responses.
_VOLATILE = re.compile(rb'"(request_id|processing_time_ms|timestamp)":("[^"]*"|[0-9]+)')
KNOWN, UNKNOWN = "a" * 64, "b" * 64
PROMISE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def now() -> str:
    """The current time in the format of a request."""
    return datetime.now(UTC).isoformat()


def envelope(tool: str, args: Any, **fields: Any) -> dict[str, Any]:
    """A request with a new id and these fields."""
    request = {"tool_name": tool, "args": args, "request_id": str(uuid4()), "timestamp": now(), "version": "1.0"}
    return {**request, **fields}


def query(composite_hash: str = UNKNOWN, **fields: Any) -> dict[str, Any]:
    """Return the seed's query for one finding."""
    args = {"finding_id": "finding-1", "composite_hash": composite_hash, "query_type": "baseline_check"}
    return {**envelope("query_baseline", args), **fields}


def batch(*hashes: str, batch_size: int = 100, **fields: Any) -> dict[str, Any]:
    """The seed's question about several."""
    ids = [f"finding-{place}" for place, _ in enumerate(hashes)]
    args = {"finding_ids": ids, "composite_hashes": [*hashes], "query_type": "batch_baseline_check"}
    return envelope("batch_baseline_query", {**args, "batch_size": batch_size}, **fields)


class Contract(Protocol):
    """A way to send envelopes to a board."""

    board: Pegboard

    async def text(self, request: Any) -> bytes:
        """Send a request and return the response as text."""

    async def journal(self, tool: str) -> list[dict[str, Any]]:
        """Return the rows of the tool's calls, oldest first."""


class LibraryContract:
    """From the same process."""

    def __init__(self, board: Pegboard) -> None:
        self.board = board

    async def text(self, request: Any) -> bytes:
        return json_text(await self.board.run(request)).encode()

    async def journal(self, tool: str) -> list[dict[str, Any]]:
        return [row._asdict() for row in await calls_of(self.board, tool)]


class RestContract:
    """Over HTTP."""

    def __init__(self, board: Pegboard, client: httpx.AsyncClient) -> None:
        self.board = board
        self._client = client

    async def text(self, request: Any) -> bytes:
        answer = await self._client.post("/v1/calls", json=request)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        return answer.content

    async def journal(self, tool: str) -> list[dict[str, Any]]:
        answer = await self._client.get("/v1/executions", params={"tool": tool, "limit": 200})
        return list(reversed(answer.raise_for_status().json()["items"]))


async def ask(contract: Contract, request: Any) -> dict[str, Any]:
    """The envelope that a request is answered with."""
    return dict(json.loads(await contract.text(request)))


async def call_valid(contract: Contract, request: Any) -> dict[str, Any]:
    """The payload of a request that must succeed."""
    answer = await ask(contract, request)
    assert answer["status"] in ("new", "existing"), answer
    return dict(answer["payload"])


async def call_refused(contract: Contract, request: Any) -> str:
    """Return the message of a request that must be refused without running anything."""
    answer = await ask(contract, request)
    assert (answer["status"], answer["payload"]) == ("error", None), answer
    rows = await contract.journal(answer["tool_name"]) if answer["tool_name"] else []
    assert not rows or (rows[-1]["status"], rows[-1]["attempts"]) == ("refused", 0)
    return str(answer["error_msg"])


async def record(contract: Contract, *hashes: str) -> None:
    """Record the findings once more."""
    findings = [{"finding_id": "finding-1", "composite_hash": each} for each in hashes]
    await call_valid(contract, envelope("record_findings", {"findings": findings}))


def remove_variable_fields(text: bytes) -> bytes:
    """Return the response without the parts that differ each time."""
    return _VOLATILE.sub(rb'"\1":0', text)


def answering(*outputs: Any) -> Callable[[], Any]:
    """Return a function that returns these outputs in turn, and then always the last."""
    left = list(outputs)

    def tool() -> Any:
        return left.pop(0) if len(left) > 1 else left[0]

    return tool
