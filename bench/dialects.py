"""The cost of reading calls: two in a message, a stream of thousands of chunks, hostile text, many dialects."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from bench.harness import median, row
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.catalog import BUILT_IN_DIALECTS, load_dialects
from pegboard.dialects.detect import Dialects

ROUNDS = 30
AIM_US = 15.0
FLAT, LINEAR = 1.25, 1.5
COMMON = (
    "openai_chat",
    "openai_responses",
    "anthropic_messages",
    "gemini_generate_content",
    "bedrock_converse",
    "mistral",
    "cohere_v2",
    "langchain",
    "vercel_ai_v7",
    "mastra",
    "mcp",
    "plain",
)
TEXTS = ("<tool_call>", "<think>", '<tool_call>\n{"name": "', "[TOOL_CALLS]", "Action:\n", "<|tool_call_start|>[f(")
_CALLS = (
    ("get_weather", {"city": "Zürich", "unit": "celsius"}, "call_W1"),
    (
        "search_docs",
        {"query": "flights", "filters": {"tags": ["a", "b"], "since": "2026-01-01"}, "limit": 3},
        "call_S1",
    ),
)


def main(_seconds: float) -> bool:
    """Run the measurements; return True if every aim is met."""
    print("\ndialects: reading calls")
    known = load_dialects()
    met = [_messages(known), _flat(), _stream(known), _texts(known)]
    return all(met)


def _messages(known: Dialects) -> bool:
    met = True
    for name in COMMON:
        payload = _message(known, name)
        took = _microseconds(lambda payload=payload: known.read(payload))  # type: ignore[misc]
        row(f"two calls, {name}", f"{took:.1f} µs")
        met &= took < AIM_US
    print(f"  aim: each under {AIM_US:g} µs: {'met' if met else 'MISSED'}")
    return met


def _flat() -> bool:
    """Read the same message with 1, 10 and 100 times as many dialects registered."""
    took = []
    for times in (1, 10, 100):
        others = [_stranger(place) for place in range(len(BUILT_IN_DIALECTS) * (times - 1))]
        many = Dialects([*(make() for make in BUILT_IN_DIALECTS), *others])
        payload = _message(many, "openai_chat")
        took.append(_microseconds(lambda many=many, payload=payload: many.read(payload)))  # type: ignore[misc]
        row(f"two calls, {len(many):,} dialects known", f"{took[-1]:.1f} µs")
    met = took[-1] / took[0] < FLAT
    print(f"  aim: flat in the number of dialects (under {FLAT:g}×): {'met' if met else 'MISSED'}")
    return met


def _stream(known: Dialects) -> bool:
    """Check that the time is linear in the number of chunks."""
    met = True
    for name, chunks in (("openai_chat", _openai_chunks), ("anthropic_messages", _anthropic_chunks)):
        took = []
        for count in (1_000, 10_000):
            payload = chunks(count)
            took.append(_microseconds(lambda name=name, payload=payload: _read_chunks(known, name, payload), once=True))  # type: ignore[misc]
            row(f"stream of {count:,} chunks, {name}", f"{took[-1] / count:.2f} µs a chunk")
        met &= took[1] / took[0] < 10 * LINEAR
    print(f"  aim: linear in the number of chunks (under {LINEAR:g}× a chunk): {'met' if met else 'MISSED'}")
    return met


def _texts(known: Dialects) -> bool:
    """Check that the time is linear in the length of a hostile text."""
    met = True
    for text in TEXTS:
        took = []
        for count in (2_000, 20_000):
            payload = text * count

            def read(payload: str = payload) -> None:
                for name in known:
                    if name.startswith("text_"):
                        known.read(payload, name)

            took.append(_microseconds(read, once=True))
        row(f"hostile text {text[:24]!r} × 20,000, every text dialect", f"{took[1] / 1000:.1f} ms")
        met &= took[1] / took[0] < 10 * LINEAR
    print(f"  aim: linear in the length of the text (under {LINEAR:g}× a character): {'met' if met else 'MISSED'}")
    return met


def _message(known: Dialects, name: str) -> Any:
    into = Assembly(lambda _name: None)
    for tool, arguments, identity in _CALLS:
        into.call(tool, arguments, identity)
    return json.loads(json.dumps(known[name].compose(into.calls())))


def _stranger(place: int) -> Dialect:
    class Stranger(Dialect):
        name = f"stranger{place}"
        keys = frozenset({f"key{place}"})

        def recognises(self, item: Any) -> bool:
            return isinstance(item, dict) and f"key{place}" in item

        def render(self, answers: Any, *, many: bool) -> Any:
            return [answer.id for answer in answers if isinstance(answer, Answer)]

        def define(self, tool: Any) -> Any:
            return tool.name

    return Stranger()


def _read_chunks(known: Dialects, name: str, chunks: list[Any]) -> None:
    stream = known.stream(name)
    for chunk in chunks:
        stream.feed(chunk)
    assert len(stream.end()) <= 1


def _openai_chunks(count: int) -> list[Any]:
    def chunk(call: dict[str, Any]) -> dict[str, Any]:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    head = chunk({"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "'}})
    more = chunk({"index": 0, "function": {"arguments": "some text "}})
    return [head, *([more] * count), chunk({"index": 0, "function": {"arguments": '"}'}})]


def _anthropic_chunks(count: int) -> list[Any]:
    def delta(text: str) -> dict[str, Any]:
        return {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": text},
        }

    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    head = {"type": "content_block_start", "index": 0, "content_block": block}
    return [head, delta('{"a": "'), *([delta("some text ")] * count), delta('"}')]


def _microseconds(work: Callable[[], Any], *, once: bool = False) -> float:
    times = 1 if once else 200
    took = []
    for _ in range(5 if once else ROUNDS):
        begun = time.process_time()
        for _ in range(times):
            work()
        took.append((time.process_time() - begun) / times * 1e6)
    return min(took) if once else median(took)
