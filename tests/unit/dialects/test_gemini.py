"""Gemini's contents: parts in, one content with every result out."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.gemini import GeminiGenerateContent
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.call import Malformed
from tests.formats import Case
from tests.unit.dialects.framework_payloads import (
    CALLS,
    JSON,
    answer_in,
    bad,
    calls_of,
    examples,
    good,
    never_raises,
    replace_one_value,
    streamed,
    tool_of,
)

DIALECT = GeminiGenerateContent()
PAYLOADS = [case.payload for case in examples("gemini_generate_content", "call", "stream", "result")]
CALL = {"functionCall": {"name": "add", "args": {"a": 1}}}


def content(*parts: dict[str, Any], role: str = "model") -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def chunk(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": content(*parts), "index": 0, **more}]}


def build_response(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


@pytest.mark.parametrize("case", examples("gemini_generate_content", "result"), ids=str)
def test_a_result_is_the_content_of_the_example(case: Case) -> None:
    rendered = DIALECT.render([answer_in(case)], many=False)
    assert rendered == case.payload
    types.Content.model_validate(rendered)


def test_definitions_are_those_of_the_example_and_ones_the_sdk_takes() -> None:
    [case] = [case for case in examples("gemini_generate_content", "definition") if "json" in case.name]
    [declared] = case.payload
    tools = [
        tool_of(function["name"], function["parametersJsonSchema"], function["description"])
        for function in declared["functionDeclarations"]
    ]
    assert DIALECT.define_all(tools) == case.payload
    for tool in (DIALECT.define(tools[0]), *DIALECT.define_all(tools)):
        types.Tool.model_validate(tool)


@given(CALLS, st.booleans())
def test_calls_that_are_composed_are_read_back(calls: list[AskedCall], with_ids: bool) -> None:
    calls = calls if with_ids else [call._replace(id="") for call in calls]
    composed = DIALECT.compose(calls)
    assert calls_of(DIALECT, composed, received=False) == calls
    types.Content.model_validate(composed)


@pytest.mark.parametrize("signature", ["EnNpZ_8=", "EnNpZ/8=", "cw=="])
def test_a_thought_signature_is_sent_back_exactly_as_it_came(signature: str) -> None:
    part = {"functionCall": {"name": "add", "args": {}}, "thoughtSignature": signature}
    [call] = calls_of(DIALECT, part)
    assert call.extra == {"thought_signature_b64": signature}
    assert DIALECT.compose([call]) == content(part)
    assert types.Content.model_validate(DIALECT.compose([call])).parts


def test_what_the_python_sdk_dumps_is_read_too() -> None:
    whole = types.GenerateContentResponse.model_validate(
        chunk({**CALL, "thoughtSignature": "cw=="}, {"functionCall": {"name": "b", "id": "x"}}, finishReason="STOP")
    )
    for dump in (whole.model_dump(), whole.model_dump(mode="json"), whole.model_dump(by_alias=True, exclude_none=True)):
        first, second = calls_of(DIALECT, dump, received=False)
        assert (first.name, first.arguments) == ("add", {"a": 1})
        assert base64.b64decode(first.extra["thought_signature_b64"]) == b"s"
        assert (second.id, second.arguments) == ("x", {})


def test_several_candidates_are_alternatives() -> None:
    second = {"content": content({"functionCall": {"name": "other"}}), "index": 1}
    assert [call.name for call in calls_of(DIALECT, {"candidates": [*chunk(CALL)["candidates"], second]})] == ["add"]
    assert calls_of(DIALECT, {"candidates": [second]}) == []


@pytest.mark.parametrize(
    "payload",
    [
        CALL,
        [CALL],
        content(CALL),
        chunk(CALL),
        {"response": chunk(CALL)},
        {"contents": [content({"text": "hi"}, role="user"), content(CALL)]},
        {"serverContent": {"modelTurn": content(CALL)}},
        {"toolCall": {"functionCalls": [CALL["functionCall"]]}},
        {"function_call": CALL["functionCall"], "text": None},
    ],
)
def test_a_call_is_read_in_whatever_it_comes(payload: Any) -> None:
    assert calls_of(DIALECT, payload, received=False) == [AskedCall("add", {"a": 1})]


def test_answers_without_ids_go_by_name_and_order() -> None:
    calls = [CALL, {"functionCall": {"name": "sub", "args": {}}}, CALL, CALL]
    history = [
        content({"text": "hi"}, role="user"),
        content(*calls),
        content(build_response("add", {"output": 2}), build_response("sub", {"error": "no"}), role="user"),
        content(build_response("add", {"sum": 3}), role="user"),
        content({"text": "done"}),
    ]
    for payload in (history, {"contents": history}):
        found = [(call.name, call.result, call.error) for call in calls_of(DIALECT, payload, received=False)]
        assert found == [("add", 2, None), ("sub", ABSENT, "no"), ("add", {"sum": 3}, None), ("add", ABSENT, None)]


def test_answers_go_by_id_and_one_side_may_have_none() -> None:
    calls = [{"functionCall": {"name": "add", "id": identity}} for identity in ("1", "2", "3")]
    answers = [build_response("add", {"output": "b"}, id="2"), build_response("add", {"output": "a"})]
    result = calls_of(DIALECT, [chunk(*calls), content(*answers, role="user")])
    assert [call.result for call in result] == ["a", "b", ABSENT]
    [call] = calls_of(DIALECT, [content(CALL), content(build_response("add", {"output": 2}, id="9"), role="user")])
    assert call.result == 2


def test_a_call_that_the_live_api_cancels_is_not_open() -> None:
    live = {"toolCall": {"functionCalls": [{"name": "add", "id": "1"}, {"name": "add", "id": "2"}]}}
    calls = calls_of(DIALECT, [live, {"toolCallCancellation": {"ids": ["1"]}}], received=False)
    assert [call.is_open for call in calls] == [False, True]


def test_what_the_provider_ran_is_marked_and_has_its_result() -> None:
    parts: list[dict[str, Any]] = [
        {"executableCode": {"language": "PYTHON", "code": "1/0"}, "thoughtSignature": "cw=="},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
        {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["a"]}}},
        {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}}},
    ]
    code = AskedCall(
        "code_execution",
        {"language": "PYTHON", "code": "1/0"},
        error="ZeroDivisionError",
        provider_executed=True,
        extra={"thought_signature_b64": "cw=="},
    )
    search = AskedCall("GOOGLE_SEARCH_WEB", {"queries": ["a"]}, "t1", {"found": 1}, provider_executed=True)
    assert calls_of(DIALECT, content(*parts), received=False) == [code, search]
    assert streamed(DIALECT, [chunk(part) for part in parts]) == [code, search]
    composed = DIALECT.compose([code, search])
    assert calls_of(DIALECT, composed) == [code, search]
    types.Content.model_validate(composed)


def test_a_call_with_an_id_is_returned_with_the_chunk_of_its_stream() -> None:
    stream = Dialects([DIALECT]).stream()
    assert [call.id for call in stream.feed(chunk({"functionCall": {"name": "add", "id": "1"}}))] == ["1"]
    assert stream.feed(chunk(CALL)) == []
    assert stream.feed(chunk({"text": ""}, finishReason="STOP")) == [AskedCall("add", {"a": 1})]


def test_arguments_that_could_not_be_read_stay_unreadable_through_compose() -> None:
    composed = DIALECT.compose([AskedCall("add", Malformed('{"a": ', "why"))])
    types.Content.model_validate(composed)
    assert calls_of(DIALECT, composed)[0].arguments.text == '{"a": '


def test_an_answer_has_an_id_only_if_the_call_had_one() -> None:
    answers = [Answer(AskedCall("add", {}, "1"), good("x")), Answer(AskedCall("add", {}), bad("No"))]
    first, second = (part["functionResponse"] for part in DIALECT.render(answers, many=True)["parts"])
    assert first == {"id": "1", "name": "add", "response": {"output": "x"}}
    assert second == {"name": "add", "response": {"error": "No"}}


def test_pictures_go_beside_the_words() -> None:
    cat = [{"type": "text", "text": "A cat"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}]
    rendered = DIALECT.render([Answer(AskedCall("cat", {}), good({"content": cat}))], many=False)
    assert rendered["parts"][0]["functionResponse"] == {
        "name": "cat",
        "response": {"output": "A cat"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
    }
    types.Content.model_validate(rendered)


def test_names_of_properties_that_are_refused_are_replaced_and_put_back() -> None:
    schema = {"type": "object", "properties": {"$top": {"type": "integer"}}}
    [function] = DIALECT.define(tool_of("find", schema, ""))["functionDeclarations"]
    [name] = function["parametersJsonSchema"]["properties"]
    assert name != "$top"
    assert DIALECT.restore({name: 1}, schema) == {"$top": 1}


@given(st.one_of(JSON, replace_one_value(PAYLOADS), replace_one_value(PAYLOADS).map(lambda payload: [payload])))
def test_nothing_but_a_refusal_comes_of_any_json(payload: Any) -> None:
    never_raises(DIALECT, payload)
