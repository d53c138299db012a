"""Errors in a file of fixtures are reported with their line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.mock_server import read_fixtures as reading
from pegboard.mock_server.read_fixtures import BadFixtures, read_fixtures

GOOD = """\
tools:
  - name: get_weather
    input_schema:
      type: object
    responses:
      - when: {city: Oslo}
        respond: {sky: grey}
        times: 1
      - error: {message: gone}
"""


def faults(text: str, file: str = "w.yaml") -> tuple[str, ...]:
    """Return the reported errors of this text."""
    with pytest.raises(BadFixtures) as error:
        read_fixtures(text.encode(), file)
    return error.value.lines


def test_yaml_and_json_say_the_same() -> None:
    from_yaml = read_fixtures(GOOD.encode(), "w.yaml")
    from_json = read_fixtures(from_yaml.model_dump_json(exclude_unset=True).encode(), "w.json")
    assert from_yaml == from_json


@pytest.mark.parametrize(
    ("old", "new", "received"),
    [
        ("times: 1", "tims: 1", "w.yaml:6: tools.0.responses.0.tims: unknown key; did you mean 'times'?"),
        ("times: 1", "times: 0", "w.yaml:6: tools.0.responses.0.times: must be at least 1"),
        ("respond: {sky: grey}", "", "w.yaml:6: tools.0.responses.0: give either respond or error"),
        ("name: get_weather", "nam: x", "w.yaml:2: tools.0.name: required"),
        ("get_weather", "1st", "w.yaml:2: tools.0.name: a tool name cannot start with a number: '1st'"),
        ("type: object", "type: objct", "w.yaml:4: tools.0.input_schema: at $.type: must be one of: array, "),
        ("message: gone", "code: gone", "w.yaml:9: tools.0.responses.1.error.message: required"),
        ("{city: Oslo}", "{city: Oslo", "w.yaml:7: not YAML"),
        ("    responses:", "    name: x\n    responses:", "w.yaml:5: the key 'name' is given twice, first in line 2"),
        ("message: gone", "message: !!binary aGk=", "w.yaml:9: tags such as"),
        ("times: 1", "latency_ms: 999999999", "w.yaml:6: tools.0.responses.0.latency_ms: "),
    ],
)
def test_a_fault_is_reported_with_its_line_and_its_place(old: str, new: str, received: str) -> None:
    assert faults(GOOD.replace(old, new))[0].startswith(received)


def test_every_fault_is_reported_at_once() -> None:
    text = GOOD.replace("times: 1", "tims: 1").replace("message: gone", "code: made_up, message: gone")
    assert [line.partition(": ")[0] for line in faults(text)] == ["w.yaml:6", "w.yaml:9"]


def test_faults_in_json_have_lines_too() -> None:
    text = '{"tools": [\n  {"name": "a",\n   "responses": [\n     {"respnd": 1}\n]}]}'
    assert faults(text, "w.json") == ("w.json:4: tools.0.responses.0.respnd: unknown key; did you mean 'respond'?",)
    assert faults('{"tools": [\n  {"name": "a",,}]}', "w.json")[0].startswith("w.json:2: not JSON")


def test_good_json_is_not_read_a_second_time_for_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "read_yaml", lambda _text: pytest.fail("read as YAML"))
    assert read_fixtures(b'{"tools": [{"name": "a", "responses": [{"respond": 1}]}]}', "w.json").tools[0].name == "a"


def test_a_tool_may_fall_back_on_one_that_is_defined_later() -> None:
    tools: list[dict[str, Any]] = [{"name": name, "responses": [{"respond": 1}]} for name in ("a", "B")]
    tools[0]["fallback"] = {"tool": "b"}
    assert len(read_fixtures(json.dumps({"tools": tools}).encode(), "w.json").tools) == 2


@pytest.mark.parametrize("text", ["", "- 1\n", "text", "--- {}\n--- {}\n", "[]", "null"])
def test_what_is_no_object_is_reported_with_what_one_looks_like(text: str) -> None:
    assert "must be one object such as {tools: [" in faults(text)[0]


@pytest.mark.parametrize(
    ("tools", "received"),
    [
        ([], "tools: must have at least 1 item, but received 0"),
        ([{"name": "a", "responses": []}], "responses: must have at least 1 item, but received 0"),
        (["a"], "tools.0: "),
        ([{"name": "a", "responses": [{"respond": 1}], "fallback": {"tool": "A"}}], "cannot fall back on itself"),
        (
            [{"name": "a", "responses": [{"respond": 1}]}, {"name": "A", "responses": [{"respond": 1}]}],
            "w.yaml:1: tools.1: another tool is called 'A' already",
        ),
        ([{"name": "a", "description": "\0", "responses": [{"respond": 1}]}], "tools.0.description: "),
        (
            [{"name": "a", "responses": [{"respond": 1}], "fallback": {"tool": "b"}}],
            "tools.0.fallback.tool: the file has no tool 'b'",
        ),
        (
            [{"name": "a", "responses": [{"respond": 1}, {"respond": {"it": "\ud800"}}]}],
            "tools.0.responses.1.respond: no board can send this: ",
        ),
        (
            [{"name": "a", "responses": [{"when": {"it": 10**30}, "respond": 1}]}],
            "tools.0.responses.0.when: no board can send this: ",
        ),
    ],
)
def test_tools_that_cannot_be_on_a_board_are_reported(tools: Any, received: str) -> None:
    assert received in faults(json.dumps({"tools": tools}))[0]


def test_bytes_that_are_no_text_are_reported() -> None:
    with pytest.raises(BadFixtures, match=r"w\.yaml:2: not UTF-8 text"):
        read_fixtures(b"tools:\n\xff", "w.yaml")


@given(
    st.text(max_size=200)
    | st.recursive(
        st.none() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["tools", "name", "responses", "when", "error"]), x),
    ).map(json.dumps)
)
def test_no_text_at_all_is_more_than_a_fault(text: str) -> None:
    try:
        read_fixtures(text.encode("utf-8", "replace"), "w.yaml")
    except BadFixtures as bad:
        assert bad.lines
        assert all(line.startswith("w.yaml") for line in bad.lines)
