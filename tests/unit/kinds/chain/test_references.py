"""References: found in data, resolved on data, never evaluated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.chain.step_references import SKIPPED_OUTPUT, InvalidReference, fill_template, iterate_references

KNOWN: dict[str, Any] = {
    "input": {"n": 3, "name": "Ada", "a.b": "dotted", "list": [{"x": None}], "big": 2**70},
    "steps": {
        "a": {"output": {"items": [1, {"k": "v"}]}, "error": None, "status": "succeeded"},
        "s": {"output": SKIPPED_OUTPUT},
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{input.n}}", 3),
        ("{{ input.n }}", 3),
        ("{{input}}", KNOWN["input"]),
        ('{{input["a.b"]}}', "dotted"),
        ("{{input.list[0].x}}", None),
        ("{{input.big}}", 2**70),
        ("{{steps.a.output.items[1].k}}", "v"),
        ("{{steps.a.status}}", "succeeded"),
        ("{{steps.s.output.whatever[3].deep}}", None),
        ("n is {{input.n}}, list {{input.list}}", 'n is 3, list [{"x":null}]'),
        ("{{input.name}}{{input.name}}", "AdaAda"),
        ("a {{{{ b", "a {{ b"),
        ("{{{{input.n}}", "{{input.n}}"),
        ("{{secret:TOKEN}}", "{{secret:TOKEN}}"),
        ("{single} }} {{", "{single} }} {{"),
        ("{{input.n}}}", "3}"),
        ("{{input.n}}{{{{x}}", "3{{x}}"),
        ("{{{{{{input.n}}", "{{3"),
        ("x {{secret:TOKEN}} {{input.n}}", "x {{secret:TOKEN}} 3"),
        ({"k": ["{{input.n}}", {"{{input.n}}": "{{input.name}}"}]}, {"k": [3, {"{{input.n}}": "Ada"}]}),
        (7, 7),
    ],
)
def test_a_reference_becomes_what_it_leads_to(template: Any, value: Any) -> None:
    assert fill_template(template, KNOWN) == value


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{foo}}", "references begin with steps, input, item, index"),
        ("{{}}", "references begin with"),
        ("{{__import__('os').system('x')}}", "references begin with"),
        ("{{input.__class__.__mro__}}", "cannot be resolved: input has n, name"),
        ("{{input.n.real}}", "input.n is a value without parts"),
        ("{{input.name[0]}}", "input.name is a text without parts"),
        ("{{input.list[9]}}", "input.list is a list of 1"),
        ("{{input[0]}}", "input has n"),
        ("{{input.list.0}}", "input.list is a list of 1"),
        ("{{input.n + 1}}", "cannot be read at ' + 1'"),
        ("{{steps.a}}", "must name a step and one of output, error, status"),
        ("{{steps.a.result}}", "must name a step and one of"),
        ("{{item.x}}", "only within for_each"),
        ("{{index.x}}", "has no parts"),
        ('{{input["\\x"]}}', "no text in JSON"),
        ("{{input" + ".a" * 100 + "}}", "more than 64 path parts"),
    ],
)
def test_what_leads_nowhere_says_how_far_it_goes_and_what_is_there(template: str, words: str) -> None:
    with pytest.raises(InvalidReference) as refused:
        fill_template(template, KNOWN)
    assert words in str(refused.value)


@pytest.mark.parametrize("text", ["{{ ", "{{{ ", "{{{{ {{", "}} ", "{{input.n "])
def test_a_text_full_of_braces_is_examined_once(text: str) -> None:
    # Searched once for each of them, it would take hours.
    fill_template(text * 1_000_000, KNOWN)
    assert list(iterate_references(text * 1_000_000)) == []


@pytest.mark.parametrize(
    "template",
    ["{{input.text}}" * 1000, ["{{input.text}}"] * 1000, {"k": ["{{input}}"] * 1000}, "{{input.list}} " * 1000],
)
def test_no_more_is_filled_in_than_there_is_room_for(template: Any) -> None:
    text = "x" * 100_000
    with pytest.raises(InvalidReference, match="take more than 67,108,864 bytes"):
        fill_template(template, {"input": {"text": text, "list": [text]}})


@given(st.text(alphabet="{}ainput. "))
def test_what_is_found_in_a_text_is_what_is_filled_in(text: str) -> None:
    known = {"input": {"a": "", "n": ""}}
    try:
        found = list(iterate_references(text))
    except InvalidReference:
        with pytest.raises(InvalidReference):
            fill_template(text, known)
        return
    try:
        fill_template(text, known)
    except InvalidReference:
        assert found


@given(JSON)
def test_data_without_references_is_unchanged(data: Any) -> None:
    if "{{" not in repr(data):
        assert fill_template(data, KNOWN) == data
        assert list(iterate_references(data)) == []


@given(JSON, st.text())
def test_what_is_filled_in_is_never_read_again(value: Any, text: str) -> None:
    known = {"input": {"value": value, "text": "{{input.value}}" + text}}
    assert fill_template("{{input.value}}", known) == value
    assert fill_template("{{input.text}}", known) == known["input"]["text"]


@given(st.text())
def test_any_text_is_filled_in_or_refused(text: str) -> None:
    try:
        fill_template("{{" + text + "}}", KNOWN)
    except InvalidReference:
        return
