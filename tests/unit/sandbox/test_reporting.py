"""The two functions by which python code reports: what they write, and what they refuse."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.sandbox.child.python_call import make_reporters

Say = Callable[..., None]


class Channel:
    """A pipe, the functions that write to it, and what they wrote."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        functions = make_reporters(self.writing)
        self.progress, self.partial = functions["report_progress"], functions["report_partial"]

    def lines(self) -> list[bytes]:
        """Return the lines so far; nothing can be written afterwards."""
        os.close(self.writing)
        with os.fdopen(self.reading, "rb") as file:
            return file.read().splitlines()

    def message(self) -> list[dict[str, Any]]:
        """The content of the lines."""
        return [json.loads(line) for line in self.lines()]


@pytest.fixture
def channel() -> Iterator[Channel]:
    yield Channel()


def test_numbers_of_any_kind_are_written_as_json_has_them(channel: Channel) -> None:
    for number in (3, 2.5, numpy.int64(7), numpy.float32(0.5), Decimal("1.5"), 2**60, 10**400, float("nan")):
        channel.progress(number)
    channel.progress(1, total=float("inf"), message="m")
    numbers = [line["progress"] for line in channel.message()]
    assert numbers == [3, 2.5, 7, 0.5, 1.5, float(2**60), None, None, 1]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda it: it.progress("3"), "report_progress() takes progress as a number, not as str"),
        (lambda it: it.progress(True), "report_progress() takes progress as a number, not as bool"),
        (lambda it: it.progress(None), "report_progress() takes progress as a number, not as NoneType"),
        (lambda it: it.progress(1, "2"), "report_progress() takes total as a number, not as str"),
        (lambda it: it.progress(1, 2, 3), "report_progress() takes the message as a str, not as int"),
        (lambda it: it.partial(b"x"), "report_partial() takes its text as a str, not as bytes"),
    ],
)
def test_what_is_of_the_wrong_type_is_refused_in_words(
    channel: Channel, call: Callable[[Channel], None], complaint: str
) -> None:
    with pytest.raises(TypeError) as refused:
        call(channel)
    assert str(refused.value) == complaint
    assert channel.lines() == []


def test_wrong_types_are_refused_also_without_a_reader() -> None:
    functions = make_reporters(None)
    functions["report_progress"](1, 2, "m")
    functions["report_partial"]("x")
    with pytest.raises(TypeError):
        functions["report_partial"](1)


def test_a_channel_that_is_closed_or_unread_is_no_users_trouble() -> None:
    channel = Channel()
    os.close(channel.reading)
    channel.progress(1)
    channel.partial("x" * 5000)
    os.close(channel.writing)
    channel.progress(1)


@given(st.text(max_size=3000))
@settings(database=None, deadline=None)
def test_pieces_add_up_to_the_text_and_each_is_written_at_once(text: str) -> None:
    channel = Channel()
    channel.partial(text)
    lines = channel.lines()
    assert all(len(line) < 4096 for line in lines)
    sendable = text.encode("utf-8", "replace").decode()
    assert "".join(json.loads(line)["partial"] for line in lines) == sendable


def test_a_long_message_is_cut(channel: Channel) -> None:
    channel.progress(1, 2, "m" * 5000)
    assert channel.message() == [{"progress": 1, "total": 2, "message": "m" * 1000}]
