"""Special cases of each dialect with a tag for each parameter."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.hermes import Granite4, Hermes, Qwen3
from pegboard.dialects.text.marked_calls import Functionary31
from pegboard.dialects.text.xml_tags import DeepSeekV32, Glm46, MiniMaxM2, Qwen3Coder
from pegboard.model.call import Malformed
from tests.unit.dialects.text.pieces import read

CODER, GLM, MINIMAX, DEEPSEEK = Qwen3Coder(), Glm46(), MiniMaxM2(), DeepSeekV32()
KNOWN = Dialects([Granite4(), Qwen3(), Hermes(), Functionary31(), CODER, GLM, MINIMAX, DEEPSEEK])
CITY = "<parameter=city>\nBern\n</parameter>\n"
WEATHER = AskedCall("get_weather", {"city": "Bern"})
PROJECTS = AskedCall("list_projects", {})


def get_parse_error(asked: AskedCall) -> str:
    assert isinstance(asked.arguments, Malformed)
    return asked.arguments.why


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<tool_call>{"name": "a"}</tool_call>', "text_hermes"),
        ("<tool_call>\n<function=a>\n<param", "text_qwen3_coder_xml"),
        ("<function=a>\n<parameter=b>\n1", "text_qwen3_coder_xml"),
        ("<function=a></function>", "text_qwen3_coder_xml"),
        ('<function=a>{"b": 1}</function>', "text_functionary31"),
        ('<tool_call><function=a>{"b": 1}</function></tool_call>', "text_functionary31"),
        ("<tool_call>a\n", "text_glm46"),
        ("<tool_call>a\n<arg_k", "text_glm46"),
        ("<tool_call>a<arg_key>b", "text_glm46"),
        ("<tool_call>a</tool_call>", "text_glm46"),
        ("<think>x</think>\n<tool_call>a\n</tool_call>", "text_glm46"),
        ("the <tool_call> tag", None),
        ("the <tool_call> tag\nis one", None),
        ("the <function=x> tag", None),
        ('<invoke name="a"></invoke>', None),
        ("<minimax:tool_call>", "text_minimax_m2"),
        ("<｜DSML｜function_calls>", "text_deepseek_v32_dsml"),
    ],
)
def test_dialects_with_the_same_tags_are_distinguished(text: str, found: str | None) -> None:
    dialect = KNOWN.detect(text)
    assert (dialect and dialect.name) == found


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("\na\n", "a"),
        ("a", "a"),
        ("\n\n a \n\n", "\n a \n"),
        ("\n\n", ""),
        ("\n", ""),
        ("", ""),
        ('\n"a"\n', '"a"'),
        ("\n3\n", "3"),
        ("\n&lt;\n", "&lt;"),
    ],
)
def test_qwen3_coder_puts_a_line_break_on_each_side_of_a_value(written: str, value: str) -> None:
    text = f"<tool_call>\n<function=get_weather>\n<parameter=city>{written}</parameter>\n</function>\n</tool_call>"
    assert read(CODER, text) == [AskedCall("get_weather", {"city": value})]


def test_qwen3_coder_may_forget_the_tag_around_a_call_or_put_several_into_one() -> None:
    assert read(CODER, f"<function=get_weather>\n{CITY}</function>\n</tool_call>") == [WEATHER]
    several = f"<tool_call><function=get_weather>{CITY}</function><function=list_projects></function></tool_call>"
    assert read(CODER, several) == [WEATHER, PROJECTS]
    unclosed = several.replace("<function=l", "\n<tool_call>\n<function=l")
    assert read(CODER, unclosed) == [WEATHER, PROJECTS]


@pytest.mark.parametrize("end", ["", "\n</tool_cal", "<|im_end|>", " and so on"])
def test_a_qwen3_coder_call_without_its_last_tag_is_malformed(end: str) -> None:
    (asked,) = read(CODER, f"<tool_call><function=get_weather>{CITY}</function>{end}")
    assert get_parse_error(asked) == "the call is incomplete: </tool_call> is missing"


def test_a_qwen3_coder_call_with_json_in_it_is_malformed_and_talk_is_none() -> None:
    (asked,) = read(CODER, '<tool_call><function=rm>{"path": "/"}</function></tool_call>')
    assert asked.arguments == Malformed('{"path": "/"}</function>', get_parse_error(asked))
    assert read(CODER, "write <function=NAME> and <function=, then </function>") == []
    assert read(CODER, f"<function=<tool_call>\n<function=get_weather>{CITY}</function></tool_call>") == [WEATHER]


def test_glm_may_leave_the_line_breaks_out() -> None:
    text = "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Bern</arg_value></tool_call>"
    assert read(GLM, f"{text}<tool_call>list_projects</tool_call>") == [WEATHER, PROJECTS]


@pytest.mark.parametrize(
    "text",
    [
        "the <tool_call> tag opens a call",
        "<tool_call>\n</tool_call>",
        "<tool_call>get_wea",
        '<tool_call>{"name": "a"}',
        "<tool_call>a b\n</tool_call>",
    ],
)
def test_talk_is_no_glm_call(text: str) -> None:
    assert read(GLM, text) == []


@pytest.mark.parametrize("rest", ["<arg_key>city", "<arg_key>city</arg_key>x</tool_call>", "<arg_key>a<b></tool_call>"])
def test_a_glm_pair_that_is_not_whole_makes_its_call_malformed(rest: str) -> None:
    (asked,) = read(GLM, f"<tool_call>get_weather\n{rest}")
    assert (asked.name, asked.is_malformed) == ("get_weather", True)


def test_minimax_calls_count_in_their_block_only() -> None:
    call = "<invoke name=\"get_weather\"><parameter name='city' >Bern</parameter></invoke>"
    block = f"<minimax:tool_call>{call}</minimax:tool_call>"
    assert read(MINIMAX, f"{call}{block}{call}") == [WEATHER]
    assert read(MINIMAX, block.replace('"get_weather"', "")) == []
    (asked,) = read(MINIMAX, block.replace("'city'", "city"))
    assert get_parse_error(asked) == "a parameter has no name"


@pytest.mark.parametrize(
    ("attribute", "written", "value"),
    [
        (' string="true"', "3", "3"),
        (' string="false"', "3", 3),
        (' string="false"', '{"a": null}', {"a": None}),
        (' string="false"', '"3"', "3"),
        ("", "3", "3"),
        (' string="false"', "Bern", None),
        (' string="maybe"', "Bern", None),
    ],
)
@pytest.mark.parametrize("block", ["function_calls", "tool_calls"])
def test_deepseek_says_whether_a_value_is_a_string_or_json(
    block: str, attribute: str, written: str, value: Any
) -> None:
    parameter = f'<｜DSML｜parameter name="city"{attribute}>{written}</｜DSML｜parameter>'
    call = f'<｜DSML｜invoke name="get_weather">{parameter}</｜DSML｜invoke>'
    (asked,) = read(DEEPSEEK, f"<｜DSML｜{block}>{call}</｜DSML｜{block}>")
    assert asked.name == "get_weather"
    assert asked.is_malformed if value is None else asked.arguments == {"city": value}
