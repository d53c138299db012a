"""Haystack's messages of parts, its streams and its answers."""

from __future__ import annotations

from typing import Any

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.haystack import Haystack
from pegboard.dialects.parsed_calls import AskedCall
from tests.unit.dialects.framework_payloads import bad, calls_of, good, streamed

HAYSTACK = Haystack()
WEATHER = AskedCall("get_weather", {"city": "Zürich"}, "call_W1")
CALL = {"tool_name": "get_weather", "arguments": {"city": "Zürich"}, "id": "call_W1", "extra": None}


def message(*parts: dict[str, Any], role: str = "assistant", old: bool = False) -> dict[str, Any]:
    """Return a message of parts, also in the form before 2.9."""
    return {"_role": role, "_content": list(parts)} if old else {"role": role, "meta": {}, "content": list(parts)}


def received(result: Any, *, error: bool = False, **origin: Any) -> dict[str, Any]:
    """A part that answers a call."""
    return {"tool_call_result": {"result": result, "origin": CALL | origin, "error": error}}


def chunk(*calls: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    """A chunk of a stream."""
    return {"content": "", "component_info": None, "tool_calls": list(calls), "finish_reason": reason}


def test_a_history_answers_its_calls() -> None:
    for old in (False, True):
        for part, outcome in ((received('{"temp_c": 7.5}'), {"temp_c": 7.5}), (received("no", error=True), "no")):
            history = [
                message({"text": "Weather?"}, role="user", old=old),
                message({"text": "One moment"}, {"tool_call": CALL}, old=old),
                message(part, role="tool", old=old),
            ]
            (call,) = calls_of(HAYSTACK, history, received=False)
            assert (call.name, call.error or call.result) == ("get_weather", outcome)


def test_answers_to_calls_without_ids_go_by_name_and_order() -> None:
    calls = [{"tool_call": CALL | {"id": None, "arguments": {"n": n}}} for n in (1, 2)]
    first, second = calls_of(HAYSTACK, [message(*calls), message(received("[7]", id=None), role="tool")])
    assert (first.result, first.arguments, second.is_open) == ([7], {"n": 1}, True)


def test_an_answer_to_a_call_that_is_not_in_sight_has_the_call_in_it() -> None:
    assert calls_of(HAYSTACK, message(received("7"), role="tool"), received=False) == [WEATHER._replace(result="7")]


def test_replies_of_a_generator_and_messages_of_an_agent_are_read() -> None:
    for key in ("replies", "messages"):
        assert calls_of(HAYSTACK, {key: [message({"tool_call": CALL})]}, received=False) == [WEATHER]


def test_one_call_is_bare() -> None:
    known = Dialects([HAYSTACK])
    assert not known.read(CALL).many and known.read(CALL).calls == (WEATHER,)
    assert known.read([CALL, CALL]).calls == (WEATHER, WEATHER)
    assert not HAYSTACK.recognises({"tool_name": "get_weather", "arguments": {}})


def test_calls_that_are_streamed_at_once_are_distinguished_and_given_at_the_end() -> None:
    def piece(index: int, text: str | None, **head: Any) -> dict[str, Any]:
        return {"index": index, "tool_name": None, "id": None, "arguments": text} | head

    stream = Dialects([HAYSTACK]).stream()
    for given in (
        chunk(piece(0, None, tool_name="x", id="a"), piece(1, None, tool_name="y", id="b")),
        chunk(piece(1, '{"n"')),
        chunk(piece(0, '{"n": 1}')),
        chunk(piece(1, ": 2}")),
    ):
        assert stream.feed(given) == []
    calls = stream.feed(chunk(reason="tool_calls"))
    assert [(call.id, call.arguments) for call in calls] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_a_call_without_arguments_is_one_only_if_the_model_came_to_its_end() -> None:
    begun = chunk({"index": 0, "tool_name": "x", "id": "a", "arguments": None})
    for reason, is_malformed in (("tool_calls", False), ("length", True)):
        assert [call.is_malformed for call in streamed(HAYSTACK, [begun, chunk(reason=reason)])] == [is_malformed]


def test_an_answer_in_a_stream_is_the_answer_to_its_call() -> None:
    begun = chunk({"index": 0, "tool_name": "get_weather", "id": "call_W1", "arguments": '{"city": "Zürich"}'})
    done = chunk(reason="tool_call_results") | received("7")
    assert calls_of(HAYSTACK, [begun, done]) == [WEATHER._replace(result="7")]


def test_a_failure_is_flagged_and_holds_only_its_message() -> None:
    (part,) = HAYSTACK.render([Answer(WEATHER, bad("no"))], many=False)["content"]
    assert part == received("no", error=True)


def test_content_blocks_are_reported_in_words() -> None:
    output = {"content": [{"type": "text", "text": "Here"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    (rendered,) = HAYSTACK.render([Answer(WEATHER, good(output))], many=True)
    assert rendered["content"][0]["tool_call_result"]["result"] == "Here\n[image image/png]"


def test_calls_in_a_users_message_are_none_however_they_are_written() -> None:
    calls = [{"tool_name": "get_weather", "arguments": '{"city": "Bern"}'}]
    for role in ("user", "system", "tool"):
        assert not calls_of(HAYSTACK, {"role": role, "content": "x", "tool_calls": calls})
    assert [call.name for call in calls_of(HAYSTACK, {"content": "", "tool_calls": calls})] == ["get_weather"]
