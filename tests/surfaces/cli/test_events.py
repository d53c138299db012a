"""Parsing of server-sent events in the program, however they are split into chunks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.surfaces.cli.api_client import ServerEvent, read_events
from pegboard.surfaces.cli.exit_codes import BoardUnreachable
from pegboard.surfaces.cli.follow_client import get_member_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def read(pieces: list[bytes]) -> list[ServerEvent]:
    async def whole() -> list[ServerEvent]:
        async def content() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=content())
        return [event async for event in read_events(response)]

    return asyncio.run(whole())


@given(
    received=st.lists(st.tuples(st.sampled_from(["tool_use", "complete"]), JSON)), cuts=st.lists(st.integers(0, 500))
)
def test_events_are_the_same_wherever_they_are_cut(received: list[tuple[str, object]], cuts: list[int]) -> None:
    stream = b"retry: 500\n\n: still here\n\n" + b"".join(
        b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), json.dumps(data, ensure_ascii=False).encode())
        for number, (name, data) in enumerate(received)
    )
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    read_so = read([stream[start:end] for start, end in pairwise(places)])
    assert [(event.number, event.name, event.data) for event in read_so] == [
        (str(number), name, data) for number, (name, data) in enumerate(received)
    ]


def test_an_event_that_is_no_json_is_a_failure_and_no_crash() -> None:
    for bad in (b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(BoardUnreachable, match="cannot be read"):
            read([b"event: complete\ndata: " + bad + b"\n\n"])


@given(st.dictionaries(st.text(), JSON), JSON, st.sampled_from([(",", ":"), (", ", ": ")]))
def test_a_member_is_taken_out_as_it_was_written(
    others: dict[str, object], value: object, separators: tuple[str, str]
) -> None:
    text = json.dumps({**others, "answer": value}, separators=separators)
    assert get_member_text(text, "answer") == json.dumps(value, separators=separators)
    assert get_member_text('{"a":1,"answer":{"n":1.10}}', "answer") == '{"n":1.10}'
