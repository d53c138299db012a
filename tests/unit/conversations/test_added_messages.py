"""Messages in any dialect, as a thread stores them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.conversation import Message
from tests.formats import cases
from tests.unit.conversations.message_reading import ADMIN, PAYLOADS, read_body

CALL = {"id": "c1", "name": "add", "arguments": {"b": 1, "a": 2}}
# Fields of one dialect that its own parser of a text cannot distinguish from those of another.
ALIKE = {"vercel_ai_v5": "vercel_ai_v7", "text_qwen25": "text_hermes", "text_granite4": "text_hermes"}


async def added(board: Pegboard, *bodies: Any, dialect: str | None = None) -> list[Message]:
    """All messages of a new thread that these were added to."""
    thread = await board.threads.create(board.admin)
    for body in bodies:
        await board.threads.add(thread.id, board.admin, body, dialect=dialect)
    return list((await board.threads.messages(thread.id, board.admin, limit=200)).items)


@pytest.mark.parametrize(
    "calls",
    [
        [{"from": "AGENT", "payload": {"toolCallId": "c1", "toolName": "add", "args": {"b": 1, "a": 2}}}],
        [{"id": "c1", "toolName": "add", "args": {"b": 1, "a": 2}}],
        [{"toolCallId": "c1", "name": "add", "arguments": {"b": 1, "a": 2}}],
        [CALL],
        [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"b": 1, "a": 2}'}}],
        [{"type": "tool_use", "id": "c1", "name": "add", "input": {"b": 1, "a": 2}}],
        [{"id": "c1", "name": "add", "args": {"b": 1, "a": 2}, "type": "tool_call"}],
        [{"type": "tool-call", "toolCallId": "c1", "toolName": "add", "input": {"b": 1, "a": 2}}],
    ],
)
@pytest.mark.parametrize("key", ["tool_calls", "toolCalls"])
def test_a_message_has_calls_of_any_dialect_in_it(key: str, calls: list[Any]) -> None:
    (message,) = read_body({"role": "assistant", "content": "Let me add", key: calls})
    assert (message.role, message.content, message.calls) == ("assistant", "Let me add", (CALL,))
    assert list(message.calls[0]["arguments"]) == ["b", "a"]


@pytest.mark.parametrize("case", [case for case in cases("call") if not case.dialect.startswith("mcp")], ids=str)
def test_what_a_model_says_in_any_dialect_is_one_message(case: Any) -> None:
    (message,) = read_body(case.payload, case.dialect)
    asked = PAYLOADS.read(case.payload, case.dialect, ADMIN)
    assert message.role == "assistant" and message.dialect in (case.dialect, ALIKE.get(case.dialect))
    assert [call["name"] for call in message.calls] == [call.name for call in asked.calls]
    for call, wanted in zip(message.calls, asked.calls, strict=True):
        if not wanted.is_malformed:
            assert call["arguments"] == wanted.arguments
        else:
            assert call["arguments"] is None and call["error"] and "raw_arguments" in call
        assert call["id"] == wanted.id or (not wanted.id and call["id"].startswith("call_"))
        assert "display_name" not in call and "summary" not in call


@pytest.mark.parametrize(
    "case", [case for case in cases("stream") if case.dialect not in ("mcp", "llama_index")], ids=str
)
def test_the_chunks_of_a_stream_are_what_a_model_says(case: Any) -> None:
    messages = read_body(case.payload, case.dialect)
    asked = PAYLOADS.read(case.payload, case.dialect, ADMIN)
    assert {message.role for message in messages} == {"assistant"}
    assert [call["name"] for one in messages for call in one.calls] == [call.name for call in asked.calls]


async def test_roles_and_texts_are_kept_in_order(board: Pegboard) -> None:
    history = [
        {"role": "developer", "content": "Be brief"},
        {"role": "human", "content": "hi"},
        {"role": "model", "parts": [{"text": "hello"}]},
        {"type": "human", "content": [{"type": "text", "text": "and?"}]},
    ]
    messages = await added(board, history)
    assert [(message.role, message.content) for message in messages] == [
        ("system", "Be brief"), ("user", "hi"), ("assistant", "hello"), ("user", "and?"),
    ]  # fmt: skip
    assert [message.position for message in messages] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"timestamp": "2026-01-02T03:04:05+02:00"}, datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
        ({"created_at": "2026-01-02T03:04:05.123456789Z"}, datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ({"createdAt": "2026-01-02T03:04:05.5Z"}, datetime(2026, 1, 2, 3, 4, 5, 500000, tzinfo=UTC)),
    ],
)
def test_a_message_keeps_the_time_it_says_it_is_from(given: Any, kept: datetime) -> None:
    (message,) = read_body({"role": "user", "content": "hi", **given})
    assert message.timestamp == kept


def test_a_message_that_says_no_time_is_from_now() -> None:
    before = datetime.now(UTC)
    (message,) = read_body({"role": "user", "content": "hi", "timestamp": 1763186400.0})
    assert before <= message.timestamp <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("body", "dialect", "raw"),
    [
        ({"role": "user", "content": "hi"}, None, None),
        ({"role": "assistant", "content": "hi", "tool_calls": [CALL]}, "memory", None),
        (
            {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "toolName": "b", "args": {}}]},
            "mastra",
            None,
        ),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, "openai_chat", "unchanged"),
        ({"role": "user", "content": [{"type": "image", "source": {}}]}, "anthropic_messages", "unchanged"),
        (
            {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png"}}]},
            "gemini_generate_content",
            "unchanged",
        ),
        ({"role": "user", "content": [{"image": {"format": "png", "source": {}}}]}, "bedrock_converse", "unchanged"),
    ],
)
def test_the_original_message_is_kept_if_it_has_more_fields(
    body: dict[str, Any], dialect: str | None, raw: str | None
) -> None:
    (message,) = read_body(body)
    assert (message.dialect, message.raw) == (dialect, body if raw else None)


async def test_numbers_keep_their_digits(stored_board: Pegboard) -> None:
    arguments = {"z": 2**80, "a": 1.5}
    (message,) = await added(
        stored_board, {"role": "assistant", "content": None, "tool_calls": [{**CALL, "arguments": arguments}]}
    )
    assert message.tool_calls[0]["arguments"] == arguments and list(message.tool_calls[0]["arguments"]) == ["z", "a"]


def test_text_of_a_model_is_read_in_the_dialect_it_is_reported_to_be_in() -> None:
    text = 'I will look.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    (message,) = read_body({"role": "assistant", "content": text}, "text_hermes")
    assert message.content == "I will look." and message.calls[0]["name"] == "add"
    assert message.raw == {"role": "assistant", "content": text}
    (message,) = read_body({"role": "assistant", "content": text})
    assert message.content == text and message.calls == ()
