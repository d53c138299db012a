"""Detection of the dialect of a payload."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.model.api_errors import Invalid
from pegboard.model.ids import new_id
from tests.formats import NAMES, TOOLS, cases

KNOWN = load_dialects()
SHORT = {
    "openai": "openai_chat",
    "anthropic": "anthropic_messages",
    "gemini": "gemini_generate_content",
    "bedrock": "bedrock_converse",
    "mistral": "mistral",
    "cohere": "cohere_v2",
    "langchain": "langchain",
    "vercel": "vercel_ai_v7",
    "mcp": "mcp",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
OPENAI = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a"}}]}
ANTHROPIC = {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "b", "input": {}}]}


def test_every_promised_dialect_and_short_name_is_known() -> None:
    assert set(KNOWN) >= {*NAMES, "plain", "detailed", "envelope", "memory"}
    assert {short: KNOWN[short].name for short in SHORT} == SHORT


def test_a_list_of_two_dialects_is_refused_and_both_are_named() -> None:
    with pytest.raises(Unreadable, match=r"item 1 of the list is anthropic_messages, those before it are openai_chat"):
        KNOWN.read([OPENAI, ANTHROPIC])


@pytest.mark.parametrize("payload", [None, 5, True, "", " ", {}, {"x": 1}, [1], [[]], [{}], [None], [[{"x": 1}]]])
def test_an_unknown_shape_is_reported_with_what_was_seen_and_what_is_accepted(payload: Any) -> None:
    with pytest.raises(Unreadable, match=r"unrecognised_format: this is not a tool call .*GET /v1/dialects"):
        KNOWN.read(payload)


def test_an_empty_list_has_no_calls() -> None:
    assert KNOWN.read([]) == ("plain", (), True)


def test_an_unknown_name_is_reported_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match=r"Unknown dialect 'opnai' in \?from=\. Did you mean 'openai'\?"):
        KNOWN.read({}, "opnai")


@given(payload=JSON, name=st.sampled_from([None, *KNOWN]))
def test_any_json_in_any_dialect_is_read_or_refused(payload: Any, name: str | None) -> None:
    try:
        asked = KNOWN.read(payload, name)
    except Invalid:
        return
    assert all((type(call.name), type(call.id)) == (str, str) for call in asked.calls)


@given(text=st.text(), name=st.sampled_from([None, *KNOWN]), size=st.integers(1, 9))
def test_any_text_in_any_dialect_is_read_or_refused_whole_and_in_pieces(text: str, name: str | None, size: int) -> None:
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    for payload in (text, pieces):
        with contextlib.suppress(Invalid):
            KNOWN.read(payload, name)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in _paths(item, (*path, key)))]


def _replace_one_value(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replace_one_value(value[path[0]], path[1:], other)
    return copy


@given(data=st.data(), other=JSON)
def test_something_odd_at_any_depth_of_a_payload_is_read_or_refused(data: st.DataObject, other: Any) -> None:
    case = data.draw(st.sampled_from([*cases("call"), *cases("stream"), *cases("result")]))
    payload = _replace_one_value(case.payload, data.draw(st.sampled_from(_paths(case.payload))), other)
    for name in (case.dialect, None):
        with contextlib.suppress(Invalid):
            KNOWN.read(payload, name)


@given(data=st.data())
def test_half_a_stream_never_gives_a_call_that_the_whole_does_not(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(cases("stream")))
    whole = [(call.name, call.arguments) for call in KNOWN.read(case.payload, case.dialect).calls]
    half = case.payload[: data.draw(st.integers(0, len(case.payload)))]
    for call in KNOWN.read(half, case.dialect).calls:
        assert call.is_malformed or not call.is_open or (call.name, call.arguments) in whole


def test_a_stream_that_is_reported_only_when_all_of_it_is_there_loses_nothing() -> None:
    pieces = list('Hello <tool_call>{"name": "a", "arguments": {}}</tool_call><tool_call>{"name": "b"}</tool_call>')
    stream = KNOWN.stream()
    calls = [call for piece in pieces for call in stream.feed(piece)] + stream.end()
    assert [call.name for call in calls] == ["a", "b"]


CALLS = [
    AskedCall("get_weather", {"city": "Zürich", "unit": "celsius"}, "callabc01"),
    AskedCall("search_docs", {"query": 'a "b"\n', "filters": {"tags": ["a"]}, "limit": 3}, "callabc02"),
    AskedCall("list_projects", {}, "callabc03"),
]


@pytest.mark.parametrize("name", [name for name in KNOWN if "compose" in KNOWN[name].abilities])
def test_what_a_dialect_composes_it_reads_again(name: str) -> None:
    # The ids of envelopes are UUIDs.
    asked = [call._replace(id=new_id()) for call in CALLS] if name == "envelope" else CALLS
    composed = json.loads(json.dumps(KNOWN[name].compose(asked)))
    calls = KNOWN.read(composed, name, TOOLS.get).calls
    assert [(call.name, call.arguments) for call in calls] == [(call.name, call.arguments) for call in CALLS]
    assert all(call.is_open for call in calls)
