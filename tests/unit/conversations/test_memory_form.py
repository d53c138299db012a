"""Calls in memory form: every field is read back."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.memory_form import Memory
from tests.unit.conversations.message_reading import ADMIN, DIALECTS, PAYLOADS, read_body

WENT = {"code": "timeout", "duration_ms": 12.5, "attempts": 2, "run_id": "r1"}
CALL: dict[str, Any] = {"id": "c1", "name": "a", "arguments": {"x": 1}}


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        CALL | {"result": {"y": 2}, "duration_ms": 1.5, "attempts": 1, "run_id": "r1", "result_valid": True},
        CALL | {"error": "too slow", **WENT},
        CALL | {"result": 1, "provider_executed": True, "thought_signature_b64": "c2ln"},
        {"id": "c1", "name": "a", "arguments": None, "error": "malformed_arguments", "raw_arguments": '{"x'},
    ],
)
def test_every_key_of_a_call_is_read_back(call: dict[str, Any]) -> None:
    message = {"role": "assistant", "content": "hi", "tool_calls": [call]}
    (one,) = read_body(message)
    assert (one.calls, one.dialect, one.raw) == ((call,), "memory", None)
    (named,) = read_body(message, "memory")
    assert named.calls == (call,)


def test_calls_with_and_without_an_outcome_stand_in_one_message() -> None:
    calls = [CALL, CALL | {"id": "c2", "result": None}, CALL | {"id": "c3", "error": "no", **WENT}]
    (one,) = read_body({"role": "assistant", "content": "", "toolCalls": calls})
    assert one.calls == tuple(calls)


def test_how_a_call_went_is_composed_again() -> None:
    call = CALL | {"error": "too slow", **WENT}
    asked = PAYLOADS.read(call, None, ADMIN)
    assert asked.dialect == "memory" and Memory().compose(asked.calls) == [call]
    assert not asked.calls[0].is_open


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "function_call", "name": "a", "arguments": "{}", "call_id": "c", "result": 1},
        {"toolCallId": "c", "name": "a", "arguments": {}, "result": 1},
        {"id": "c", "name": "a", "arguments": {}, "function": {}, "error": "x"},
    ],
)
def test_calls_of_others_are_not_taken_for_memory(payload: dict[str, Any]) -> None:
    assert not Memory().recognises(payload)
    found = DIALECTS.detect(payload)
    assert found is None or found.name != "memory"
