"""The plain dialect: calls in, answers out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Problem, ToolResult
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls
from pegboard.dialects.plain import Plain
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed
from pegboard.model.call_errors import ErrorType, FieldProblem
from tests.unit.dialects.rendering import answer_of, rendered

MISSING = FieldProblem("missing", "Field 'a' is required", "a", "string")
TOO_BIG = FieldProblem("too_big", "Field 'b' is too big", "b", "at most 3", "4")
RESULTS = [
    ToolResult("quote", True, b'{"price":[1]}', elapsed_ms=1.5),
    ToolResult("quote", True, b"null", elapsed_ms=0.1, call_id="c1", fallback=True),
    ToolResult("quote", False, problem=Problem(ErrorType.UNKNOWN, "rate_limited", "Slower", True, 250), elapsed_ms=0.2),
    ToolResult("quote", False, problem=Problem(ErrorType.VALIDATION, "missing", "Bad", problems=(MISSING, TOO_BIG))),
]


def parse(payload: Any) -> ParsedCalls:
    return Dialects([Plain()]).read(payload, "plain")


def test_an_object_is_one_call_and_a_list_several() -> None:
    assert parse({"name": "a"}) == ParsedCalls("plain", (AskedCall("a", {}),), many=False)
    asked = parse([{"name": "a", "arguments": {"x": 1}, "id": "1"}, {"name": "b", "arguments": None}])
    assert asked == ParsedCalls("plain", (AskedCall("a", {"x": 1}, "1"), AskedCall("b", {})), many=True)
    assert parse([]) == ParsedCalls("plain", (), many=True)


def test_arguments_that_are_no_object_are_malformed() -> None:
    assert parse({"name": "a", "arguments": [1]}).calls[0].arguments == Malformed(
        "[1]", "they must be a JSON object, and are an array"
    )


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        (None, [""]),
        ("a", [""]),
        ([1], ["0"]),
        ({}, ["name"]),
        ({"name": None}, ["name"]),
        ({"name": "a", "id": 1, "args": {}}, ["id", "args"]),
        ([{"name": "a"}, {"name": ""}], ["1.name"]),
    ],
)
def test_what_is_no_call_is_refused_by_field(payload: Any, fields: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        parse(payload)
    assert [fault.field for fault in refused.value.faults] == fields


def test_answers_have_the_promised_shape() -> None:
    good, fallen_back, limited, invalid = [rendered(Plain(), result) for result in RESULTS]
    assert good == {"success": True, "result": {"price": [1]}, "tool_name": "quote", "execution_time_ms": 1.5}
    assert fallen_back == {
        "success": True,
        "result": None,
        "fallback": True,
        "tool_name": "quote",
        "execution_time_ms": 0.1,
        "id": "c1",
    }
    assert limited["error_details"] == {"type": "UNKNOWN_ERROR", "code": "rate_limited", "retry_after_ms": 250}
    assert (invalid["success"], invalid["error"]) == (False, "Bad")
    assert invalid["error_details"] == {
        "type": "VALIDATION_ERROR",
        "code": "missing",
        "field": "a",
        "expected": "string",
        "problems": [
            {"message": "Field 'a' is required", "code": "missing", "field": "a", "expected": "string"},
            {
                "message": "Field 'b' is too big",
                "code": "too_big",
                "field": "b",
                "expected": "at most 3",
                "received": "4",
            },
        ],
    }


def test_the_text_says_what_the_data_says() -> None:
    for result in RESULTS:
        received = rendered(Plain(), result)
        assert orjson.loads(Plain().render_json(answer_of(result))) == orjson.loads(orjson.dumps(received))


def test_a_list_for_a_list_and_an_object_for_an_object() -> None:
    answers = [answer_of(result) for result in RESULTS]
    assert Plain().render(answers, many=True) == [rendered(Plain(), result) for result in RESULTS]
    assert Plain().render([], many=True) == []


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=15
    )
)
def test_any_payload_is_read_or_refused(payload: Any) -> None:
    try:
        asked = parse(payload)
    except Invalid as refused:
        assert refused.faults
        return
    assert asked.many == isinstance(payload, list)
    assert all(call.name for call in asked.calls)
