"""Random conversations can be written for every provider."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.conversations.provider_history import build_history
from pegboard.model.conversation import Message
from tests.unit.conversations.sample_conversation import KNOWN, TALKING, WHEN

MAIN = [
    *("openai_chat", "openai_responses", "anthropic_messages", "gemini_generate_content", "bedrock_converse"),
    *("cohere_v2", "mistral", "ollama", "langchain", "pydantic_ai", "vercel_ai_v7", "openai_legacy_function_call"),
]
ALTERNATING = ["anthropic_messages", "bedrock_converse", "gemini_generate_content"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["", " ", "call_1", "a.b", "{"])
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.fixed_dictionaries({"arguments": st.dictionaries(TEXTS, VALUES, max_size=3)}) | st.fixed_dictionaries(
    {"arguments": st.none(), "raw_arguments": TEXTS}
)
OUTCOMES: st.SearchStrategy[dict[str, Any]] = (
    st.just({})
    | st.fixed_dictionaries({"result": VALUES})
    | st.fixed_dictionaries({"error": TEXTS})
    | st.fixed_dictionaries({"error": TEXTS, "result": VALUES})
)
CALLS = st.builds(
    lambda identity, name, arguments, outcome: {"id": identity, "name": name, **arguments, **outcome},
    TEXTS,
    st.sampled_from(["get_weather", "get_time", "send.mail", "x" * 90, "-a"]) | TEXTS,
    ARGUMENTS,
    OUTCOMES,
)
TURNS = st.tuples(
    st.sampled_from(["user", "assistant", "assistant", "system"]), st.none() | TEXTS, st.lists(CALLS, max_size=3)
)


def message(place: int, role: Any, content: str | None, calls: list[dict[str, Any]]) -> Message:
    return Message(f"m{place}", "t", place, role, content, WHEN, tuple(calls) if role == "assistant" else ())


@pytest.mark.parametrize("name", MAIN)
@given(turns=st.lists(TURNS, max_size=6))
def test_every_call_has_one_answer_and_turns_are_as_demanded(name: str, turns: list[Any]) -> None:
    messages = [message(place, *turn) for place, turn in enumerate(turns)]
    received = build_history(messages, KNOWN[name])
    orjson.dumps(received.items)
    calls = KNOWN.read(received.items, name).calls if received.items else ()
    assert len(calls) == sum(len(message_text.tool_calls) for message_text in messages)
    assert not any(call.is_open for call in calls)
    assert all(call.name for call in calls)
    if name in ALTERNATING:
        roles = [item["role"] for item in received.items]
        assert roles == [
            ("user", "model" if name.startswith("gemini") else "assistant")[i % 2] for i in range(len(roles))
        ]


@given(turns=st.lists(TURNS, max_size=4))
def test_no_dialect_stumbles(turns: list[Any]) -> None:
    messages = [message(place, *turn) for place, turn in enumerate(turns)]
    for name in TALKING:
        assert orjson.dumps(build_history(messages, KNOWN[name])._asdict())
