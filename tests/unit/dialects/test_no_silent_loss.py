"""A payload that shows a call is read or refused; it is never answered as if it had none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from pegboard.core.refusals import Invalid
from pegboard.dialects.asked import Unreadable
from pegboard.dialects.catalog import dialects
from tests.formats import TOOLS, Case, cases

KNOWN = dialects()
CASES = [
    case
    for case in cases("call")
    if not isinstance(case.payload, str) and any(call["name"] in TOOLS for call in case.about["expected"])
]
WRAPPERS = ("message", "response", "data", "output", "result", "body", "content", "item", "payload", "messages")
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Bern"}}}


def changed(value: Any) -> Iterator[Any]:
    """The payload with one of its values in another shape: a list as its first item, an object in a list or wrapped."""
    if isinstance(value, list):
        if value:
            yield value[0]
        for place, item in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in changed(item))
    elif isinstance(value, dict):
        yield [value]
        yield {"payload": value}
        for key, item in value.items():
            yield from ({**value, key: other} for other in changed(item))
            rest = {name: other for name, other in value.items() if name != key}
            yield {**rest, renamed(key): item}


def renamed(key: str) -> str:
    """The key in camel case instead of snake case, or the other way round."""
    if "_" in key:
        return re.sub("_([a-z])", lambda found: found[1].upper(), key)
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", key)


def shows_call(value: Any) -> bool:
    """Whether the name of a tool stands in the payload, as a name and not in a text."""
    if isinstance(value, dict):
        return any(shows_call(item) for item in value.values())
    if isinstance(value, list):
        return any(map(shows_call, value))
    return isinstance(value, str) and value in TOOLS


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_known_payload_in_another_shape_is_read_or_refused(case: Case) -> None:
    wrapped = [{name: case.payload} for name in WRAPPERS] + [{name: [case.payload]} for name in WRAPPERS]
    for payload in (*changed(case.payload), *wrapped):
        if not shows_call(payload):
            continue
        for name in (None, case.dialect):
            try:
                assert KNOWN.read(payload, name).calls, f"{name}: {payload}"
            except Invalid:
                continue


@pytest.mark.parametrize("holder", ["message", "choice", "delta", "history", "messages"])
def test_one_object_in_the_place_of_the_list_of_calls_is_read(holder: str) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": CALL}
    payload: Any = {
        "message": message,
        "choice": {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]},
        "delta": [
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ],
        "history": [{"role": "user", "content": "Weather?"}, message],
        "messages": {"messages": [{"role": "user", "content": "Weather?"}, message]},
    }[holder]
    (call,) = KNOWN.read(payload).calls
    assert (call.name, call.arguments, call.id) == ("get_weather", {"city": "Bern"}, "c1")


@pytest.mark.parametrize("dialect", [None, "openai", "groq"])
def test_tools_that_the_provider_ran_are_kept_also_from_a_stream(dialect: str | None) -> None:
    def chunk(delta: Any, finish: str | None = None) -> Any:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}

    begun = {"index": 0, "type": "search", "arguments": '{"query": "x"}'}
    chunks = [
        chunk({"role": "assistant", "executed_tools": [begun]}),
        chunk({"executed_tools": [{**begun, "output": "7.5"}]}),
        chunk({"content": "7.5"}, "stop"),
    ]
    (call,) = KNOWN.read(chunks, dialect).calls
    assert (call.name, call.arguments, call.result) == ("search", {"query": "x"}, "7.5")
    assert call.provider_executed


def test_a_call_that_the_named_dialect_does_not_read_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"holds a call in a shape that .* does not read"):
        KNOWN.read({"role": "assistant", "content": "", "tool_calls": [{"name": "get_weather", "args": {}}]}, "openai")


@pytest.mark.parametrize(
    "payload",
    [
        {"role": "assistant", "content": [{"type": "text", "text": "{\"tool_calls\": []}"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "Done."}],
            "usage": {"output_tokens": 3, "server_tool_use": {"web_search_requests": 1}},
        },
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi", "tool_calls": []}}]},
    ],
)  # fmt: skip
def test_a_message_without_a_call_is_answered_without_one(payload: Any) -> None:
    assert KNOWN.read(payload).calls == ()
