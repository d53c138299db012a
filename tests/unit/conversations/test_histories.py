"""Conversions when a conversation continues with another provider."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard.conversations.provider_history import NO_RESULT_MESSAGE
from pegboard.model.tool import make_alias
from tests.unit.conversations.sample_conversation import call, history, message

ALTERNATING = ["anthropic_messages", "bedrock_converse", "gemini_generate_content"]


def test_a_call_that_no_caller_answered_is_answered_with_an_error() -> None:
    found = [message(0, "user", "Go"), message(1, "assistant", None, call("a"))]
    answer = history("anthropic_messages", found).items[2]["content"][0]
    assert answer == {"type": "tool_result", "tool_use_id": "a", "content": NO_RESULT_MESSAGE, "is_error": True}


def test_a_result_of_null_is_a_result() -> None:
    found = [message(0, "user", "Go"), message(1, "assistant", None, call("a", result=None))]
    assert "is_error" not in history("anthropic_messages", found).items[2]["content"][0]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("anthropic_messages", r"[a-zA-Z0-9_-]+"),
        ("bedrock_converse", r"[a-zA-Z0-9_.:-]{1,64}"),
        ("mistral", r"[a-zA-Z0-9]{9}"),
        ("openai_chat", r".{1,40}"),
    ],
)
def test_ids_fit_the_provider_are_unique_and_the_same_in_call_and_answer(name: str, pattern: str) -> None:
    ids = ["", "", "twice", "twice", "functions.get_weather:0", "käse", "x" * 70, "abcdefghi"]
    found = [message(0, "user", "Go")]
    found += [message(place + 1, "assistant", None, call(identity, result=1)) for place, identity in enumerate(ids)]
    sent = str(history(name, found).items)
    made = re.findall(r"'(?:id|toolUseId)': '([^']*)', '(?:function|name|type)'", sent)
    answered = re.findall(r"'(?:tool_use_id|tool_call_id)': '([^']*)'", sent)
    if name == "bedrock_converse":
        answered = re.findall(r"'toolUseId': '([^']*)', 'content'", sent)
    assert len(set(made)) == len(ids)
    assert made == answered
    assert all(re.fullmatch(pattern, identity) for identity in made)
    assert made[-1] == "abcdefghi"


def test_ids_are_made_from_the_message_and_stay_whatever_else_is_asked_for() -> None:
    last = message(7, "assistant", None, call("", result=1))
    alone = history("openai_chat", [last]).items
    assert history("openai_chat", [message(0, "user", "Go"), last]).items[1:] == alone


def test_names_fit_the_provider() -> None:
    long, odd = "a" * 100, "send.mail"
    found = [message(0, "user", "Go"), message(1, "assistant", None, call("a", long), call("b", odd), call("c", ""))]
    names = [one["function"]["name"] for one in history("openai_chat", found).items[1]["tool_calls"]]
    assert names[0] == make_alias(long)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert names[2] == "unknown"
    parts = history("gemini_generate_content", found).items[1]["parts"]
    assert parts[1]["functionCall"]["name"] == odd


@pytest.mark.parametrize("name", ALTERNATING)
def test_turns_of_one_role_are_joined_and_the_user_begins(name: str) -> None:
    found = [
        message(0, "assistant", "Hello."),
        message(1, "assistant", "Ask me."),
        message(2, "user", "One"),
        message(3, "user", "Two"),
        message(4, "assistant", "I look.", call("a", result=1)),
        message(5, "user", "Three"),
    ]
    items = history(name, found).items
    assert [item["role"] == "user" for item in items] == [True, False, True, False, True]
    sizes = [len(item.get("content", item.get("parts"))) for item in items]
    assert sizes == [1, 2, 2, 2, 2]
    # The answer to a call comes before the user's next message.
    assert items[-1].get("content", items[-1].get("parts"))[1].get("text") == "Three"


def test_system_texts_stand_together_where_they_stand_apart() -> None:
    found = [message(0, "system", "Be brief."), message(1, "user", "Hi"), message(2, "system", "Be kind.")]
    assert history("anthropic_messages", found).system == "Be brief.\n\nBe kind."
    assert history("bedrock_converse", found).system == [{"text": "Be brief.\n\nBe kind."}]
    assert history("mistral", found).items[0] == {"role": "system", "content": "Be brief.\n\nBe kind."}
    assert [item["role"] for item in history("openai_chat", found).items] == ["system", "user", "system"]


def test_arguments_that_could_not_be_read_are_text_or_an_object_as_the_provider_takes_them() -> None:
    message_text = [
        message(0, "user", "Go"),
        message(1, "assistant", None, call("a", arguments=None, raw_arguments="{oh")),
    ]
    assert history("openai_chat", message_text).items[1]["tool_calls"][0]["function"]["arguments"] == "{oh"
    for name, path in {
        "anthropic_messages": ("content", 0, "input"),
        "ollama": ("tool_calls", 0, "function", "arguments"),
        "langchain": ("tool_calls", 0, "args"),
        "vercel_ai_v7": ("content", 0, "input"),
    }.items():
        found: Any = history(name, message_text).items[1]
        for step in path:
            found = found[step]
        assert found == {"INVALID_JSON": "{oh"}, name


def test_what_another_provider_ran_itself_is_a_call_like_any_other() -> None:
    ran = call("srv_1", "web_search", result=[{"title": "A"}], provider_executed=True)
    found = [message(0, "user", "Go"), message(1, "assistant", "See.", ran, dialect="anthropic_messages")]
    _, asked, answer = history("openai_chat", found).items
    assert asked["tool_calls"][0]["function"]["name"] == "web_search"
    assert answer == {"role": "tool", "tool_call_id": "srv_1", "content": '[{"title":"A"}]'}


def test_a_result_that_holds_pictures_shows_them_if_the_provider_can() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    found = [message(0, "user", "Go"), message(1, "assistant", None, call("a", result={"content": [image]}))]
    block = history("anthropic_messages", found).items[2]["content"][0]["content"][0]
    assert block["source"] == {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert history("openai_chat", found).items[2]["content"] == "[image image/png]"
