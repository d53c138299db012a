"""Mastra: its chunks, its messages, and the three forms of seed 003."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.mastra import Mastra
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from tests.unit.dialects.web_dialects import KNOWN, WITH_IMAGE, answer_to, read, read_chunks

CALL = AskedCall("look", {"at": "it"}, "c1")


def chunk(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": kind, "runId": "r", "from": "AGENT", "payload": {"toolCallId": "c1", "toolName": "look", **payload}}


WHOLE = chunk("tool-call", args={"at": "it"})
START = chunk("tool-call-input-streaming-start")
DELTAS = [chunk("tool-call-delta", argsTextDelta=text) for text in ('{"at"', ':"it"}')]


@pytest.mark.parametrize(
    "payload",
    [
        {"from": "AGENT", "payload": {"toolCallId": "c1", "toolName": "look", "args": {"at": "it"}}},
        {"payload": {"id": "c1", "name": "look", "arguments": {"at": "it"}, "toolCallId": None}},
        {"id": "c1", "toolName": "look", "args": {"at": "it"}},
        {"toolCallId": "c1", "name": "look", "arguments": {"at": "it"}},
        {
            "toolCallId": "c1",
            "id": "other",
            "toolName": "look",
            "name": "other",
            "args": '{"at":"it"}',
            "arguments": {},
        },
        {"id": "other", "args": {}, "payload": {"toolCallId": "c1", "toolName": "look", "args": {"at": "it"}}},
        {"id": "c1", "args": {"at": "it"}, "payload": {"toolName": "look"}},
        {"text": "", "toolCalls": [WHOLE], "toolResults": []},
    ],
)
def test_a_call_is_found_in_its_payload_first_and_then_directly(payload: Any) -> None:
    asked = KNOWN.read(payload, "mastra")
    assert list(asked.calls) == [CALL]


@pytest.mark.parametrize("payload", [{}, {"toolName": 7}, "text", None, [3], {"args": {}}])
def test_what_names_no_tool_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload, "mastra")


def test_results_beside_a_call_answer_it_unless_they_are_null() -> None:
    given = {"id": "c1", "toolName": "look", "args": {"at": "it"}}
    assert read({**given, "result": 0}) == [CALL._replace(result=0)]
    assert read({**given, "result": None}) == [CALL]
    assert read({"payload": given, "result": ""}) == [CALL._replace(result="")]


def test_an_output_counts_only_for_what_the_provider_ran() -> None:
    assert read(chunk("tool-call", args={"at": "it"}, output=7)) == [CALL]
    needed = {"google": {"thoughtSignature": "s"}}
    theirs = chunk("tool-call", args={"at": "it"}, output=7, providerExecuted=True, providerMetadata=needed)
    ran = CALL._replace(result=7, provider_executed=True, extra={"provider_metadata": needed})
    assert read(theirs) == [ran]
    assert read(Mastra().compose(read(theirs))) == read(theirs)


def test_what_mastra_keeps_in_the_arguments_for_itself_is_left_out() -> None:
    assert read(chunk("tool-call", args={"at": "it", "__mastraMetadata": {"isStreaming": False}})) == [CALL]


def test_calls_are_held_until_the_step_says_that_no_other_user_answers_them() -> None:
    end = {"type": "step-finish", "from": "AGENT", "payload": {}}
    assert read_chunks([START, *DELTAS, WHOLE, end], "mastra") == [[], [], [], [], [CALL], []]
    result = chunk("tool-result", result=7)
    assert read_chunks([WHOLE, result, end], "mastra") == [[], [], [CALL._replace(result=7)], []]
    assert read_chunks([WHOLE, chunk("tool-error", error={"message": "broken"})], "mastra")[-1] == [
        CALL._replace(error="broken")
    ]


def test_two_calls_with_one_id_are_two() -> None:
    assert read([WHOLE, WHOLE]) == [CALL, CALL]


def test_arguments_that_mastra_made_empty_are_reported_by_the_pieces_they_came_in() -> None:
    (call,) = read([START, DELTAS[0], chunk("tool-call", args={})])
    assert (call.id, call.arguments.text) == ("c1", '{"at"')
    empty = chunk("tool-call-delta", argsTextDelta="{}")
    assert read([START, empty, chunk("tool-call", args={})]) == [AskedCall("look", {}, "c1")]


def test_pieces_alone_are_a_call_at_the_end() -> None:
    assert read([START, *DELTAS, chunk("tool-call-input-streaming-end")]) == [CALL]
    assert read([START, chunk("tool-call-input-streaming-end")]) == [AskedCall("look", {}, "c1")]
    assert read([START])[0].is_malformed


def test_a_call_that_waits_for_approval_is_not_run() -> None:
    (call,) = read([WHOLE, chunk("tool-call-approval", args={"at": "it"})])
    assert not call.is_open


def test_events_without_calls_are_passed_over() -> None:
    events: list[dict[str, Any]] = [
        {"type": kind, "runId": "r", "from": "AGENT", "payload": {}} for kind in ("start", "text-delta", "finish")
    ]
    assert KNOWN.detect(events) is KNOWN["mastra"]
    assert read(events) == []


@pytest.mark.parametrize(("state", "result"), [("call", ABSENT), ("result", 7)])
def test_messages_as_its_memory_keeps_them_are_read(state: str, result: Any) -> None:
    inner = {"toolCallId": "c1", "toolName": "look", "args": {"at": "it"}, "state": state, "result": 7}
    content = {"format": 2, "parts": [{"type": "tool-invocation", "toolInvocation": inner}], "toolInvocations": [inner]}
    assert read({"id": "m", "role": "assistant", "content": content}) == [CALL._replace(result=result)]


def test_an_answer_says_what_was_asked_too() -> None:
    (part,) = Mastra().render([answer_to(CALL, WITH_IMAGE)], many=False)["content"]
    assert part["input"] == {"at": "it"}
    assert part["output"]["value"][1] == {"type": "media", "data": "aGk=", "mediaType": "image/png"}
