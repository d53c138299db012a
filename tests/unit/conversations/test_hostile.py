"""Invalid and hostile bodies: refused with an error, and nothing is added."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from tests.formats import cases
from tests.unit.conversations.message_reading import read_body

CALL = {"id": "c", "name": "a", "arguments": {}}


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (None, "this is null"),
        (5, "this is a number"),
        (True, "true or false"),
        ("", "an empty text"),
        ("just words", "a text of 10 characters"),
        ([], "an empty list"),
        ({}, "an empty object"),
        ({"foo": 1}, "an object with the keys 'foo'"),
        ([{"role": "user", "content": "hi"}, {"foo": 1}], "item 1 of the list is an object with the keys 'foo'"),
        ({"role": "wizard", "content": "hi"}, "an object with the keys 'role', 'content'"),
        ({"role": "user"}, "content: must be a text, a list of parts, or null"),
        ({"role": "assistant"}, "content: must be a text"),
        ({"role": "user", "content": 5}, "content: must be a text"),
        ({"role": "assistant", "content": "", "tool_calls": "all"}, "tool_calls: must be a list of calls"),
        ({"role": "assistant", "content": "", "tool_calls": {"a": 1}}, "tool_calls: must be a list of calls"),
        ({"role": "assistant", "content": "", "tool_calls": [1, 2]}, "unrecognised_format"),
        ({"role": "assistant", "content": "", "tool_calls": [{"foo": 1}]}, "unrecognised_format"),
        ({"role": "tool", "content": "1"}, "an answer to a call needs the call's id"),
        ({"role": "tool", "tool_call_id": "c"}, "an answer to a call needs the call's id"),
        ({"role": "user", "content": "x", "timestamp": "yesterday"}, "timestamp: it is not ISO 8601"),
        ({"role": "user", "content": "x", "timestamp": "2026-01-01T00:00:00"}, "timestamp: it has no zone"),
        ({"role": "user", "content": "x" * (2**20 + 1)}, "content: 1,048,577 bytes of text"),
        ({"role": "user", "content": "é" * (2**19 + 1)}, "content: 1,048,578 bytes of text"),
        ({"role": "assistant", "content": "", "tool_calls": [CALL] * 10_000}, "10,000 calls in one payload"),
        ([CALL] * 101, "101 calls in one payload, at most 100"),
        ({"role": "user", "content": nested(500)}, "is nested too deeply, at most 100 levels"),
        ({"role": "user", "content": [{"a": object()}]}, "must be JSON"),
        ({"role": "user", "content": "\ud800"}, "surrogate"),
        ({"role": "user", "content": [0] * 200_001}, "more than 200,000 values"),
        ([{"role": "user", "content": ""}] * 10_001, "More than 10,000 messages"),
    ],
)  # fmt: skip
def test_a_body_that_is_no_message_is_refused_in_words(body: Any, says: str) -> None:
    with pytest.raises(Invalid) as raised:
        read_body(body)
    assert says in str(raised.value)
    assert len(str(raised.value)) < 2000


def test_a_circle_is_refused() -> None:
    circle: dict[str, Any] = {"role": "user"}
    circle["content"] = [circle]
    with pytest.raises(Invalid, match="nested too deeply"):
        read_body(circle)


def test_a_dialect_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match=r"Unknown dialect 'klingon' in \?from="):
        read_body({"role": "user", "content": "hi"}, "klingon")


async def test_a_message_larger_than_is_kept_is_refused(board: Pegboard) -> None:
    thread = await board.threads.create(board.admin)
    calls = [{"id": str(number), "name": "a", "arguments": {}, "result": "x" * 2**20} for number in range(5)]
    with pytest.raises(Invalid, match="at most 4,194,304 are kept"):
        await board.threads.add(thread.id, board.admin, {"role": "assistant", "content": "", "tool_calls": calls})
    await board.threads.add(thread.id, board.admin, {"role": "assistant", "content": "", "tool_calls": [CALL] * 5})
    answer = {"role": "tool", "tool_call_id": "c", "content": "x" * 2**20}
    with pytest.raises(Invalid, match="at most 4,194,304 are kept"):
        await board.threads.add(thread.id, board.admin, [answer] * 5)
    (message,) = (await board.threads.messages(thread.id, board.admin)).items
    assert "result" not in message.tool_calls[0]


async def test_texts_that_no_database_takes_are_kept_as_far_as_they_go(stored_board: Pegboard) -> None:
    thread = await stored_board.threads.create(stored_board.admin, "nul \0 here")
    calls = [{"id": "\0", "name": "a\0", "arguments": {"\0": "\0"}, "result": "\0"}]
    body = {"role": "assistant", "content": "a\0b", "tool_calls": calls}
    await stored_board.threads.add(thread.id, stored_board.admin, body)
    (message,) = (await stored_board.threads.messages(thread.id, stored_board.admin)).items
    assert message.content == "a\ufffdb" and message.tool_calls[0]["arguments"] == {"\0": "\0"}


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def _broken(payload: Any, keys: list[int], junk: Any) -> Any:
    """Return the payload with another value at one position."""
    if not keys or not isinstance(payload, dict | list) or not payload:
        return junk
    place = keys[0] % len(payload)
    if isinstance(payload, list):
        return [_broken(item, keys[1:], junk) if at == place else item for at, item in enumerate(payload)]
    name = list(payload)[place]
    return {key: _broken(item, keys[1:], junk) if key == name else item for key, item in payload.items()}


@given(
    st.sampled_from([case for kind in ("call", "result", "stream") for case in cases(kind)]),
    st.lists(st.integers(0, 20), min_size=1, max_size=6),
    _ANY,
    st.booleans(),
)
def test_a_broken_payload_is_read_or_refused_and_never_breaks_anything(
    case: Any, keys: list[int], junk: Any, named: bool
) -> None:
    try:
        for one in read_body(_broken(case.payload, keys, junk), case.dialect if named else None):
            assert one.role is not None or one.answers
            assert all(isinstance(call["id"], str) and isinstance(call["name"], str) for call in one.calls)
    except Invalid as error:
        assert str(error)
