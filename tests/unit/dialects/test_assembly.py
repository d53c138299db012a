"""Calls assembled from complete objects and from chunks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.call import Malformed


@pytest.fixture
def into() -> Assembly:
    return Assembly(lambda _name: None)


def test_whole_calls_keep_their_order_and_their_ids_even_if_two_have_the_same(into: Assembly) -> None:
    into.call("a", {"x": 1}, "1")
    into.call("b", '{"y": 2}', "1")
    assert into.calls() == [AskedCall("a", {"x": 1}, "1"), AskedCall("b", {"y": 2}, "1")]


def test_pieces_become_a_call_when_they_are_over_and_are_given_once(into: Assembly) -> None:
    into.piece(0, '{"x"', name="a", id="1")
    into.piece(0, ": 1}", id="1", name="a")
    assert into.ready() == []
    into.over(0)
    assert into.ready() == [AskedCall("a", {"x": 1}, "1")]
    assert into.ready() == []


def test_interleaved_calls_come_apart(into: Assembly) -> None:
    into.piece(0, name="a", id="1")
    into.piece(1, "{", name="b", id="2")
    into.piece(0, '{"x": 1}')
    into.piece(1, "}")
    into.complete_all()
    assert into.calls() == [AskedCall("a", {"x": 1}, "1"), AskedCall("b", {}, "2")]


def test_a_new_id_under_the_same_key_begins_another_call(into: Assembly) -> None:
    into.piece(0, "{}", name="a", id="1")
    into.piece(0, "{}", name="b", id="2")
    assert into.ready() == [AskedCall("a", {}, "1")]
    assert [call.name for call in into.calls()] == ["a", "b"]


def test_a_call_cut_off_before_its_arguments_arrived_is_malformed_and_one_that_is_over_is_empty(into: Assembly) -> None:
    into.piece(0, name="a", id="1")
    into.piece(1, name="b", id="2")
    into.over(1)
    cut, empty = into.calls()
    assert cut.arguments == Malformed("", "the stream ended before the arguments arrived")
    assert empty.arguments == {}


def test_a_call_cut_off_in_the_middle_is_malformed_and_one_that_was_complete_is_good(into: Assembly) -> None:
    into.piece(0, '{"x": "y', name="a")
    into.piece(1, '{"x": 1}', name="b")
    cut, good = into.calls()
    assert cut.is_malformed
    assert good.arguments == {"x": 1}


def test_the_final_call_takes_the_place_of_its_pieces_once(into: Assembly) -> None:
    into.piece("1", '{"x": ', name="a", id="1")
    into.call("a", {"x": 2}, "1")
    into.call("a", {"x": 3}, "1")
    assert [call.arguments for call in into.calls()] == [{"x": 2}, {"x": 3}]


def test_what_was_given_is_not_given_again_by_its_final_call(into: Assembly) -> None:
    into.piece("1", "{}", name="a", id="1")
    into.over("1")
    assert len(into.ready()) == 1
    into.call("a", {}, "1")
    assert into.ready() == []
    assert len(into.calls()) == 1


def test_a_snapshot_replaces_the_one_before(into: Assembly) -> None:
    for text in ("", '{"x"', '{"x": 1}'):
        into.snapshot(0, text, name="a", id="1")
    assert into.calls() == [AskedCall("a", {"x": 1}, "1")]
    into.snapshot(1, "", name="b")
    assert into.calls()[1].is_malformed


def test_an_answer_finds_the_first_call_with_its_id_that_has_none(into: Assembly) -> None:
    into.call("a", {}, "1")
    into.call("b", {}, "1")
    into.answer("1", None)
    into.answer("1", error="broke")
    first, second = into.calls()
    assert (first.result, first.is_open, second.error, second.is_open) == (None, False, "broke", False)


def test_an_answer_without_a_call_stands_alone_and_is_never_run(into: Assembly) -> None:
    into.answer("7", {"a": 1}, name="x")
    into.answer(None, 1)
    assert [(call.name, call.arguments, call.result, call.is_open) for call in into.calls()] == [
        ("x", None, {"a": 1}, False),
        ("", None, 1, False),
    ]


def test_an_answer_ends_a_call_that_came_in_pieces(into: Assembly) -> None:
    into.piece("1", "{}", name="a", id="1")
    into.answer("1", 5)
    assert into.ready() == [AskedCall("a", {}, "1", 5)]


def test_thoughts_are_dropped(into: Assembly) -> None:
    into.call("a", {}, "1")
    into.piece(0, "{", name="b")
    into.drop()
    assert into.calls() == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["call", "piece", "snapshot", "over", "answer", "ready", "drop"]),
            st.integers(0, 3),
            st.none() | st.text(max_size=4) | st.integers() | st.lists(st.integers(), max_size=2),
        )
    )
)
def test_whatever_comes_each_call_is_given_at_most_once_and_none_is_lost(steps: list[tuple[str, int, Any]]) -> None:
    into = Assembly(lambda _name: None)
    given_out: list[AskedCall] = []
    for step, key, value in steps:
        match step:
            case "call":
                into.call("a", value, key)
            case "piece":
                into.piece(key, value if isinstance(value, str) else None, name="a", id=value)
            case "snapshot":
                into.snapshot(key, value, name="a")
            case "over":
                into.over(key)
            case "answer":
                into.answer(key, value)
            case "ready":
                given_out += into.ready()
            case _:
                into.drop()
                given_out.clear()
    into.close_incomplete()
    given_out += into.ready()
    assert len(given_out) == len(into.calls())
    assert all(call.result is not ABSENT or call.arguments is not None for call in into.calls())
