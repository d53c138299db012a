"""Conversations written as a provider's messages and read again."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from pegboard.model.conversation import Message
from tests.unit.conversations.test_added_messages import added
from tests.unit.conversations.test_answers import PAIRS, payload


def summarize(messages: list[Message]) -> list[Any]:
    """Return the speaker and text of each message, and the outcome of each call."""
    return [
        (one.role, one.content, [(call["name"], call["arguments"], call.get("result")) for call in one.tool_calls])
        for one in messages
    ]


async def test_a_conversation_goes_out_and_comes_in_again_the_same(board: Pegboard) -> None:
    pairs = [pair for pair in PAIRS if "history" in board.dialects[pair[0]].abilities]
    assert len(pairs) >= 12
    for dialect, call, result in pairs:
        bodies = (
            {"role": "user", "content": "Weather?"},
            payload("call", dialect, call),
            payload("result", dialect, result),
        )
        messages = await added(board, *bodies)
        calls = [call for call in messages[1].tool_calls if "result" in call]
        thread_id = messages[0].thread_id
        history = await board.threads.history(thread_id, board.admin, dialect)
        again = await added(board, history.items, dialect=dialect)
        assert [message.role for message in again] == ["user", "assistant"], dialect
        found = [call for call in again[1].tool_calls if "result" in call and call["name"] == "get_weather"]
        assert [(call["name"], call["arguments"], call["result"]) for call in found] == [
            (call["name"], call["arguments"], call["result"]) for call in calls if call["name"] == "get_weather"
        ], dialect


async def test_a_conversation_begun_with_one_provider_continues_with_another(board: Pegboard) -> None:
    for dialect, call, result in PAIRS[:8]:
        bodies = (
            {"role": "user", "content": "Weather?"},
            payload("call", dialect, call),
            payload("result", dialect, result),
        )
        messages = await added(board, *bodies)
        for other in ("openai_chat", "anthropic_messages", "gemini_generate_content", "memory"):
            history = await board.threads.history(messages[0].thread_id, board.admin, other)
            again = await added(board, history.items)
            assert summarize(again) == summarize(messages), (dialect, other)


async def test_a_dialect_that_is_none_is_refused_by_name(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    with pytest.raises(Invalid, match="Unknown dialect 'klingon'"):
        await board.threads.history(thread.id, board.admin, "klingon")
