"""AG-UI: its events and its messages."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.ag_ui import AgUi
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from tests.unit.dialects.web_dialects import KNOWN, WITH_IMAGE, answer_to, read, read_chunks

CALL = AskedCall("look", {"at": "it"}, "c1")
START = {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look"}
PIECES = [{"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": text} for text in ('{"at"', ':"it"}')]
END = {"type": "TOOL_CALL_END", "toolCallId": "c1"}
RESULT = {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c1", "content": "fine"}
FUNCTION = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":"it"}'}}
MESSAGE = {"id": "m", "role": "assistant", "toolCalls": [FUNCTION]}


def chunk(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "TOOL_CALL_CHUNK", "delta": text, **more}


def test_a_call_is_handed_out_when_it_ends() -> None:
    assert read_chunks([{"type": "RUN_STARTED"}, START, *PIECES, END], "ag_ui") == [[], [], [], [], [CALL], []]


def test_calls_whose_events_mix_are_distinguished() -> None:
    other = [{**event, "toolCallId": "c2"} for event in (START, *PIECES, END)]
    mixed = [event for pair in zip([START, *PIECES, END], other, strict=True) for event in pair]
    assert read(mixed) == [CALL, CALL._replace(id="c2")]


def test_a_chunk_belongs_to_the_call_named_last() -> None:
    first = [chunk("", toolCallId="c1", toolCallName="look"), chunk('{"at"'), chunk(':"it"}')]
    second = [chunk("{}", toolCallId="c2", toolCallName="list")]
    assert read_chunks([*first, *second, {"type": "RUN_FINISHED"}], "ag_ui") == [
        *([], [], []),
        [CALL],
        [AskedCall("list", {}, "c2")],
        [],
    ]


def test_a_chunked_call_without_arguments_ends_with_whatever_else_comes() -> None:
    named = chunk("", toolCallId="c1", toolCallName="look")
    assert read([named, {"type": "TEXT_MESSAGE_START"}]) == [AskedCall("look", {}, "c1")]
    assert read([named])[0].is_malformed


def test_a_stream_that_was_cut_off_leaves_a_malformed_call() -> None:
    (call,) = read([START, PIECES[0]])
    assert call.arguments.text == '{"at"'


@pytest.mark.parametrize(
    "history",
    [
        [START, *PIECES, END, RESULT],
        [MESSAGE, {"id": "t", "role": "tool", "toolCallId": "c1", "content": "fine"}],
        {"messages": [MESSAGE, {"id": "t", "role": "tool", "toolCallId": "c1", "content": "fine"}], "threadId": "t"},
        {"type": "MESSAGES_SNAPSHOT", "messages": [MESSAGE, {"role": "tool", "toolCallId": "c1", "content": "fine"}]},
    ],
)
def test_a_result_answers_its_call(history: Any) -> None:
    asked = KNOWN.read(history)
    assert (asked.dialect, list(asked.calls)) == ("ag_ui", [CALL._replace(result="fine")])


def test_an_error_is_reported_as_one_both_ways() -> None:
    message = AgUi().render([answer_to(CALL, error="broken")], many=False)
    assert (message["content"], message["error"], message["toolCallId"]) == ("broken", "broken", "c1")
    assert read([MESSAGE, message]) == [CALL._replace(error="broken")]


def test_a_result_that_is_json_text_is_what_it_says() -> None:
    (call,) = read([START, *PIECES, END, {**RESULT, "content": '{"sky": "clear"}'}])
    assert call.result == {"sky": "clear"}


def test_images_are_described() -> None:
    assert AgUi().render([answer_to(CALL, WITH_IMAGE)], many=False)["content"] == "look\n[image image/png]"


def test_one_message_a_call() -> None:
    answers = [answer_to(CALL, {"a": 1}), answer_to(CALL._replace(id="c2"), "b")]
    messages = AgUi().render(answers, many=True)
    assert [(message["toolCallId"], message["content"]) for message in messages] == [("c1", '{"a":1}'), ("c2", "b")]
    assert len({message["id"] for message in messages}) == 2


def test_one_call_by_itself_is_read_if_the_dialect_is_named() -> None:
    asked = KNOWN.read(FUNCTION, "ag_ui")
    assert (asked.many, list(asked.calls)) == (False, [CALL])


@pytest.mark.parametrize("payload", ["text", 7, None, {"foo": 1}, {"messages": 3}])
def test_what_is_nothing_of_it_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload, "ag_ui")
