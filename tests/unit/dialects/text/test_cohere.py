"""Calls of Cohere's Command models."""

from __future__ import annotations

from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.cohere_text import CohereR7B
from tests.formats import cases
from tests.unit.dialects.text.feeding import calls_of, failed, list_malformed_calls, list_valid_calls, render_success

(EXAMPLE,) = (case for case in cases("result") if str(case) == "text_cohere_r7b-success")


def test_a_call_that_is_cut_off_keeps_its_name_and_id() -> None:
    text = '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "Zü'
    (call,) = calls_of(CohereR7B(), text)
    assert (call.id, call.name, call.is_malformed) == ("0", "f", True)
    assert list_malformed_calls(CohereR7B(), text) == [("f", '{"a": "Zü')]


def test_a_plan_is_no_call() -> None:
    call = CohereR7B().compose([AskedCall("f", {})])
    assert list_valid_calls(CohereR7B(), f"<|START_THINKING|>{call}<|END_THINKING|>{call}") == [("f", {})]
    assert list_valid_calls(CohereR7B(), f"I may {call}<|END_THINKING|>") == []


def test_ids_are_kept_and_generated_if_there_are_none() -> None:
    text = CohereR7B().compose([AskedCall("f", {}), AskedCall("g", {"a": 1}, "7")])
    assert calls_of(CohereR7B(), text) == [AskedCall("f", {}, "0"), AskedCall("g", {"a": 1}, "7")]


def test_one_turn_has_all_the_results() -> None:
    turn = render_success(CohereR7B())
    assert turn.startswith("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>")
    assert turn.partition("<|START_OF_TURN_TOKEN|><|")[2] in EXAMPLE.payload
    assert render_success(CohereR7B(), 2).count("<|START_TOOL_RESULT|>") == 1
    assert '"tool_call_id": "1"' in render_success(CohereR7B(), 2)


def test_a_failure_is_marked_as_one() -> None:
    assert '"is_error": true' in failed(CohereR7B())
