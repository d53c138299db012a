"""Parts of Vercel's AI SDK: streams, and the states of a call in a user interface."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.call import Malformed
from tests.unit.dialects.web_dialects import read, read_chunks

CALL = AskedCall("look", {"at": "it"}, "c1")
START = {"type": "tool-input-start", "id": "c1", "toolName": "look"}
DELTAS = [{"type": "tool-input-delta", "id": "c1", "delta": text} for text in ('{"at"', ':"it"}')]
END = {"type": "tool-input-end", "id": "c1"}
FINAL = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": "it"}}
RESULT = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "input": {"at": "it"}, "output": 7}


def ui(state: str, **more: Any) -> dict[str, Any]:
    part = {"type": "tool-look", "toolCallId": "c1", "state": state, "input": {"at": "it"}, **more}
    return {"id": "m", "role": "assistant", "parts": [{"type": "step-start"}, part]}


def test_a_call_is_returned_when_its_last_part_says_where_it_runs() -> None:
    assert read_chunks([START, *DELTAS, END, FINAL, RESULT], "vercel") == [[], [], [], [], [CALL], [], []]


def test_pieces_alone_are_handed_out_at_the_end() -> None:
    assert read_chunks([START, *DELTAS, END], "vercel")[-1] == [CALL]


def test_pieces_that_begin_together_are_distinguished_by_id() -> None:
    other = [{**part, "id": "c2"} for part in (START, *DELTAS, END)]
    mixed = [part for pair in zip([START, *DELTAS, END], other, strict=True) for part in pair]
    assert read(mixed, "vercel") == [CALL, CALL._replace(id="c2")]


def test_a_call_without_arguments_is_one_if_its_end_came_and_cut_off_if_not() -> None:
    assert read([START, END], "vercel") == [AskedCall("look", {}, "c1")]
    (call,) = read([START], "vercel")
    assert call.is_malformed
    (call,) = read([START, DELTAS[0]], "vercel")
    assert call.arguments.text == '{"at"'


def test_a_call_that_is_begun_as_the_providers_stays_the_providers() -> None:
    begun = {**START, "providerExecuted": True}
    assert [call.provider_executed for call in read([begun, *DELTAS, END], "vercel")] == [True]
    assert [call.provider_executed for call in read([begun, *DELTAS, END, FINAL], "vercel")] == [True]


def test_a_result_on_the_way_to_another_is_none_yet() -> None:
    early = {**RESULT, "preliminary": True, "output": 3}
    assert read([FINAL, early], "vercel") == [CALL]
    assert read([FINAL, early, early, RESULT], "vercel") == [CALL._replace(result=7)]


def test_an_output_that_looks_typed_is_itself_where_outputs_are_not_typed() -> None:
    (call,) = read([FINAL, {**RESULT, "output": {"type": "json", "value": 1}}], "vercel")
    assert call.result == {"type": "json", "value": 1}


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ({"type": "tool-error", "error": {"name": "Error", "message": "broken"}}, "broken"),
        ({"type": "tool-error", "error": "broken"}, "broken"),
        ({"type": "tool-error", "error": {}}, "The tool failed without an error message"),
        ({"type": "tool-output-error", "errorText": "broken"}, "broken"),
        ({"type": "tool-output-denied"}, "The call was denied"),
        ({"type": "tool-result", "result": "broken", "isError": True}, "broken"),
    ],
)
def test_an_error_answers_its_call(part: dict[str, Any], error: str) -> None:
    assert read([FINAL, {"toolCallId": "c1", **part}], "vercel") == [CALL._replace(error=error)]


def test_an_error_over_arguments_no_one_can_read_leaves_them_to_be_answered() -> None:
    wrong = {**FINAL, "input": '{"at', "invalid": True, "dynamic": True}
    (call,) = read([wrong, {"type": "tool-error", "toolCallId": "c1", "error": "invalid input"}], "vercel")
    assert (call.is_open, call.arguments.text) == (True, '{"at')


def test_a_result_whose_call_is_not_in_sight_stands_alone() -> None:
    assert read([RESULT], "vercel") == [CALL._replace(result=7)]


@pytest.mark.parametrize(
    ("message", "result", "error"),
    [
        (ui("input-available"), ABSENT, None),
        (ui("output-available", output=[]), [], None),
        (ui("output-error", errorText="broken"), ABSENT, "broken"),
        (ui("output-denied", approval={"id": "a", "approved": False, "reason": "no"}), ABSENT, "no"),
        (ui("approval-requested", approval={"id": "a"}), ABSENT, "The call is waiting for approval by a person"),
        (ui("approval-responded", approval={"id": "a", "approved": True}), ABSENT, None),
        (ui("approval-responded", approval={"id": "a", "approved": False}), ABSENT, "The call was denied"),
    ],
)
def test_an_interface_says_how_far_a_call_is(message: dict[str, Any], result: Any, error: str | None) -> None:
    assert read(message) == [CALL._replace(result=result, error=error)]


def test_what_an_interface_is_still_receiving_is_no_call_to_run() -> None:
    (call,) = read(ui("input-streaming"))
    assert call.arguments == Malformed('{"at":"it"', call.arguments.why)
    (call,) = read(ui("input-streaming", input=None))
    assert call.is_malformed


def test_a_message_that_comes_again_further_on_has_its_calls_once() -> None:
    states = [ui("input-streaming", input={}), ui("input-streaming"), ui("input-available"), ui("input-available")]
    assert read(states) == [CALL]
    done = ui("output-available", output=7)
    assert read([*states, done, done]) == [CALL._replace(result=7)]


def test_input_that_an_interface_could_not_read_is_kept_as_it_came() -> None:
    (call,) = read(ui("output-error", input=None, rawInput='{"at', errorText="broken"))
    assert (call.error, call.arguments.text) == ("broken", '{"at')


@pytest.mark.parametrize(("state", "result"), [("call", ABSENT), ("result", 7)])
def test_an_invocation_of_version_4_has_its_state(state: str, result: Any) -> None:
    inner = {"toolCallId": "c1", "toolName": "look", "args": {"at": "it"}, "state": state, "result": 7}
    message = {"role": "assistant", "content": "", "parts": [{"type": "tool-invocation", "toolInvocation": inner}]}
    assert read(message) == [CALL._replace(result=result)]
    assert read({"role": "assistant", "content": "", "toolInvocations": [inner]}) == [CALL._replace(result=result)]


@pytest.mark.parametrize(
    ("responses", "error"),
    [
        ([], "The call is waiting for approval by a person"),
        ([{"type": "tool-approval-response", "approvalId": "a", "approved": True}], None),
        ([{"type": "tool-approval-response", "approvalId": "a", "approved": False, "reason": "no"}], "no"),
        (
            [{"type": "tool-approval-response", "approvalId": "other", "approved": True}],
            "The call is waiting for approval by a person",
        ),
    ],
)
def test_a_call_that_waits_for_approval_is_not_run(responses: list[Any], error: str | None) -> None:
    request = {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c1"}
    history = [{"role": "assistant", "content": [FINAL, request]}, {"role": "tool", "content": responses}]
    assert read(history, "vercel") == [CALL._replace(error=error)]
    automatic = [FINAL, {**request, "isAutomatic": True}]
    assert read(automatic, "vercel") == [CALL]
    assert read([FINAL, request, RESULT], "vercel") == [CALL._replace(result=7)]
