"""Small servers that accept envelopes: one that complies with the contract, and others that violate it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from aiohttp import web

TOOL = "lengths"
INPUT = {
    "type": "object",
    "properties": {"words": {"type": "array", "items": {"type": "string"}}, "batch_size": {"type": "integer"}},
    "required": ["words"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"results": {"type": "array", "items": {"type": "object", "required": ["word", "length"]}}},
    "required": ["results"],
}

Spoil = Callable[[dict[str, Any], dict[str, Any]], Any]


def build_response(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response of a tool that complies with the contract."""
    wrong = _wrong(envelope)
    words = [] if wrong else envelope["args"]["words"]
    payload = {"results": [{"word": word, "length": len(word)} for word in words]}
    return {
        "tool_name": envelope.get("tool_name", ""),
        "request_id": envelope.get("request_id", ""),
        "status": "error" if wrong else "new",
        "payload": None if wrong else payload,
        "error_msg": wrong,
        "processing_time_ms": 1,
        "timestamp": datetime.now(UTC).isoformat(),
        "version": "1.0",
    }


def _wrong(envelope: Mapping[str, Any]) -> str | None:
    try:
        UUID(envelope["request_id"])
        datetime.fromisoformat(envelope["timestamp"])
        words = envelope["args"]["words"]
        assert envelope["tool_name"] == TOOL
        assert envelope["version"] == "1.0"
        assert envelope["args"].keys() <= {"words", "batch_size"}
        assert isinstance(envelope["args"].get("batch_size", 1), int)
        assert isinstance(words, list)
        assert all(isinstance(word, str) for word in words)
    except Exception as error:
        return f"not a good call: {error!r}"
    return None


@asynccontextmanager
async def serving(spoil: Spoil = lambda _sent, answer: answer) -> AsyncIterator[str]:
    """The address of a server whose responses are changed by this function, or replaced by other responses."""

    async def handle(request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        answer = spoil(sent, build_response(sent))
        if asyncio.iscoroutine(answer):
            answer = await answer
        return answer if isinstance(answer, web.StreamResponse) else web.json_response(answer)

    app = web.Application()
    app.router.add_post("/", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def changed(**fields: Any) -> Spoil:
    """Return valid responses with other fields; `...` removes a field."""

    def spoil(_sent: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        if answer["status"] == "error":
            return answer
        return {key: value for key, value in {**answer, **fields}.items() if value is not ...}

    return spoil


def errors_changed(**fields: Any) -> Spoil:
    """The same for error answers."""

    def spoil(_sent: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        if answer["status"] != "error":
            return answer
        return {key: value for key, value in {**answer, **fields}.items() if value is not ...}

    return spoil


def reordered(order: Callable[[list[Any]], list[Any]]) -> Spoil:
    """Results in another order than their inputs."""

    def spoil(_sent: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        if answer["payload"]:
            answer["payload"]["results"] = order(answer["payload"]["results"])
        return answer

    return spoil


def counting(_sent: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that is never the same."""
    if answer["payload"]:
        answer["payload"]["clock"] = time.perf_counter_ns()
    return answer


def once_in_a_while(_sent: dict[str, Any], answer: dict[str, Any]) -> Any:
    """HTTP 500 for wrong calls alone."""
    return web.Response(status=500, text="Internal Server Error") if answer["status"] == "error" else answer


def broken(_sent: dict[str, Any], _answer: dict[str, Any]) -> web.Response:
    """HTTP 500 for everything."""
    return web.Response(status=500, text="Internal Server Error")


def garbage(_sent: dict[str, Any], _answer: dict[str, Any]) -> web.Response:
    """Something that is no JSON."""
    return web.Response(text="<html>welcome</html>")


async def hanging(_sent: dict[str, Any], _answer: dict[str, Any]) -> None:
    """No answer at all."""
    await asyncio.Event().wait()


def hanging_on_times(sent: dict[str, Any], answer: dict[str, Any]) -> Any:
    """No answer to calls of no time."""
    return hanging(sent, answer) if sent["timestamp"] == "yesterday" else answer


async def slow(_sent: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return a valid response after 60 ms."""
    await asyncio.sleep(0.06)
    return answer
