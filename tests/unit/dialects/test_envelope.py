"""The envelope: requests in, responses out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from tests.unit.dialects.envelopes import ASKED, DIALECT, REQUEST, read, request
from tests.unit.dialects.framework_payloads import RUN, bad, calls_of, good, tool_of

OPTIONAL = {"chain": {"id": "c1", "step": "2"}, "progress": True}


def test_a_request_is_one_call_that_keeps_its_stamps_and_runs_once() -> None:
    assert read(REQUEST).calls == (ASKED,)
    assert not read(REQUEST).many
    assert read([REQUEST, REQUEST]).calls == (ASKED, ASKED)
    assert DIALECT.compose([ASKED]) == [REQUEST]


def test_what_is_composed_from_a_bare_call_is_a_request_that_keeps_the_rules() -> None:
    (composed,) = DIALECT.compose([AskedCall("a", {"x": 1})])
    (call,) = calls_of(DIALECT, composed)
    assert (call.name, call.arguments, call.is_malformed) == ("a", {"x": 1}, False)


def test_a_request_of_version_1_1_says_which_chain_it_is_of() -> None:
    (call,) = read(request(version="1.1", **OPTIONAL)).calls
    assert (call.chain_id, call.extra["chain"]) == ("c1", OPTIONAL["chain"])
    response = DIALECT.render([Answer(call, replace(good({}), attempts=3, fallback=True))], many=False)
    assert {key: response[key] for key in ("version", "attempts", "fallback", "chain")} == {
        "version": "1.1",
        "attempts": 3,
        "fallback": True,
        "chain": OPTIONAL["chain"],
    }
    assert DIALECT.compose([call]) == [request(version="1.1", chain=OPTIONAL["chain"])]


def test_a_response_of_version_1_1_has_no_chain_if_the_request_had_none() -> None:
    (call,) = read(request(version="1.1")).calls
    assert "chain" not in DIALECT.render([Answer(call, good({}))], many=False)


def test_a_response_of_version_1_0_has_the_fields_of_that_version_alone() -> None:
    assert list(DIALECT.render([Answer(ASKED, good({}))], many=False)) == [
        "tool_name", "request_id", "status", "payload", "error_msg", "processing_time_ms", "timestamp", "version",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "payload",
    [
        {"tool_name": "a", "arguments": {}},
        {"tool_name": "a", "args": {}, "tool_call_id": "c1", "part_kind": "tool-call", "timestamp": ""},
        {"request_id": "1"},
        {"request_id": "1", "timestamp": "", "version": "1.0"},
        {"args": {}, "timestamp": "", "version": "1.0"},
    ],
)
def test_calls_of_others_are_not_taken(payload: Any) -> None:
    assert not DIALECT.recognises(payload)


@pytest.mark.parametrize("payload", [None, "a", 5, [None], [[]]])
def test_what_is_no_object_is_unreadable(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        read(payload)


@pytest.mark.parametrize("payload", [{}, {"request_id": "1"}, {"status": "done"}])
def test_any_object_that_is_reported_to_be_an_envelope_is_answered_as_one(payload: Any) -> None:
    (call,) = read(payload).calls
    assert call.is_open and call.is_malformed


@pytest.mark.parametrize(
    ("output", "payload"),
    [({"a": 1}, {"a": 1}), ([1], {"result": [1]}), ("x", {"result": "x"}), (None, {"result": None})],
)
def test_the_payload_is_always_an_object(output: Any, payload: Any) -> None:
    answer = Answer(ASKED, good(output, "query_baseline"))
    response = DIALECT.render([answer], many=False)
    assert response["payload"] == payload
    assert orjson.loads(DIALECT.render_json(answer)) == response


def test_a_response_repeats_what_was_asked_and_says_how_it_ended() -> None:
    done = DIALECT.render([Answer(ASKED, good({}, "query_baseline", elapsed_ms=12.6))], many=False)
    failed = DIALECT.render([Answer(ASKED, bad("no", "query_baseline"))], many=False)
    known = {"tool_name": "query_baseline", "request_id": ASKED.id, "version": "1.0"}
    assert {key: done[key] for key in known} == known == {key: failed[key] for key in known}
    assert (done["status"], done["error_msg"], done["processing_time_ms"]) == ("new", None, 13)
    assert (failed["status"], failed["error_msg"], failed["payload"]) == ("error", "no", None)
    assert failed["processing_time_ms"] == 1


def test_a_response_to_no_request_id_has_the_run_s() -> None:
    assert DIALECT.render([Answer(AskedCall("a", {}), good(1))], many=False)["request_id"] == RUN


def test_a_response_is_stamped_when_the_run_was_over() -> None:
    answer = Answer(AskedCall("a", {}, "1"), good(1, elapsed_ms=1500))
    began = datetime.fromtimestamp(int(RUN.replace("-", "")[:12], 16) / 1000).astimezone()
    stamp = datetime.fromisoformat(DIALECT.render([answer], many=False)["timestamp"])
    assert stamp - began == timedelta(milliseconds=1500)


@given(st.datetimes(timezones=st.timezones() | st.none()))
def test_a_response_is_later_than_its_request_whatever_clock_that_was_by(asked: datetime) -> None:
    call = ASKED._replace(extra={"timestamp": asked.isoformat()})
    stamp = datetime.fromisoformat(DIALECT.render([Answer(call, good(1))], many=False)["timestamp"])
    moment = asked if asked.tzinfo else asked.replace(tzinfo=stamp.tzinfo)
    assert stamp > moment or asked.year >= 9999


@pytest.mark.parametrize("stamp", [None, 1, "yesterday", "9999-12-31T23:59:59.999999Z", ["2026"]])
def test_a_stamp_that_is_no_time_changes_nothing(stamp: Any) -> None:
    call = ASKED._replace(extra={"timestamp": stamp})
    plain = DIALECT.render([Answer(ASKED._replace(extra={}), good(1))], many=False)
    assert DIALECT.render([Answer(call, good(1))], many=False) == plain


def test_a_response_is_read_as_an_answer() -> None:
    responses = DIALECT.render([Answer(ASKED, good({"a": 1})), Answer(ASKED, bad("no"))], many=True)
    calls = read([REQUEST, *responses]).calls
    assert [(call.result, call.error) for call in calls] == [({"a": 1}, None), (ABSENT, "no")]
    assert not any(call.is_open for call in calls)


@pytest.mark.parametrize(
    ("payload", "status"),
    [
        ({"seen_count": 2}, "existing"),
        ({"seen_count": 0}, "new"),
        ({"results": [{"seen_count": 0}, {"seen_count": 7}]}, "existing"),
        ({"results": [{"seen_count": 0}]}, "new"),
        ({"results": []}, "new"),
        ({"results": {"seen_count": 7}}, "new"),
        ({"within": {"seen_count": 7}}, "new"),
        ({"text": '"seen_count":7'}, "new"),
        ({"seen_count": "7"}, "new"),
        ([{"seen_count": 7}], "new"),
        ({"recorded": 3}, "new"),
    ],
)
def test_only_what_a_tool_of_the_contract_has_seen_before_exists(payload: Any, status: str) -> None:
    for style, expected in (("envelope", status), ("plain", "new")):
        answer = Answer(ASKED, replace(good(payload), result_style=style))
        assert DIALECT.render([answer], many=False)["status"] == expected
        assert orjson.loads(DIALECT.render_json(answer))["status"] == expected


def test_a_definition_says_what_goes_into_the_request() -> None:
    schema = {"type": "object", "properties": {}}
    defined = DIALECT.define(tool_of("a", schema, "A"))
    assert defined == {"tool_name": "a", "description": "A", "args": schema, "version": "1.0"}
