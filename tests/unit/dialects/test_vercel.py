"""Vercel's AI SDK: messages, results and the lines of its data stream."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from pegboard.dialects.vercel import VercelV4, VercelV5, VercelV7
from tests.unit.dialects.web_dialects import IMAGE, KNOWN, WITH_IMAGE, answer_to, read, read_chunks

CALL = AskedCall("look", {"at": "it"}, "c1")
V7_PART = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": "it"}}
V4_PART = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"at": "it"}}


@pytest.mark.parametrize(
    ("payload", "dialect"),
    [
        (V7_PART, "vercel_ai_v7"),
        (V4_PART, "vercel_ai_v4"),
        ({"toolCallId": "c1", "toolName": "look", "input": {"at": "it"}}, "vercel_ai_v7"),
        ({"toolCallType": "function", "toolCallId": "c1", "toolName": "look", "args": '{"at":"it"}'}, "vercel_ai_v4"),
        ({**V7_PART, "input": '{"at":"it"}'}, "vercel_ai_v7"),
        (
            {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [V7_PART]}]},
            "vercel_ai_v7",
        ),
        ({"messages": [{"role": "assistant", "content": [V4_PART]}]}, "vercel_ai_v4"),
        ({"text": "", "toolCalls": [V7_PART], "toolResults": []}, "vercel_ai_v7"),
        ({"text": "", "toolCalls": [V4_PART], "toolResults": []}, "vercel_ai_v4"),
        ({"content": [{"type": "text", "text": "Well"}, V7_PART], "finishReason": "tool-calls"}, "vercel_ai_v7"),
        ([{"type": "stream-start", "warnings": []}, V7_PART, {"type": "finish", "finishReason": "x"}], "vercel_ai_v7"),
        (
            [{"type": "step-start"}, {"type": "text-delta", "textDelta": "a"}, V4_PART, {"type": "finish"}],
            "vercel_ai_v4",
        ),
        ({"role": "assistant", "content": "", "toolInvocations": [{**V4_PART, "state": "call"}]}, "vercel_ai_v4"),
        ('9:{"toolCallId":"c1","toolName":"look","args":{"at":"it"}}\n0:"text"\n', "vercel_ai_v4"),
    ],
)
def test_a_call_is_found_in_every_shape_of_its_version(payload: Any, dialect: str) -> None:
    asked = KNOWN.read(payload)
    assert (asked.dialect, list(asked.calls)) == (dialect, [CALL])


def test_the_short_name_is_the_current_version() -> None:
    assert KNOWN["vercel"].name == "vercel_ai_v7"


def test_only_a_call_by_itself_is_one_bare_call() -> None:
    assert KNOWN.read(V7_PART).many is False
    assert KNOWN.read([V7_PART]).many
    assert KNOWN.read({"role": "assistant", "content": [V7_PART]}).many


def test_results_that_stand_beside_their_calls_answer_them() -> None:
    result = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "input": {"at": "it"}, "output": None}
    (call,) = read({"toolCalls": [V7_PART], "toolResults": [result]})
    assert call == CALL._replace(result=None)
    assert not call.is_open


@pytest.mark.parametrize(
    ("output", "result", "error"),
    [
        ({"type": "json", "value": {"a": 1}}, {"a": 1}, None),
        ({"type": "text", "value": "fine"}, "fine", None),
        ({"type": "content", "value": [{"type": "text", "text": "x"}]}, [{"type": "text", "text": "x"}], None),
        ({"type": "error-text", "value": "Error: broken"}, ABSENT, "broken"),
        ({"type": "error-json", "value": {"code": 4}}, ABSENT, '{"code":4}'),
        ({"type": "execution-denied"}, ABSENT, "The call was denied"),
        ({"type": "execution-denied", "reason": "not today"}, ABSENT, "not today"),
        ({"type": "mine", "value": 1}, {"type": "mine", "value": 1}, None),
    ],
)
def test_a_message_with_a_result_answers_the_call_before_it(output: Any, result: Any, error: str | None) -> None:
    part = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": output}
    history = [{"role": "assistant", "content": [V7_PART]}, {"role": "tool", "content": [part]}]
    assert read(history) == [CALL._replace(result=result, error=error)]


def test_what_a_provider_needs_back_is_sent_back() -> None:
    needed = {"google": {"thoughtSignature": "s"}}
    (call,) = read({**V7_PART, "providerMetadata": needed})
    assert call.extra == {"provider_metadata": needed}
    message = VercelV7().compose([call])
    assert message["content"][0]["providerOptions"] == needed
    assert read(message) == [call]


@pytest.mark.parametrize("dialect", [VercelV4(), VercelV5(), VercelV7()])
def test_what_the_provider_ran_itself_is_composed_with_its_result(dialect: Any) -> None:
    call = AskedCall("search", {}, "s1", result={"hits": 1}, provider_executed=True)
    assert read(dialect.compose([call]), dialect.name) == [call]


def test_texts_and_errors_are_reported_by_their_type() -> None:
    answers = [answer_to(CALL, "sunny"), answer_to(CALL, [1]), answer_to(CALL, error="broken")]
    parts = VercelV7().render(answers, many=True)["content"]
    assert [part["output"] for part in parts] == [
        {"type": "text", "value": "sunny"},
        {"type": "json", "value": [1]},
        {"type": "error-text", "value": "Error: broken"},
    ]
    assert VercelV5().render(answers[2:], many=False)["content"][0]["output"]["value"] == "broken"
    (part,) = VercelV4().render(answers[2:], many=False)["content"]
    assert (part["result"], part["isError"]) == ("broken", True)


def test_images_go_as_each_version_takes_them() -> None:
    text = {"type": "text", "text": "look"}
    answer = answer_to(CALL, WITH_IMAGE)
    file = {"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": "aGk="}}
    media = {"type": "media", "mediaType": "image/png", "data": "aGk="}
    assert VercelV7().render([answer], many=False)["content"][0]["output"]["value"] == [text, file]
    assert VercelV5().render([answer], many=False)["content"][0]["output"]["value"] == [text, media]
    assert VercelV4().render([answer], many=False)["content"][0]["experimental_content"] == [text, IMAGE]


def test_a_call_without_an_id_is_answered_by_the_id_of_its_run() -> None:
    part = VercelV7().render([answer_to(AskedCall("look", {}), 1)], many=False)["content"][0]
    assert part["toolCallId"] == "call_run"


def test_lines_that_were_cut_off_or_carry_no_call_are_passed_over() -> None:
    lines = ['f:{"messageId":"m"}', '0:"hello"', '9:{"toolCallId":"c', "nonsense", "9:[1]", 'd:{"finishReason":"stop"}']
    assert read(lines, "vercel_ai_v4") == []
    assert KNOWN.detect(lines) is KNOWN["vercel_ai_v4"]


def test_lines_are_read_as_they_come() -> None:
    lines = ['b:{"toolCallId":"c1","toolName":"look"}', 'c:{"toolCallId":"c1","argsTextDelta":"{\\"at\\":\\"it\\"}"}']
    given = read_chunks([*lines, '9:{"toolCallId":"c1","toolName":"look","args":{"at":"it"}}'], "vercel_ai_v4")
    assert given == [[], [], [CALL], []]
    assert read_chunks(lines, "vercel_ai_v4") == [[], [], [CALL]]


@pytest.mark.parametrize("payload", ["text", 7, None, [[1]], {"foo": 1}])
def test_what_is_nothing_of_it_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload, "vercel_ai_v7")
