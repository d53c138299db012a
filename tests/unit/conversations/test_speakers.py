"""The speaker of each message, in payloads of any dialect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.turn_reader import MAX_TURNS
from pegboard.model.api_errors import Invalid
from tests.formats import cases

READER = load_dialects().turn_reader
read_turns, read_assistant_text = READER.read, READER.read_assistant_text
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def received(raw: Any) -> list[tuple[Any, Any]]:
    """The speakers and their words."""
    return [(turn.role, turn.text) for turn in read_turns(raw)]


@pytest.mark.parametrize(
    ("role", "speaker"),
    [
        *(("user", "user"), ("human", "user"), ("assistant", "assistant"), ("ai", "assistant"), ("model", "assistant")),
        *(("system", "system"), ("developer", "system"), ("tool", "tool"), ("function", "tool"), ("USER", "user")),
    ],
)
def test_a_role_is_known_by_every_name_it_has(role: str, speaker: str) -> None:
    assert received({"role": role, "content": "hi"}) == [(speaker, "hi")]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            {"role": "user", "content": [{"type": "text", "text": "see"}, IMAGE, {"type": "text", "text": "it"}]},
            "see\n[image]\nit",
        ),
        ({"role": "user", "content": [{"type": "image", "source": {"media_type": "image/png"}}]}, "[image]"),
        ({"role": "user", "content": [{"type": "document", "source": {"type": "url"}}]}, "[document]"),
        (
            {"role": "user", "parts": [{"text": "a"}, {"inlineData": {"mimeType": "audio/wav", "data": ""}}]},
            "a\n[audio]",
        ),
        ({"role": "user", "content": [{"video": {"format": "mp4"}}]}, "[video]"),
        ({"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_file"}]}, "a\n[file]"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}]},
            "b",
        ),
        ({"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "b"}]}, "b"),
        ({"role": "assistant", "content": [{"reasoningContent": {}}, {"text": "b"}]}, "b"),
        ({"role": "assistant", "content": None, "refusal": "no"}, "no"),
        ({"role": "assistant", "parts": [{"type": "step-start"}, {"type": "text", "text": "a"}]}, "a"),
        ({"role": "assistant", "blocks": [{"block_type": "text", "text": "a"}]}, "a"),
        ({"role": "assistant", "items": [{"content_type": "text", "text": "a"}]}, "a"),
        ({"role": "assistant", "content": ""}, None),
        ({"role": "user", "content": {"type": "other"}}, "[part]"),
    ],
)
def test_content_is_read_as_text_and_what_is_none_is_named(message: dict[str, Any], text: str | None) -> None:
    assert read_turns(message)[0].text == text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"choices": [{"message": {"content": "hi"}}]}, [("assistant", "hi")]),
        ({"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}]}, [("assistant", "hi")]),
        ({"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}}, [("assistant", "hi")]),
        ({"message": {"role": "assistant", "content": "hi"}, "done": True}, [("assistant", "hi")]),
        ({"messages": [{"type": "human", "content": "a"}]}, [("user", "a")]),
        ({"type": "human", "data": {"content": "a", "type": "human"}}, [("user", "a")]),
        ({"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "a"}}, [("user", "a")]),
        ({"type": "TextMessage", "source": "user", "content": "a"}, [("user", "a")]),
        ({"type": "TextMessage", "source": "writer", "content": "a"}, [("assistant", "a")]),
        ({"type": "UserMessage", "source": "user", "content": "a"}, [("user", "a")]),
        ({"text": "hm", "toolCalls": []}, [("assistant", "hm")]),
        ({"content": {"role": "user", "parts": [{"text": "a"}]}, "author": "user"}, [("user", "a")]),
        ("nothing that is known", [(None, None)]),
        ({}, [(None, None)]),
        ([], []),
        (None, [(None, None)]),
    ],
)  # fmt: skip
def test_messages_are_found_in_what_wraps_them(raw: Any, expected: list[Any]) -> None:
    assert received(raw) == expected


def test_what_one_request_holds_is_distinguished() -> None:
    parts = [
        {"part_kind": "system-prompt", "content": "be brief"},
        {"part_kind": "user-prompt", "content": ["look", {"kind": "image-url", "url": "u"}]},
        {"part_kind": "tool-return", "tool_name": "a", "tool_call_id": "c1", "content": 1},
        {"part_kind": "retry-prompt", "content": "again"},
    ]
    found = read_turns(
        [{"kind": "request", "parts": parts}, {"kind": "response", "parts": [{"part_kind": "text", "content": "b"}]}]
    )
    assert [(turn.role, turn.text) for turn in found] == [
        ("system", "be brief"), ("user", "look\n[image]"), ("tool", None), ("user", "again"), ("assistant", "b"),
    ]  # fmt: skip
    assert [len(turn.raw["parts"]) for turn in found] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("key", "answer", "words"),
    [
        ("content", {"type": "tool_result", "tool_use_id": "t", "content": "1"}, {"type": "text", "text": "and?"}),
        ("content", {"toolResult": {"toolUseId": "t", "content": []}}, {"text": "and?"}),
        ("parts", {"functionResponse": {"name": "a", "response": {}}}, {"text": "and?"}),
    ],
)
def test_answers_in_a_user_s_message_are_a_turn_of_their_own(key: str, answer: Any, words: Any) -> None:
    answers, rest = read_turns({"role": "user", key: [answer, words]})
    assert (answers.role, answers.raw[key]) == ("tool", [answer])
    assert (rest.role, rest.text, rest.raw) == ("user", "and?", {"role": "user", key: [words]})
    assert received({"role": "user", key: [answer]}) == [("tool", None)]


def test_items_of_one_response_are_one_turn() -> None:
    items = [
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hi"}],
        },
        {"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "done"}],
        },
    ]
    found = read_turns([{"role": "user", "content": "do"}, *items])
    assert [(turn.role, turn.text) for turn in found] == [
        ("user", "do"),
        ("assistant", "hi"),
        ("tool", None),
        ("assistant", "done"),
    ]
    assert found[1].raw == items[:3] and found[2].raw == items[3]
    assert read_turns({"output": items[:3], "object": "response"})[0].raw == items[:3]


@pytest.mark.parametrize("output", [{"message": {"role": "user", "content": "x"}}, [{"role": "user", "content": "x"}]])
def test_the_output_of_a_tool_is_never_read_as_a_users_message(output: Any) -> None:
    results = [
        {"type": "tool-result", "toolCallId": "c", "toolName": "a", "output": output},
        {"type": "function_call_output", "call_id": "c", "output": output},
        {"role": "tool", "tool_call_id": "c", "output": output},
    ]
    assert [turn.role for result in results for turn in read_turns(result)] == ["tool", "tool", "tool"]


def test_a_response_is_kept_as_the_message_that_a_history_takes() -> None:
    content = [{"type": "text", "text": "hi"}]
    response = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": content,
        "stop_reason": "end_turn",
    }
    assert read_turns(response)[0].raw == {"role": "assistant", "content": content}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "b"),
        ([{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}], None),
        ("<think>hm</think>Let me see.\n<tool_call>\n{\"name\": \"a\"}\n</tool_call>", "Let me see."),
        ("just words", "just words"),
        ("hm<|close|>think<|sep|><|open|>response<|sep|>I see.<|close|>response<|sep|><|open|>tools<|sep|>", "I see."),
        ('{"name": "a", "parameters": {}}<|eot_id|>', None),
        ([{"choices": [{"delta": {"content": "Hel"}}]}, {"choices": [{"delta": {"content": "lo"}}]}], "Hello"),
        ('data: {"choices":[{"delta":{"content":"Hello"}}]}\n\ndata: [DONE]\n\n', "Hello"),
        ([{"type": "content_block_delta", "delta": {"text": "Hi"}}, {"type": "message_stop"}], "Hi"),
        ([{"contentBlockDelta": {"delta": {"text": "Hi"}}}, {"messageStop": {}}], "Hi"),
        ([{"type": "response.output_text.delta", "delta": "Hi"}, {"type": "response.completed"}], "Hi"),
        ([{"type": "text-delta", "id": "1", "delta": "Hi"}, {"type": "finish"}], "Hi"),
        ([{"type": "TEXT_MESSAGE_CONTENT", "delta": "Hi"}], "Hi"),
        ([{"candidates": [{"content": {"role": "model", "parts": [{"text": t}]}}]} for t in ("Hel", "lo")], "Hello"),
        ([{"message": {"role": "assistant", "content": t}, "done": False} for t in ("Hel", "lo")], "Hello"),
        (['0:"Hel"\n', '0:"lo"\n', 'e:{"finishReason":"stop"}\n'], "Hello"),
        ({"name": "a", "arguments": {}}, None),
    ],
)  # fmt: skip
def test_the_assistant_s_words_are_found_in_messages_and_streams(raw: Any, text: str | None) -> None:
    assert read_assistant_text(raw) == text


@pytest.mark.parametrize("case", cases("call") + cases("stream"), ids=str)
def test_no_real_payload_makes_the_assistant_say_a_call(case: Any) -> None:
    text = read_assistant_text(case.payload) or ""
    assert "get_weather" not in text and "Zürich" not in text and "{" not in text


def test_more_turns_than_anyone_would_say_are_refused() -> None:
    with pytest.raises(Invalid, match="More than 10,000 messages"):
        read_turns([{"role": "user", "content": "a"}] * (MAX_TURNS + 1))


_KEYS = st.sampled_from(
    ["role", "content", "parts", "type", "kind", "text", "tool_calls", "toolCalls", "message", "messages", "choices",
     "lc", "output", "candidates", "id", "data", "kwargs", "part_kind", "functionResponse", "delta", "event_kind",
     "raw_item", "function"]
)  # fmt: skip
_WORDS = st.sampled_from(
    ["user", "assistant", "tool", "text", "message", "request", "response", "tool_result", "AIMessageChunk",
     "user-prompt", "raw_response_event", "function_call", "text-delta", "data: {}", "0:\"a\"", "<think>", "{", ""]
) | st.text(max_size=5)  # fmt: skip
_HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(_HOSTILE)
def test_any_payload_has_speakers_or_is_refused(raw: Any) -> None:
    try:
        for turn in read_turns(raw):
            assert turn.role in (None, "user", "assistant", "system", "tool")
            assert turn.text is None or len(turn.text) > 0
        text = read_assistant_text(raw)
    except Invalid as error:
        assert str(error)
    else:
        assert text is None or len(text) > 0


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(min_size=1, max_size=20)), max_size=8)
)
def test_a_history_says_what_was_reported(talk: list[tuple[str, str]]) -> None:
    assert received([{"role": role, "content": text} for role, text in talk]) == talk
