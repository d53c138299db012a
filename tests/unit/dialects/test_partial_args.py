"""Arguments that Gemini streams value by value."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.gemini import GeminiGenerateContent
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.gemini_parts import parse_json_path
from tests.unit.dialects.framework_payloads import calls_of, never_raises, replace_one_value, streamed

DIALECT = GeminiGenerateContent()


def chunk(call: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}, **more}]}


def going_on(*args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return chunk({"partialArgs": list(args), "willContinue": True, **more})


STREAM = [
    chunk({"name": "trip", "id": "fc-1", "willContinue": True}),
    going_on({"jsonPath": "$.city", "stringValue": "New ", "willContinue": True}),
    going_on({"jsonPath": "$.city", "stringValue": "Delhi"}, {"jsonPath": "$.days", "numberValue": 3.0}),
    going_on(
        {"jsonPath": "$.stops[0].name", "stringValue": "a"}, {"jsonPath": "$.stops[1]['why not']", "boolValue": True}
    ),
    going_on({"jsonPath": "$.note", "nullValue": None}, {"jsonPath": "$.cost", "numberValue": 1.5}),
    chunk({}),
]
ARGUMENTS = {
    "city": "New Delhi",
    "days": 3,
    "stops": [{"name": "a"}, {"why not": True}],
    "note": None,
    "cost": 1.5,
}


def test_values_are_put_where_their_paths_say() -> None:
    assert streamed(DIALECT, STREAM) == [AskedCall("trip", ARGUMENTS, "fc-1")]
    assert streamed(DIALECT, STREAM)[0].arguments["days"].__class__ is int


def test_what_the_python_sdk_dumps_is_read_too() -> None:
    def piece(value: str, goes_on: bool) -> dict[str, Any]:
        arg = {"json_path": "$.a", "string_value": value, "null_value": None, "will_continue": goes_on}
        call = {"name": None, "id": None, "args": None, "partial_args": [arg], "will_continue": goes_on}
        return {"candidates": [{"content": {"parts": [{"function_call": call}]}}]}

    head = {"candidates": [{"content": {"parts": [{"function_call": {"name": "add", "will_continue": True}}]}}]}
    assert streamed(DIALECT, [head, piece("x", True), piece("y", False)]) == [AskedCall("add", {"a": "xy"})]


def test_a_call_that_was_cut_off_is_malformed_with_what_came() -> None:
    [call] = streamed(DIALECT, STREAM[:3])
    assert (call.id, call.arguments.text) == ("fc-1", '{"city":"New Delhi","days":3')
    assert calls_of(DIALECT, STREAM[:1])[0].is_malformed


def test_a_finished_answer_completes_its_calls_and_one_that_ran_out_does_not() -> None:
    text = {"content": {"parts": [{"text": ""}]}}
    for reason, is_malformed in (("STOP", False), ("MAX_TOKENS", True)):
        [call] = streamed(DIALECT, [*STREAM[:-1], {"candidates": [{**text, "finishReason": reason}]}])
        assert call.is_malformed is is_malformed


def test_calls_with_ids_may_be_mixed_and_others_follow_one_another() -> None:
    mixed = [
        going_on(name="a", id="1"),
        going_on(name="b", id="2"),
        chunk({"id": "1", "partialArgs": [{"jsonPath": "$.x", "numberValue": 1}]}),
        chunk({"id": "2", "partialArgs": [{"jsonPath": "$.x", "numberValue": 2}]}),
    ]
    assert [call.arguments for call in calls_of(DIALECT, mixed)] == [{"x": 1}, {"x": 2}]
    alike = [going_on(name="a"), chunk({}), going_on(name="a"), chunk({}), chunk({"name": "b", "args": {"x": 1}})]
    assert [call.name for call in calls_of(DIALECT, alike)] == ["a", "a", "b"]


def test_a_final_chunk_with_all_arguments_counts_once() -> None:
    assert calls_of(DIALECT, [*STREAM[:3], chunk({"name": "trip", "id": "fc-1", "args": {"city": "x"}})]) == [
        AskedCall("trip", {"city": "x"}, "fc-1")
    ]


@pytest.mark.parametrize(
    "args",
    [
        [{"jsonPath": "$", "numberValue": 1}],
        [{"jsonPath": "city", "numberValue": 1}],
        [{"jsonPath": "$.a[*]", "numberValue": 1}],
        [{"jsonPath": "$..a", "numberValue": 1}],
        [{"jsonPath": "$[0]", "numberValue": 1}],
        [{"jsonPath": "$.a[7]", "numberValue": 1}],
        [{"jsonPath": "$.a[99999999999]", "nullValue": None}],
        [{"jsonPath": None, "numberValue": 1}],
        [{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a.b", "nullValue": None}],
        [{"jsonPath": "$.a.b", "numberValue": 1}, {"jsonPath": "$.a", "stringValue": "x"}],
        [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a", "numberValue": 1}],
        [{"jsonPath": f"${'.a' * 65}", "numberValue": 1}],
        ["odd"],
    ],
)
def test_values_without_one_place_make_the_call_malformed(args: list[Any]) -> None:
    [call] = calls_of(DIALECT, [chunk({"name": "add", "partialArgs": args})])
    assert call.is_malformed
    assert "odd" in args or "jsonPath" in call.arguments.text


@given(st.lists(st.text(max_size=6) | st.integers(0, 9), min_size=1, max_size=6))
def test_a_path_is_read_as_it_is_written(steps: list[str | int]) -> None:
    written = "".join(f"[{orjson.dumps(step).decode()}]" for step in steps)
    assert parse_json_path(f"${written}") == tuple(steps)


@given(replace_one_value([STREAM]))
def test_nothing_but_a_refusal_comes_of_any_json(payload: Any) -> None:
    never_raises(DIALECT, payload)
