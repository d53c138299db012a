"""Calls with a tag for each parameter, with any tags."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import ToolResult
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.hermes import Hermes, Qwen3
from pegboard.dialects.text.xml_tags import DeepSeekV32, Glm46, MiniMaxM2, Qwen3Coder
from pegboard.model.call import Malformed
from tests.formats import cases
from tests.unit.dialects.rendering import answer_of, rendered
from tests.unit.dialects.text.pieces import SIZES, UNTIMED, pieces_of, read, steps, streamed

FAMILY = {dialect.name: dialect for dialect in (Qwen3Coder(), Glm46(), MiniMaxM2(), DeepSeekV32())}
KNOWN = Dialects([Qwen3(), Hermes(), *FAMILY.values()])
EVERY = pytest.mark.parametrize("name", FAMILY)
TAG = ["parameter", "arg_key", "arg_value"]
NAMES = st.text("abzAZ_019.-é", min_size=1, max_size=8)
# A value may hold anything but the tags of parameters.
ODD = ["<", ">", "</", "\n", " ", "3", "null", "{}", "</param", "<tool_call>", "&lt;", '"', "\\"]
TEXTS = st.lists(st.text(max_size=6) | st.sampled_from(ODD), max_size=3).map("".join)
VALUES = TEXTS.filter(lambda text: not any(tag in text for tag in TAG))
JSON = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | VALUES
    | st.lists(VALUES | st.none(), max_size=3) | st.dictionaries(VALUES, VALUES | st.integers(), max_size=3)
)  # fmt: skip
CALLS = st.lists(st.tuples(NAMES, st.dictionaries(NAMES, JSON, max_size=3)), max_size=2, unique_by=lambda call: call[0])
TYPES = {
    str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array", type(None): "null",
}  # fmt: skip
BITS = [
    "<tool_call>", "</tool_call>", "<think>", "</think>", "<function=a>", "</function>", "<parameter=b>",
    "</parameter>", "<minimax:tool_call>", '<invoke name="a">', "</invoke>", '<parameter name="b">', "a\n", "<arg_key>",
    "</arg_key>", "<arg_value>", "</arg_value>", "<｜DSML｜function_calls>", '<｜DSML｜invoke name="a">',
    "</｜DSML｜invoke>", '<｜DSML｜parameter name="b" string="false">', "</｜DSML｜parameter>", "\n", " ", ">", "<",
    "3", "<function=", "<param",
]  # fmt: skip
MANY = [
    *BITS, "<function=a><parameter=b>", "</parameter> ", "<tool_call>a ",
    "<tool_call>a\n<arg_key>b</arg_key><arg_value>", "<tool_call><function=a>",
]  # fmt: skip


def compose_text(name: str, *calls: tuple[str, Mapping[str, Any]]) -> str:
    text: str = FAMILY[name].compose([AskedCall(*call) for call in calls])
    return text


def get_parse_error(asked: AskedCall) -> str:
    assert isinstance(asked.arguments, Malformed)
    return asked.arguments.why


@pytest.mark.parametrize("case", [case for case in cases("call") if case.dialect in FAMILY], ids=str)
def test_the_examples_are_read_and_written(case: Any) -> None:
    calls = read(FAMILY[case.dialect], case.payload)
    if case.name == "truncated":
        assert [asked.name for asked in calls if asked.is_malformed] == ["get_weather"]
    else:
        assert calls == [AskedCall(wanted["name"], wanted["arguments"]) for wanted in case.about["expected"]]
        assert case.payload.endswith(FAMILY[case.dialect].compose(calls))
    found = KNOWN.detect(case.payload)
    assert found is not None
    assert found.name == case.dialect


@EVERY
@UNTIMED
@given(given_calls=CALLS, size=SIZES)
def test_what_is_written_is_read_again_in_any_pieces(
    name: str, given_calls: list[tuple[str, dict[str, Any]]], size: int
) -> None:
    schemas = {
        called: {"properties": {key: {"type": TYPES[type(value)]} for key, value in arguments.items()}}
        for called, arguments in given_calls
    }
    text = compose_text(name, *given_calls)
    calls = [AskedCall(*call) for call in given_calls]
    assert read(FAMILY[name], text, schema_of=schemas.get) == calls
    assert read(FAMILY[name], *pieces_of(text, size), schema_of=schemas.get) == calls


@UNTIMED
@given(CALLS)
def test_deepseek_says_itself_what_is_a_string(given_calls: list[tuple[str, dict[str, Any]]]) -> None:
    text = compose_text("text_deepseek_v32_dsml", *given_calls)
    assert read(FAMILY["text_deepseek_v32_dsml"], text, schema_of=lambda _: None) == [
        AskedCall(*call) for call in given_calls
    ]


@EVERY
@UNTIMED
@given(parts=st.lists(st.sampled_from(BITS) | st.text(max_size=3)), size=SIZES)
def test_any_text_gives_the_same_calls_in_any_pieces(name: str, parts: list[str], size: int) -> None:
    text = "".join(parts)
    assert read(FAMILY[name], *pieces_of(text, size)) == read(FAMILY[name], text)


@EVERY
def test_each_call_comes_as_soon_as_it_is_whole(name: str) -> None:
    text = compose_text(name, ("get_weather", {"city": "Bern"}), ("list_projects", {}))
    given_out = streamed(FAMILY[name], *text)
    assert [[call.name for call in calls] for calls in given_out if calls] == [["get_weather"], ["list_projects"]]
    end = {"text_minimax_m2": "</invoke>", "text_deepseek_v32_dsml": "</｜DSML｜invoke>"}.get(name, "</tool_call>")
    assert given_out[text.index(end) + len(end) - 1] == [AskedCall("get_weather", {"city": "Bern"})]


@EVERY
def test_what_is_thought_is_never_a_call(name: str) -> None:
    text = compose_text(name, ("list_projects", {}))
    assert read(FAMILY[name], f"<think>{text}</think>") == []
    assert read(FAMILY[name], f"<think>{text}") == []
    assert read(FAMILY[name], f"{text}</think>") == []
    assert read(FAMILY[name], f"{text}</think>{text}<think>{text}</think>") == [AskedCall("list_projects", {})]
    assert KNOWN.detect(f"<think>{text}") is None
    found = KNOWN.detect(f"<think>{Hermes().compose([AskedCall('a', {})])}</think>{text}")
    assert found is FAMILY[name]


@EVERY
def test_a_call_cut_off_anywhere_is_malformed_or_none_yet(name: str) -> None:
    text = compose_text(name, ("search_docs", {"query": "a", "limit": 3}))
    end = {"text_minimax_m2": "</invoke>", "text_deepseek_v32_dsml": "</｜DSML｜invoke>"}.get(name, "</tool_call>")
    known = text.index("search_docs") + len("search_docs") + 3
    for cut in range(text.index(end) + len(end)):
        calls = read(FAMILY[name], text[:cut])
        assert all(asked.is_malformed for asked in calls)
        assert [asked.name for asked in calls] == ["search_docs"] or cut < known
    assert read(FAMILY[name], text[: text.index(end) + len(end)]) == [
        AskedCall("search_docs", {"query": "a", "limit": 3})
    ]


@EVERY
def test_a_value_may_hold_a_whole_call_or_a_stray_closing_tag(name: str) -> None:
    example = compose_text(name, ("rm", {"path": "/", "force": "yes"}), ("rm", {"path": "."}))
    values = [example, f"</parameter>{example}</arg_value> </｜DSML｜parameter> x", "</function></invoke></tool_call>"]
    for value in values:
        calls = [("write", {"text": value}), ("list_projects", {})]
        assert read(FAMILY[name], compose_text(name, *calls)) == [AskedCall(*call) for call in calls]


@EVERY
def test_a_parameter_that_is_never_closed_runs_nothing(name: str) -> None:
    text = compose_text(name, ("get_weather", {"city": "Bern"}), ("rm", {"path": "/"}))
    for end in ("</parameter>", "</arg_value>", "</｜DSML｜parameter>"):
        text = text.replace(end, "", 1)
    assert [asked.name for asked in read(FAMILY[name], text) if asked.is_malformed] == ["get_weather"]
    assert len(read(FAMILY[name], text)) == 1


@EVERY
def test_a_parameter_given_twice_is_malformed(name: str) -> None:
    text = compose_text(name, ("get_weather", {"city": "Bern", "town": "Basel"})).replace("town", "city")
    (asked,) = read(FAMILY[name], text)
    assert get_parse_error(asked) == "the parameter 'city' is given twice; send it once"


@EVERY
def test_a_malformed_call_stays_malformed_when_it_is_written_again(name: str) -> None:
    text = compose_text(name, ("get_weather", {"city": "Bern", "town": "Basel"})).replace("town", "city")
    (asked,) = read(FAMILY[name], text)
    assert read(FAMILY[name], FAMILY[name].compose([asked])) == [asked]


@EVERY
@pytest.mark.parametrize("case", [case for case in cases("result") if isinstance(case.payload, str)], ids=str)
def test_an_answer_is_the_turn_its_template_makes(name: str, case: Any) -> None:
    output = json.dumps(case.about["canonical"]["result"], ensure_ascii=False)
    if case.dialect == name:
        assert rendered(FAMILY[name], ToolResult("get_weather", True, output.encode())) == case.payload


def test_several_answers_share_a_turn() -> None:
    answers = [answer_of(ToolResult("a", True, b"1")), answer_of(ToolResult("b", True, b"2"))]
    assert {name: dialect.render(answers, many=True) for name, dialect in FAMILY.items()} == {
        "text_qwen3_coder_xml": "<|im_start|>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n"
        "</tool_response>\n<|im_end|>\n",
        "text_glm46": "<|observation|>\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>",
        "text_minimax_m2": "]~b]tool\n<response>1</response>\n<response>2</response>[e~[\n",
        "text_deepseek_v32_dsml": "\n\n<function_results>\n<result>1</result>\n<result>2</result>\n</function_results>",
    }


@pytest.mark.parametrize("part", MANY)
def test_the_work_grows_with_the_text_and_no_faster(part: str) -> None:
    for name, dialect in FAMILY.items():
        begun = compose_text(name, ("a", {"b": "~"})).partition("~")[0]
        for text in (part * 20_000, begun + part * 20_000):
            dialect.recognises(text)
            assert all(asked.is_malformed for asked in read(dialect, text))
        few, many = (pieces_of(begun + part * count, 3) for count in (100, 200))
        assert steps(partial(read, dialect, *many)) < 2.2 * steps(partial(read, dialect, *few))
