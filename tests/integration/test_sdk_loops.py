"""An agent loop with each official SDK: a turn with a call, and the last turn without one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY
from tests.integration import sdk_loops as loops
from tests.integration.sdk_loops import Board, Loop
from tests.surfaces.rest.clients import client
from tests.upstreams import Received, Wire, answer, answer_json, upstream

ARGUMENTS = {"a": 1, "b": 2}
CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": json.dumps(ARGUMENTS)}}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}


def response(item: dict[str, Any]) -> dict[str, Any]:
    about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "tools": [], "tool_choice": "auto"}
    return {**about, "parallel_tool_calls": True, "output": [item]}


def message(block: dict[str, Any], reason: str) -> dict[str, Any]:
    about = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {**about, "content": [block], "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}}


def candidate(part: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}


def converse(block: dict[str, Any], reason: str) -> dict[str, Any]:
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    output = {"message": {"role": "assistant", "content": [block]}}
    return {"output": output, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}


OPENAI = [
    completion({"content": None, "tool_calls": [CALL]}, "tool_calls"),
    completion({"content": "3", "refusal": None, "annotations": []}, "stop"),
]
ANSWER = [{"role": "tool", "tool_call_id": "call_1", "content": "3 by the board"}]


def events(*chunks: dict[str, Any]) -> str:
    """Return the chunks of a stream as its server sends them."""
    named = [f"event: {chunk['type']}\n" if "type" in chunk else "" for chunk in chunks]
    return "".join(f"{name}data: {json.dumps(chunk)}\n\n" for name, chunk in zip(named, chunks, strict=True))


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": reason, "delta": delta}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def streamed(block: dict[str, Any], delta: dict[str, Any], reason: str) -> str:
    return events(
        {"type": "message_start", "message": {**message(block, reason), "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


STREAM = [
    events(
        chunk({"role": "assistant", "content": None}),
        chunk({"tool_calls": [{"index": 0, **CALL, "function": {"name": "add", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": json.dumps(ARGUMENTS)}}]}),
        chunk({}, "tool_calls"),
    ),
    events(chunk({"role": "assistant", "content": ""}), chunk({"content": "3"}), chunk({}, "stop")),
]
ANTHROPIC_STREAM = [
    streamed(
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}},
        {"type": "input_json_delta", "partial_json": json.dumps(ARGUMENTS)},
        "tool_use",
    ),
    streamed({"type": "text", "text": ""}, {"type": "text_delta", "text": "3"}, "end_turn"),
]
OUTPUT = {"type": "output_text", "text": "3", "annotations": []}
RESPONSES = [
    response(
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": json.dumps(ARGUMENTS)}
    ),
    response({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [OUTPUT]}),
]
ANTHROPIC = [
    message({"type": "tool_use", "id": "toolu_1", "name": "add", "input": ARGUMENTS}, "tool_use"),
    message({"type": "text", "text": "3"}, "end_turn"),
]
GEMINI = [candidate({"functionCall": {"name": "add", "args": ARGUMENTS}}), candidate({"text": "3"})]
MISTRAL = [
    completion({"content": "", "tool_calls": [{**CALL, "id": "abcdefghi", "index": 0}]}, "tool_calls"),
    completion({"content": "3", "tool_calls": None}, "stop"),
]
COHERE = [
    {
        "id": "x",
        "finish_reason": "TOOL_CALL",
        "message": {"role": "assistant", "tool_plan": "I will add.", "tool_calls": [CALL]},
    },
    {
        "id": "y",
        "finish_reason": "COMPLETE",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "3"}]},
    },
]
BEDROCK = [
    converse({"toolUse": {"toolUseId": "tooluse_1", "name": "add", "input": ARGUMENTS}}, "tool_use"),
    converse({"text": "3"}, "end_turn"),
]
LOOPS: list[tuple[Loop, list[Any]]] = [
    (loops.openai_message, OPENAI),
    (loops.openai_choice, OPENAI),
    (loops.openai_history, OPENAI),
    (loops.openai_stream, STREAM),
    (loops.openai_responses, RESPONSES),
    (loops.anthropic, ANTHROPIC),
    (loops.anthropic_stream, ANTHROPIC_STREAM),
    (loops.gemini, GEMINI),
    (loops.mistral, MISTRAL),
    (loops.cohere, COHERE),
    (loops.bedrock, BEDROCK),
    (loops.langchain, []),
    (loops.pydantic_ai, OPENAI),
]


@pytest.mark.parametrize(("loop", "script"), LOOPS, ids=[loop.__name__ for loop, _ in LOOPS])
async def test_a_loop_runs_the_call_and_ends_with_the_last_turn(loop: Loop, script: list[Any]) -> None:
    left = list(script)

    async def behave(request: Received, wire: Wire) -> None:
        message = left.pop(0)
        reply = (
            answer(200, message, Content_Type="text/event-stream") if isinstance(message, str) else answer_json(message)
        )
        await reply(request, wire)

    async with upstream(behave) as provider, memory_board(admin_key=KEY) as board, client(board) as speaker:

        @board.tool
        async def add(a: int, b: int) -> str:
            """Add two integers."""
            return f"{a + b} by the board"

        seen = Board(speaker)
        assert await loop(provider.url, seen) == "3"
        assert left == []
        assert len(seen.answers) == 2
        if script in (OPENAI, STREAM) and loop is not loops.pydantic_ai:
            assert seen.answers == [ANSWER, []]
        (row,) = await calls_of(board, "add")
        assert row.status == "succeeded"
        if script:
            assert len(provider.received) == 2
            assert b"3 by the board" in provider.last.body
