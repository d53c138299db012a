"""Streams in the format of the network."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.parsed_calls import Unreadable
from pegboard.dialects.sse_lines import parse_chunks

EVENTS = 'event: a\ndata: {"x": 1}\n\n: a comment\nid: 7\ndata: {"y":\ndata: 2}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    ("payload", "chunks"),
    [
        (EVENTS, [{"x": 1}, {"y": 2}]),
        (EVENTS.replace("\n", "\r\n"), [{"x": 1}, {"y": 2}]),
        (EVENTS.split("\n"), [{"x": 1}, {"y": 2}]),
        (['data: {"x": 1}', 'data: {"y": 2}', "data: [DONE]"], [{"x": 1}, {"y": 2}]),
        ('{"x": 1}\n{"y": 2}\n', [{"x": 1}, {"y": 2}]),
        ('  {"x": 1}', {"x": 1}),
        ("[1]", [1]),
        ('data: {"x": ', 'data: {"x": '),
        ('{"x": 1} and more', '{"x": 1} and more'),
        ("Hello", "Hello"),
        (["Hel", "lo"], ["Hel", "lo"]),
        ({"x": 1}, {"x": 1}),
    ],
)
def test_events_and_lines_are_their_data_and_everything_else_is_itself(payload: Any, chunks: Any) -> None:
    assert parse_chunks(payload) == chunks


@given(st.text() | st.lists(st.text()))
def test_any_text_is_taken(payload: Any) -> None:
    assert parse_chunks(payload) is not None


def test_data_that_is_no_json_is_examined_once() -> None:
    lines = "data: x\n" * 50_000
    assert parse_chunks(lines) == lines


@pytest.mark.parametrize("text", ['{"name": "a", "name": "b"}', 'data: {"name": "a", "name": "b"}\n\n'])
def test_a_key_that_is_there_twice_is_refused_in_texts_and_streams(text: str) -> None:
    with pytest.raises(Unreadable, match="twice"):
        parse_chunks(text)
    with pytest.raises(Unreadable, match="twice"):
        parse_chunks(f"{text.strip()}\n{text}")


def test_the_numbers_of_a_stream_are_exact() -> None:
    (chunk,) = parse_chunks('data: {"n": 12345678901234567890123}\n\n')
    assert chunk == {"n": 12345678901234567890123}
