"""The envelope: requests in, responses out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.core.ids import new_id
from pegboard.dialects.asked import ABSENT, AskedCall, Unreadable
from pegboard.dialects.base import Answer
from pegboard.dialects.envelope import Envelope
from tests.unit.dialects.framework_payloads import RUN, bad, calls_of, good, tool_of

DIALECT = Envelope()
STAMPS = {"version": "1.0", "timestamp": "2026-01-01T00:00:00Z"}
REQUEST = {"tool_name": "query_baseline", "args": {"finding_id": "f1"}, "request_id": new_id(), **STAMPS}
ASKED = AskedCall("query_baseline", {"finding_id": "f1"}, str(REQUEST["request_id"]), extra=STAMPS)


def test_a_request_is_one_call_that_keeps_its_stamps() -> None:
    assert calls_of(DIALECT, REQUEST, told=False) == [ASKED]
    assert calls_of(DIALECT, [REQUEST, REQUEST], told=False) == [ASKED, ASKED]
    assert DIALECT.compose([ASKED]) == [REQUEST]


@pytest.mark.parametrize("missing", ["tool_name", "args", "request_id", "timestamp", "version"])
def test_a_request_that_lacks_something_is_still_known_and_read(missing: str) -> None:
    (call,) = calls_of(DIALECT, {key: value for key, value in REQUEST.items() if key != missing}, told=False)
    assert call.name == ("" if missing == "tool_name" else ASKED.name)
    assert call.arguments == ({} if missing == "args" else ASKED.arguments)
    assert call.id == ("" if missing == "request_id" else ASKED.id)
    assert call.extra == {key: value for key, value in STAMPS.items() if key != missing}


@pytest.mark.parametrize(
    "payload",
    [
        {"tool_name": "a", "arguments": {}},
        {"tool_name": "a", "args": {}},
        {"tool_name": "a", "args": {}, "tool_call_id": "c1", "part_kind": "tool-call", "timestamp": ""},
        {"request_id": "1"},
    ],
)
def test_calls_of_others_are_not_taken(payload: Any) -> None:
    assert not DIALECT.recognises(payload)


@pytest.mark.parametrize("payload", [None, "a", {}, {"request_id": "1"}])
def test_what_is_no_envelope_is_unreadable(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        calls_of(DIALECT, payload)


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


@settings(deadline=None)
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
    calls = calls_of(DIALECT, [REQUEST, *responses], told=False)
    assert [(call.result, call.error) for call in calls] == [({"a": 1}, None), (ABSENT, "no")]
    assert not any(call.is_open for call in calls)


def test_a_definition_says_what_goes_into_the_request() -> None:
    schema = {"type": "object", "properties": {}}
    defined = DIALECT.define(tool_of("a", schema, "A"))
    assert defined == {"tool_name": "a", "description": "A", "args": schema, "version": "1.0"}
