"""Common properties of every text format with calls between marks."""

from __future__ import annotations

import operator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.dialects.text.base_text import TextDialect
from pegboard.dialects.text.harmony import Harmony
from tests.formats import Case, cases
from tests.unit.dialects.text.feeding import MARKED, calls_of, in_pieces, list_valid_calls

KNOWN = Dialects(MARKED)
EXAMPLES = [case for case in [*cases("call"), *cases("stream")] if case.dialect in KNOWN]
# The tests must also pass on a slow machine.
untimed = settings(deadline=None)
name_of = operator.attrgetter("name")
every_dialect = pytest.mark.parametrize("dialect", MARKED, ids=name_of)

MARKS = [
    "<think>", "</think>", "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", "<｜tool▁call▁begin｜>", "function<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "\n```json\n", "```", "<|START_ACTION|>", "<|END_ACTION|>",
    "<|END_THINKING|>", "<function=", ">", "</function>", "<|tool_call>", "call:", "<tool_call|>", '<|"|>',
    "<|channel|>", "commentary", " to=functions.a", "<|message|>", "<|call|>", "<|end|>", "<|tool_call_begin|>",
    "functions.a:0", "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_call_start|>", "(", ")", "'", '"',
    "\\", "[", "]", "{", "}", ",", ":", "=", "\n", "<|python_tag|>", "a.call(", '{"name": "a", "parameters": ',
    '{"tool_name": "a"', "a", "1",
]  # fmt: skip
fragments = st.lists(st.sampled_from(MARKS) | st.text(max_size=3), max_size=30).map("".join)
strings = fragments.filter(lambda text: text.isprintable() or "\n" in text) | st.text()
valid = strings.filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    leaves | valid, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(valid, inner, max_size=3), max_leaves=8
)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,12}", fullmatch=True)
calls_made = st.tuples(names, st.dictionaries(keys, values, max_size=4)).map(lambda made: AskedCall(*made))
called = st.lists(calls_made, min_size=1, max_size=3)


def pairs(calls: list[AskedCall]) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize("size", [1, 2, 5, 7, 10_000])
@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: f"{case}-{case.kind}")
def test_an_example_becomes_its_calls_in_pieces_of_any_size(case: Case, size: int) -> None:
    text = case.payload if isinstance(case.payload, str) else "".join(case.payload)
    calls = calls_of(KNOWN[case.dialect], *in_pieces(text, size))
    if case.about.get("allow_error"):
        assert [call.name for call in calls] == ["get_weather"]
        assert all(call.is_malformed for call in calls)
    else:
        expected = case.about["expected"]
        assert [(call.id or None, call.name, call.arguments) for call in calls] == [
            (wanted["id"], wanted["name"], wanted["arguments"]) for wanted in expected
        ]


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: f"{case}-{case.kind}")
def test_an_example_is_reported_from_the_other_dialects(case: Case) -> None:
    found = KNOWN.detect(case.payload)
    assert found is not None
    assert found.name == case.dialect


@pytest.mark.parametrize("case", [case for case in EXAMPLES if case.kind == "stream"], ids=str)
def test_an_example_is_never_taken_for_another_dialect_while_it_comes(case: Case) -> None:
    text = "".join(case.payload)
    found = {dialect.name for cut in range(len(text)) if (dialect := KNOWN.detect([text[:cut]])) is not None}
    assert found == {case.dialect}


@every_dialect
@untimed
@given(calls=called, size=st.integers(1, 7), before=st.sampled_from(["", "I look it up.\n", "<think>hm</think>\n"]))
def test_what_is_composed_is_read_again_in_pieces_of_any_size(
    dialect: TextDialect, calls: list[AskedCall], size: int, before: str
) -> None:
    if isinstance(dialect, Harmony) and before:
        before = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
    text = before + dialect.compose(calls)
    assert list_valid_calls(dialect, text) == pairs(calls)
    assert list_valid_calls(dialect, *in_pieces(text, size)) == pairs(calls)


@every_dialect
@untimed
@given(calls=called)
def test_calls_are_there_as_soon_as_they_are_whole(dialect: TextDialect, calls: list[AskedCall]) -> None:
    into = Assembly(lambda _name: None)
    for letter in dialect.compose(calls):
        dialect.read(letter, into)
    assert pairs(into.ready()) == pairs(calls)


@every_dialect
@untimed
@given(calls=called, data=st.data())
def test_a_text_that_is_cut_off_asks_for_nothing_more_than_the_whole(
    dialect: TextDialect, calls: list[AskedCall], data: st.DataObject
) -> None:
    text = dialect.compose(calls)
    text = text[: data.draw(st.integers(0, len(text) - 1))]
    found = list_valid_calls(dialect, text)
    assert found == pairs(calls)[: len(found)]


@every_dialect
@untimed
@given(text=fragments, size=st.integers(1, 7))
def test_any_text_reads_the_same_in_pieces_and_never_fails(dialect: TextDialect, text: str, size: int) -> None:
    dialect.recognises(text)
    assert calls_of(dialect, *in_pieces(text, size)) == calls_of(dialect, text)


@every_dialect
@untimed
@given(
    item=st.recursive(
        leaves | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["name", "content"]), inner)
    )
)
def test_what_is_no_text_is_unreadable(dialect: TextDialect, item: Any) -> None:
    dialect.recognises(item)
    try:
        calls_of(dialect, item)
    except Unreadable as error:
        assert dialect.name in error.message


@pytest.mark.parametrize("dialect", [dialect for dialect in MARKED if not isinstance(dialect, Harmony)], ids=name_of)
def test_a_call_in_a_thought_is_none(dialect: TextDialect) -> None:
    call = dialect.compose([AskedCall("get_weather", {"city": "Zürich"})])
    assert calls_of(dialect, f"<think>maybe\n{call}\nor not</think>No.") == []
    assert calls_of(dialect, f"maybe\n{call}\nor not</think>No.") == []
    assert len(calls_of(dialect, f"<think>maybe</think>\n{call}")) == 1


@every_dialect
def test_a_key_that_is_there_twice_is_malformed(dialect: TextDialect) -> None:
    text = dialect.compose([AskedCall("get_weather", {"city": "a", "city2": "b"})]).replace("city2", "city")
    assert [call.is_malformed for call in calls_of(dialect, text)] == [True]


@every_dialect
def test_arguments_that_are_nested_without_end_are_malformed(dialect: TextDialect) -> None:
    text = dialect.compose([AskedCall("get_weather", {"city": 7})]).replace("7", "[" * 100_000 + "]" * 100_000)
    assert [(call.name, call.is_malformed) for call in calls_of(dialect, text)] == [("get_weather", True)]
    text = dialect.compose([AskedCall("get_weather", {"city": 7})]).partition("7")[0] + "[" * 100_000
    assert [(call.name, call.is_malformed) for call in calls_of(dialect, text)] == [("get_weather", True)]


@every_dialect
@pytest.mark.parametrize("number", [2**70, Decimal("1.2345678901234567890123")])
def test_a_number_keeps_its_digits(dialect: TextDialect, number: Any) -> None:
    arguments = {"a": number, "b": [number]}
    assert list_valid_calls(dialect, dialect.compose([AskedCall("f", arguments)])) == [("f", arguments)]


@every_dialect
def test_openers_without_end_are_no_calls(dialect: TextDialect) -> None:
    for opener in (*dialect.openers, "<think>", "{", "[TOOL_CALLS]["):
        assert [call for call in calls_of(dialect, opener * 100_000) if not call.is_malformed] == []
