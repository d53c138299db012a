"""Messages from a provider are returned to it unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.conversations.sample_conversation import call, history, message

DATA = "aGk="
PICTURES: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}],
    },
    "anthropic_messages": {
        "role": "user",
        "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}],
    },
    "gemini_generate_content": {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": DATA}}]},
}
THINKING = {"type": "thinking", "thinking": "Hm", "signature": "s"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Bern"}}
ITEMS = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": '{"city":"Bern"}'},
]


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("other", PICTURES)
def test_a_picture_is_sent_back_where_it_came_from_and_is_reported_elsewhere(name: str, other: str) -> None:
    found = [message(0, "user", "[image]", dialect=name, raw=PICTURES[name])]
    (item,) = history(other, found).items
    assert (item == PICTURES[name]) == (name == other)
    assert ("[image]" in str(item)) == (name != other)


def test_a_whole_response_of_anthropic_becomes_its_message() -> None:
    response: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
    }
    response |= {"content": [THINKING, USE], "usage": {"input_tokens": 1, "output_tokens": 1}}
    asked = message(1, "assistant", None, call("toolu_1", result=7), dialect="anthropic_messages", raw=response)
    items = history("anthropic_messages", [message(0, "user", "Go"), asked]).items
    assert items[1] == {"role": "assistant", "content": [THINKING, USE]}
    assert items[2]["content"] == [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "7"}]


@pytest.mark.parametrize("raw", [ITEMS, {"object": "response", "output": ITEMS}])
def test_items_keep_their_ids_and_their_reasoning(raw: Any) -> None:
    found = [message(0, "assistant", None, call("call_1", result=7), dialect="openai_responses", raw=raw)]
    assert history("openai_responses", found).items == [
        *ITEMS,
        {"type": "function_call_output", "call_id": "call_1", "output": "7"},
    ]


def test_a_response_of_openai_is_sent_back_without_its_nulls() -> None:
    function = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    assistant = {"role": "assistant", "content": None, "tool_calls": [function], "function_call": None, "audio": None}
    raw = {"choices": [{"index": 0, "message": assistant | {"reasoning_content": "Hm"}, "finish_reason": "tool_calls"}]}
    found = [message(0, "assistant", None, call("call_1", result=7), dialect="openai_chat", raw=raw)]
    asked, _ = history("openai_chat", found).items
    assert asked == {"role": "assistant", "content": None, "tool_calls": [function], "reasoning_content": "Hm"}


def test_contents_that_came_in_a_stream_become_one() -> None:
    pieces = [{"role": "model", "parts": [{"text": "I "}]}, {"role": "model", "parts": [{"text": "look."}]}]
    found = [
        message(0, "user", "Go"),
        message(1, "assistant", "I look.", dialect="gemini_generate_content", raw=pieces),
    ]
    items = history("gemini_generate_content", found).items
    assert items[1] == {"role": "model", "parts": [{"text": "I "}, {"text": "look."}]}


def test_an_event_of_an_agent_is_made_from_its_content() -> None:
    parts = [{"functionCall": {"id": "a", "name": "get_weather", "args": {}}, "thoughtSignature": "cw=="}]
    raw = {"role": "model", "parts": parts}
    found = [message(0, "assistant", None, call("a", result=7), dialect="google_adk", raw=raw)]
    assert history("google_adk", found).items[0]["content"] == raw


def test_a_text_is_sent_back_as_the_model_wrote_it() -> None:
    raw = 'I look.\n<tool_call>\n{"name":"get_weather","arguments":{"city":"Bern"}}\n</tool_call>'
    found = [message(0, "assistant", "I look.", call("", result=7), dialect="text_hermes", raw=raw)]
    assert history("text_hermes", found).items == [
        {"role": "assistant", "content": raw},
        {"role": "tool", "name": "get_weather", "content": "7"},
    ]


@pytest.mark.parametrize(
    ("raw", "calls"),
    [
        # A missing call, an additional call, an item that is not a message, or an id that was used before.
        ({"role": "assistant", "content": [THINKING]}, [call("toolu_1", result=7)]),
        ({"role": "assistant", "content": [THINKING, USE]}, []),
        ({"role": "assistant", "content": [THINKING, USE]}, [call("toolu_1", "get_time", result=7)]),
        ([{"type": "content_block_stop", "index": 0}], [call("toolu_1", result=7)]),
        ("text", [call("toolu_1", result=7)]),
        ({"role": "assistant", "content": [THINKING, USE]}, [call("toolu_0", result=7)]),
    ],
)
def test_what_no_longer_fits_is_made_again(raw: Any, calls: list[dict[str, Any]]) -> None:
    before = message(1, "assistant", None, call("toolu_1" if calls and calls[0]["id"] == "toolu_0" else "x", result=1))
    message_text = message(2, "assistant", "See.", *calls, dialect="anthropic_messages", raw=raw)
    item = history("anthropic_messages", [message(0, "user", "Go"), before, message_text]).items[3]
    assert item["content"][0] == {"type": "text", "text": "See."}
    assert [block["name"] for block in item["content"][1:]] == [one["name"] for one in calls]


def test_what_the_provider_ran_itself_is_answered_by_it_alone() -> None:
    ran = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]}
    raw = {"role": "assistant", "content": [ran, found, {"type": "text", "text": "See."}]}
    calls = [call("srvtoolu_1", "web_search", result=found["content"], provider_executed=True)]
    message_text = message(1, "assistant", "See.", *calls, dialect="anthropic_messages", raw=raw)
    assert history("anthropic_messages", [message(0, "user", "Go"), message_text]).items[1:] == [raw]


def test_an_entry_of_mistrals_conversations_becomes_a_message() -> None:
    asked = call("abcdefghi", result=7, api="conversations")
    entry = {"type": "function.call", "tool_call_id": "abcdefghi", "name": "get_weather", "arguments": "{}"}
    found = [message(0, "assistant", None, asked, dialect="mistral", raw=[entry])]
    assert [item["role"] for item in history("mistral", found).items] == ["assistant", "tool"]


def test_a_signature_that_was_kept_with_its_call_is_sent_back_too() -> None:
    signed = call("a", result=7, thought_signature_b64="cw==", duration_ms=3)
    found = [message(0, "user", "Go"), message(1, "assistant", None, signed, dialect="gemini_generate_content")]
    assert history("gemini_generate_content", found).items[1]["parts"][0]["thoughtSignature"] == "cw=="
    assert "cw==" not in str(history("google_adk", found).items)
