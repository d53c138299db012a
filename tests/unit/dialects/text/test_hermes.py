"""Calls between <tool_call> and </tool_call>."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Problem, ToolResult
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.hermes import Granite4, Hermes, Qwen3, Qwen25
from pegboard.model.call import Malformed
from pegboard.model.call_errors import ErrorType
from tests.formats import cases
from tests.unit.dialects.rendering import answer_of, rendered
from tests.unit.dialects.text.pieces import SIZES, UNTIMED, pieces_of, read, steps, streamed

FAMILY = {dialect.name: dialect for dialect in (Granite4(), Qwen3(), Qwen25(), Hermes())}
KNOWN = Dialects(list(FAMILY.values()))
HERMES = FAMILY["text_hermes"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(st.text(), JSON, max_size=3)
CALLS = st.lists(st.tuples(st.text(min_size=1), ARGUMENTS).map(lambda call: AskedCall(*call)), max_size=3)
BITS = [
    "<tool_call>", "</tool_call>", "<think>", "</think>", '{"name": "a", "arguments": {}}', '{"name": "a"', "{", "}",
    '"', "\\", "[", "]", "\n", "<tool_", '"arguments"', ", ", ": ",
]  # fmt: skip


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def get_parse_error(asked: AskedCall) -> str:
    assert isinstance(asked.arguments, Malformed)
    return asked.arguments.why


@pytest.mark.parametrize("case", [case for case in cases("call") if case.dialect in FAMILY], ids=str)
def test_the_examples_are_read_and_written(case: Any) -> None:
    calls = read(FAMILY[case.dialect], case.payload)
    if case.name == "truncated":
        assert calls == [AskedCall("get_weather", Malformed('{"city": "Zü', get_parse_error(calls[0])))]
    else:
        assert calls == [AskedCall(wanted["name"], wanted["arguments"]) for wanted in case.about["expected"]]
        assert FAMILY[case.dialect].compose(calls) == case.payload


@pytest.mark.parametrize("name", FAMILY)
@UNTIMED
@given(calls=CALLS, size=SIZES)
def test_what_is_written_is_read_again_in_any_pieces(name: str, calls: list[AskedCall], size: int) -> None:
    written = FAMILY[name].compose(calls)
    assert read(FAMILY[name], written) == read(FAMILY[name], *pieces_of(written, size)) == calls


@UNTIMED
@given(st.lists(st.sampled_from(BITS) | st.text(max_size=5)), SIZES)
def test_any_text_gives_the_same_calls_in_any_pieces(parts: list[str], size: int) -> None:
    text = "".join(parts)
    assert read(HERMES, *pieces_of(text, size)) == read(HERMES, text)


def test_a_call_comes_as_soon_as_it_is_whole() -> None:
    first, second = AskedCall("a", {"x": "</tool_call>"}), AskedCall("b", {})
    texts = ["Well. ", call("a", x="</tool_call>"), " and", call("b")[:-1], ">", " Done."]
    assert streamed(HERMES, *texts) == [[], [first], [], [], [second], [], []]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (call("a"), "text_hermes"),
        (call("a") + "<|im_end|>", "text_hermes"),
        ("<think>hm</think>" + call("a"), "text_qwen3"),
        ("hm</think>" + call("a"), "text_qwen3"),
        (call("a") + "<|end_of_text|>", "text_granite4"),
        ("<|im_start|>user\n<tool_response>\n1\n</tool_response><|im_end|>\n" + call("a"), "text_qwen25"),
        ("<tool_call>[" + json.dumps({"name": "a"}) + "]</tool_call>", "text_hermes"),
        ("<tool_call>\n<function=a>\n</function>\n</tool_call>", None),
        ("<tool_call>a\n</tool_call>", None),
        ("<think>" + call("a"), None),
        ("a tag <tool_call> and no call", None),
    ],
)
def test_relatives_are_distinguished_by_what_stands_around_the_call(text: str, found: str | None) -> None:
    dialect = KNOWN.detect(text)
    assert (dialect and dialect.name) == found


@pytest.mark.parametrize(
    "text",
    [
        "<think>" + call("a") + "</think>",
        "<think>" + call("a"),
        call("a") + "so I could.</think>",
        "<think>x</think>" + call("a") + "<think>" + call("a") + "</think></think>",
        "the tag <tool_call> opens a call",
        "<tool_call>",
        '<tool_call>{"na',
        '<tool_call>{"name": "del',
    ],
)
def test_thoughts_talk_and_calls_without_a_name_are_none(text: str) -> None:
    assert read(HERMES, text) == []


def test_text_around_calls_and_stray_tags_do_not_matter() -> None:
    text = f"I use <tool_call> now: <tool_call>{call('a')} then <think>hm {call('c')}</think></tool_call>{call('b')}!"
    assert [asked.name for asked in read(HERMES, text)] == ["a", "b"]


@pytest.mark.parametrize("cut", range(len('<tool_call>\n{"name": "a"'), len(call("a", q="<tool_call>", n=[1]))))
def test_a_call_that_is_cut_off_anywhere_is_malformed(cut: int) -> None:
    (asked,) = read(HERMES, call("a", q="<tool_call>", n=[1])[:cut])
    assert asked.name == "a"
    assert "</tool_call> is missing" in get_parse_error(asked)


def test_nothing_inside_a_call_that_is_cut_off_is_run() -> None:
    (asked,) = read(HERMES, '<tool_call>{"name": "write", "arguments": {"text": "as in ' + call("rm").replace('"', "'"))
    assert (asked.name, asked.is_malformed) == ("write", True)


@pytest.mark.parametrize(
    ("written", "name", "message"),
    [
        ('{"name": "a", "arguments": {"x": 1,}}', "a", "comma after the last entry"),
        ('{"name": "a", "arguments": {"x": 1, "x": 2}}', "a", "'x' occurs twice"),
        ('{"name": "a", "args": {"x": 1}}', "a", "has no 'arguments'"),
        ('{"name": "a", "arguments": [1]}', "a", "they must be a JSON object"),
        ("{name: a}", "", ""),
        ('{"arguments": {}}', "", "has no name"),
        ('{"name": 5, "arguments": {}}', "", "has no name"),
        ("[[]]", "", "has no name"),
    ],
)
def test_a_call_that_cannot_be_read_is_malformed(written: str, name: str, message: str) -> None:
    (asked,) = read(HERMES, f"<tool_call>{written}</tool_call>")
    assert asked.name == name
    assert message in get_parse_error(asked)


def test_arguments_may_be_left_out_encoded_twice_or_named_parameters() -> None:
    received = '[{"name": "a"}, {"name": "b", "arguments": "{\\"x\\": 1}"}, {"name": "c", "parameters": {"y": 2}}]'
    calls = [AskedCall("a", {}), AskedCall("b", {"x": 1}), AskedCall("c", {"y": 2})]
    assert read(HERMES, f"<tool_call>{received}</tool_call>") == calls


def test_a_malformed_call_stays_malformed_when_it_is_written_again() -> None:
    (asked,) = read(HERMES, HERMES.compose([AskedCall("a", Malformed('{"x": ', "it is cut off"))]))
    assert (asked.name, asked.is_malformed) == ("a", True)


@pytest.mark.parametrize("case", [case for case in cases("result") if case.dialect in FAMILY], ids=str)
def test_an_answer_is_the_turn_its_template_makes(case: Any) -> None:
    output = json.dumps(case.about["canonical"]["result"], ensure_ascii=False)
    turn = rendered(FAMILY[case.dialect], ToolResult("get_weather", True, output.encode()))
    if isinstance(case.payload, str):
        assert case.payload.endswith(turn)


def test_several_answers_share_a_turn_and_failures_are_reported() -> None:
    failed = ToolResult("b", False, problem=Problem(ErrorType.UNKNOWN, "timeout", "Too slow"))
    answers = [answer_of(ToolResult("a", True, b'"hi"')), answer_of(failed)]
    assert FAMILY["text_qwen3"].render(answers, many=True) == (
        "<|im_start|>user\n<tool_response>\nhi\n</tool_response>\n<tool_response>\nError: Too slow\n</tool_response>"
        "<|im_end|>\n"
    )


@pytest.mark.parametrize(
    "part", ["<tool_call>", "<think>", "</think>", '<tool_call>{"', "<tool_call>{", "{", '"', "\\", "<tool_call> \n"]
)
def test_the_work_grows_with_the_text_and_no_faster(part: str) -> None:
    text = '<tool_call>{"name": "a' + part * 200_000
    for dialect in FAMILY.values():
        assert all(asked.is_malformed for asked in read(dialect, text))
        dialect.recognises(part * 200_000)
    few, many = (pieces_of(part * count, 3) for count in (1_000, 2_000))
    assert steps(lambda: read(HERMES, *many)) < 2.2 * steps(lambda: read(HERMES, *few))
