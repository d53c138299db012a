"""Memory: calls with their outcomes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.memory_form import Memory
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from pegboard.dialects.plain import Plain
from pegboard.model.call import Malformed
from tests.unit.dialects.framework_payloads import JSON, bad, calls_of, good, tool_of

DIALECT = Memory()
KNOWN = Dialects([Plain(), DIALECT])
CALL = {"id": "c1", "name": "a", "arguments": {"x": 1}}
ASKED = AskedCall("a", {"x": 1}, "c1")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (CALL | {"result": None}, ASKED._replace(result=None)),
        (CALL | {"result": {"y": 2}}, ASKED._replace(result={"y": 2})),
        (CALL | {"error": "no"}, ASKED._replace(error="no")),
        (CALL | {"error": {"code": 1}}, ASKED._replace(error='{"code":1}')),
        (CALL | {"result": 1, "provider_executed": True}, ASKED._replace(result=1, provider_executed=True)),
    ],
)
def test_a_call_with_its_outcome_is_found_and_is_not_open(payload: Any, expected: AskedCall) -> None:
    asked = KNOWN.read(payload)
    assert (asked.dialect, asked.calls, asked.many) == ("memory", (expected,), False)
    assert not asked.calls[0].is_open


def test_a_call_without_an_outcome_is_plain_unless_it_is_reported_to_be_of_memory() -> None:
    assert KNOWN.read(CALL).dialect == "plain"
    asked = KNOWN.read(CALL, "memory")
    assert (asked.dialect, asked.calls) == ("memory", (ASKED,))


def test_a_message_has_its_calls_and_those_without_an_outcome_are_open() -> None:
    message = {
        "id": "m1",
        "role": "assistant",
        "content": "hi",
        "timestamp": "2026-01-01T00:00:00Z",
        "tool_calls": [CALL | {"result": 1}, CALL],
    }
    asked = KNOWN.read([message, {"id": "m2", "role": "user", "content": "thanks"}])
    assert asked.dialect == "memory" and [call.result for call in asked.calls] == [1, ABSENT]


@pytest.mark.parametrize(
    "payload",
    [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "a"}}]},
        {"role": "assistant", "tool_calls": [{"id": "c1", "name": "a", "args": {}, "type": "tool_call"}]},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        CALL | {"result": 1, "type": "other"},
    ],
)
def test_calls_of_others_are_not_taken(payload: Any) -> None:
    assert not DIALECT.recognises(payload)


@pytest.mark.parametrize("payload", [None, 1, "a", {}, {"name": 1}])
def test_what_holds_no_call_is_unreadable(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        calls_of(DIALECT, payload)


@given(JSON)
def test_an_answer_is_read_as_the_call_that_ended_so(output: Any) -> None:
    done, failed = DIALECT.render([Answer(ASKED, good(output, "a")), Answer(ASKED, bad("no", "a"))], many=True)
    output = orjson.loads(orjson.dumps(output))
    assert done == CALL | {"result": output}
    assert failed == CALL | {"error": "no"}
    assert orjson.loads(DIALECT.render_json(Answer(ASKED, good(output, "a")))) == done
    assert calls_of(DIALECT, [done, failed]) == [ASKED._replace(result=output), ASKED._replace(error="no")]


def test_a_call_by_name_alone_gets_an_id() -> None:
    answer = DIALECT.render([Answer(AskedCall("", {}), good(1, "a"))], many=False)
    assert answer["name"] == "a" and answer["id"].startswith("call_")


def test_arguments_that_cannot_be_read_are_kept_as_text() -> None:
    call = ASKED._replace(arguments=Malformed('{"x', "it ends too early"))
    (kept,) = DIALECT.compose([call])
    assert kept == {"id": "c1", "name": "a", "arguments": None, "raw_arguments": '{"x'}


def test_numbers_beyond_64_bits_are_kept_digit_for_digit() -> None:
    call = ASKED._replace(arguments={"x": 10**30 + 1})
    kept = orjson.loads(DIALECT.render_json(Answer(call, good(1, "a"))))
    assert calls_of(DIALECT, kept) == [call._replace(result=1)]


def test_a_definition_names_the_arguments() -> None:
    schema = {"type": "object", "properties": {}}
    assert DIALECT.define(tool_of("a", schema, "A")) == {"name": "a", "description": "A", "arguments": schema}
