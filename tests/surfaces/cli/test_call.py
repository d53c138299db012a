"""Calling tools from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pegboard.surfaces.cli.command_arguments import read_pairs
from pegboard.surfaces.cli.exit_codes import UsageError
from tests.surfaces.cli.run_program import Program

RSI = [f"prices:={json.dumps([float(n) for n in range(1, 30)])}"]


def test_the_result_goes_to_standard_output_and_the_time_to_standard_error(admin: Program) -> None:
    ran = admin.start("call", "math_eval", "expression=2^10")
    assert (ran.code, ran.json) == (0, {"result": 1024})
    assert ran.out == '{\n  "result": 1024\n}\n'
    assert ran.err.startswith("math_eval: ")
    assert ran.err.endswith(" ms\n")


@pytest.mark.parametrize("words", [["--json", "call", "echo", "a=1"], ["call", "echo", "a=1", "--json"]])
def test_json_may_stand_before_the_command_or_after_it(admin: Program, words: list[str]) -> None:
    answer = admin.run(*words).done().json
    assert (answer["success"], answer["result"], answer["tool_name"]) == (True, {"echo": {"a": "1"}}, "echo")


def test_a_pair_is_a_text_and_a_colon_makes_it_json(admin: Program) -> None:
    words = ["n=14", "m:=14", "list:=[1, null]", "e=a=b", "empty="]
    given = admin.run("call", "echo", *words).done().json["echo"]
    assert given == {"n": "14", "m": 14, "list": [1, None], "e": "a=b", "empty": ""}


def test_a_failed_call_exits_1_and_lists_every_problem(admin: Program) -> None:
    ran = admin.start("call", "calculate_rsi", "prices:=[]", "overbought:=200")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("Failed: Invalid parameters: ")
    assert "prices: " in ran.err
    assert "overbought: " in ran.err


def test_a_failed_call_is_still_a_document_with_json(admin: Program) -> None:
    ran = admin.run("call", "echo_not_there", "--json")
    assert (ran.code, ran.json["error"]) == (1, "Tool 'echo_not_there' not found")


def test_ignored_arguments_and_misspelt_names_are_named(admin: Program) -> None:
    ran = admin.run("call", "math_eval", "expression=1+1", "precison=3")
    assert (ran.code, ran.json) == (0, {"result": 2}) and "Ignored: 'precison'" in ran.err
    ran = admin.run("call", "math_eval", "expresion=1+1")
    assert ran.code == 1 and "missing 'expression'; received 'expresion', did you mean 'expression'?" in ran.err
    assert "did you mean 'math_eval'?" in admin.run("call", "math_evl", "expression=1+1").err
    assert admin.run("call", "math_eval", "expresion=1", "--json").json["ignored"][0]["did_you_mean"] == "expression"


SCHEMA = {
    "type": "object",
    "properties": {
        "integer": {"type": "integer"},
        "number": {"type": "number"},
        "boolean": {"type": "boolean"},
        "string": {"type": "string"},
        "either": {"type": ["integer", "string"]},
        "nullable": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "choice": {"enum": [1, 2, 3]},
        "referred": {"$ref": "#/definitions/count"},
        "array": {"type": "array", "items": {"type": "integer"}},
        "texts": {"type": "array", "items": {"type": "string"}},
        "object": {"type": "object"},
    },
    "definitions": {"count": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (
            ["integer=14", "number=1.50", "boolean=true", "string=14"],
            '{"integer":14,"number":1.50,"boolean":true,"string":"14"}',
        ),
        (
            ["either=14", "nullable=null", "choice=2", "referred=7"],
            '{"either":"14","nullable":null,"choice":2,"referred":7}',
        ),
        (["array=1", "array=2", "texts=a"], '{"array":[1,2],"texts":["a"]}'),
        (["array=[1, 2]", "array:=[3]"], '{"array":["[1, 2]",[3]]}'),
        (["array=[1, 2]", 'object={"a": 1}'], '{"array":[1, 2],"object":{"a": 1}}'),
        (
            ["integer=many", "boolean=yes", "number=01", "object=x"],
            '{"integer":"many","boolean":"yes","number":"01","object":"x"}',
        ),
        (["integer=123456789012345678901234567890"], '{"integer":123456789012345678901234567890}'),
        (["string:=14", "unknown=14"], '{"string":14,"unknown":"14"}'),
    ],
)
def test_a_pair_gets_the_type_that_the_schema_declares(words: list[str], body: str) -> None:
    assert read_pairs(words).encode_for_schema(SCHEMA).decode() == body


@pytest.mark.parametrize(
    "schema", [{}, {"properties": 1}, {"properties": {"a": True}}, {"properties": {"a": {"$ref": "#/properties/a"}}}]
)
def test_a_schema_that_declares_no_type_leaves_a_text(schema: dict[str, Any]) -> None:
    assert read_pairs(["a=1"]).encode_for_schema(schema) == b'{"a":"1"}'


def test_alternatives_that_refer_to_their_own_schema_are_read_once() -> None:
    alternatives = [*({"$ref": "#/$defs/value"} for _ in range(20)), {"type": "integer"}]
    schema = {"properties": {"a": {"$ref": "#/$defs/value"}}, "$defs": {"value": {"anyOf": alternatives}}}
    assert read_pairs(["a=1"]).encode_for_schema(schema) == b'{"a":1}'


def test_a_call_converts_its_arguments_by_the_schema_of_the_tool(admin: Program) -> None:
    name = f"add_{uuid4().hex[:8]}"
    definition = {"name": name, "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": SCHEMA}
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    words = ["integer=1", "number=2.5", "boolean=false", "array=1", "array=2", "string=3", 'object={"k": [1]}']
    expected = {"integer": 1, "number": 2.5, "boolean": False, "array": [1, 2], "string": "3", "object": {"k": [1]}}
    assert admin.run("call", name, *words).done().json == {"echo": expected}
    assert admin.run("call", name, *words, "--follow").done().json == {"echo": expected}
    assert admin.run("call", "calculate_rsi", *RSI, "period=14").code == 0
    refused = admin.run("call", "calculate_rsi", *RSI, "period=many")
    assert refused.code == 1
    assert "'period'" in refused.err
    twice = admin.run("call", name, "integer=1", "integer=2")
    assert (twice.code, "'integer' is given more than once" in twice.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--city", "Oslo"], "No such option: --city\n  Arguments are written city=Oslo"),
        (["--city=Oslo"], "No such option: --city\n  Arguments are written city=Oslo"),
        (["city"], "'city' has no value. Write city=TEXT, or city:=JSON."),
        (["=Oslo"], "'=Oslo' has no name. Write NAME=TEXT, or NAME:=JSON."),
        (["city:=Oslo"], "city:=Oslo is not JSON\n  A text is written city=Oslo"),
    ],
)
def test_a_wrong_argument_is_named_with_the_way_to_write_it(admin: Program, words: list[str], message: str) -> None:
    ran = admin.run("call", "echo", *words)
    assert (ran.code, ran.err) == (2, f"Error: {message}\n")


def test_arguments_come_from_a_file_or_from_standard_input(admin: Program, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"a": [1, 2.50]}')
    assert admin.run("call", "echo", "--input", str(tmp_path / "in.json")).done().json == {"echo": {"a": [1, 2.5]}}
    assert admin.run("call", "echo", "--input", "-", stdin='\ufeff{"b": "ü"}').done().json == {"echo": {"b": "ü"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "must be one JSON object"),
        ("{", "not JSON"),
        ("", "not JSON"),
        ('{"a": NaN}', "not a number in JSON"),
        ('{"a": 1, "a": 2}', "given twice"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_input_that_is_no_json_object_exits_2(admin: Program, text: str | bytes, reason: str) -> None:
    ran = admin.run("call", "echo", "--input", "-", stdin=text)
    assert ran.code == 2
    assert reason in ran.err


def test_an_unreadable_file_exits_2(admin: Program, tmp_path: Path) -> None:
    ran = admin.run("call", "echo", "--input", str(tmp_path / "nonesuch"))
    assert ran.code == 2
    assert "No such file" in ran.err
    assert admin.run("call", "echo", "--input", str(tmp_path)).code == 2


@pytest.mark.parametrize("word", ["a", "=1", ":=1", "a:=x", "a:=NaN", "a:=", "a:={"])
def test_a_word_that_is_no_pair_exits_2(admin: Program, word: str) -> None:
    assert admin.run("call", "echo", word).code == 2


def test_pairs_and_a_file_exclude_each_other(admin: Program) -> None:
    assert admin.run("call", "echo", "a=1", "--input", "-", stdin="{}").code == 2


@pytest.mark.parametrize("name", ["a/b", "..", ".", ""])
def test_what_cannot_be_a_name_exits_2(admin: Program, name: str) -> None:
    assert admin.run("call", name).code == 2


def test_any_other_name_reaches_the_board(admin: Program) -> None:
    assert "Tool 'a b%2F?ü' not found" in admin.run("call", "a b%2F?ü").err


def test_the_answer_comes_in_another_dialect(admin: Program) -> None:
    assert admin.run("call", "echo", "--as", "detailed").done().json == {"success": True, "data": {"echo": {}}}
    assert admin.run("call", "nope", "--as", "detailed").code == 1
    ran = admin.run("call", "echo", "--as", "klingon")
    assert ran.code == 1
    assert "klingon" in ran.err


def test_the_program_prints_the_plain_result_whatever_the_style_of_the_tool(admin: Program) -> None:
    name = f"styled_{uuid4().hex[:8]}"
    definition = {"name": name, "tool_type": "mock", "config": {"mock_response": 7}, "input_schema": {}}
    admin.run("tools", "add", "-", stdin=json.dumps({**definition, "result_style": "detailed"})).done()
    assert admin.run("call", name).done().json == 7
    assert admin.run("call", name, "--json").done().json == {"success": True, "data": 7}


def test_the_journal_says_that_the_call_came_from_the_command_line(member: Program) -> None:
    member.run("call", "echo").done()
    assert member.run("audit", "list", "--json").done().json["items"][0]["surface"] == "cli"


def test_control_characters_in_a_result_do_not_reach_the_terminal(admin: Program) -> None:
    ran = admin.run("call", "echo", 'a:="\\u001b[31m\\u009b"').done()
    assert ran.json["echo"]["a"] == "\x1b[31m\x9b"
    assert not {"\x1b", "\x9b"} & set(ran.out)
    assert "\x1b" not in admin.run("call", "\x1b[31mred").err


def test_definitions_are_what_a_model_is_handed(admin: Program) -> None:
    assert {"echo", "math_eval"} <= {tool["name"] for tool in admin.run("definitions").done().json}
    assert "inputSchema" in admin.run("definitions", "--as", "detailed", "--json").done().json[0]


def test_no_digit_of_a_typed_number_is_lost() -> None:
    assert read_pairs(["a:=1.10", "b:=123456789012345678901234567890"]).body == (
        b'{"a":1.10,"b":123456789012345678901234567890}'
    )


def test_a_key_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="'a' is given more than once"):
        _ = read_pairs(["a=1", "a:=2"]).body
