"""The rules for a request in an envelope, one by one."""

from __future__ import annotations

from collections import OrderedDict
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.envelope import REQUIRED_FIELDS
from pegboard.model.call import Malformed
from pegboard.model.call_errors import ErrorType, Problem
from pegboard.model.timestamps import write_instant
from pegboard.model.tool import make_alias
from tests.unit.dialects.envelopes import DIALECT, NOW, REQUEST, list_violations, read, request, without
from tests.unit.dialects.framework_payloads import JSON, bad

KNOWN = load_dialects()


def test_a_good_request_breaks_no_rule() -> None:
    assert list_violations(REQUEST) == ""


@pytest.mark.parametrize("field", REQUIRED_FIELDS)
def test_a_missing_field_is_named(field: str) -> None:
    assert list_violations(without(field)) == f"{field} is missing"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("tool_name", 5, "tool_name must be a string, and is a number"),
        ("tool_name", None, "tool_name must be a string, and is null"),
        ("tool_name", "", "tool_name must not be empty"),
        ("tool_name", "x" * 101, "tool_name has 101 characters, at most 100 are accepted"),
        ("args", None, "args must be an object, and is null"),
        ("args", [], "args must be an object, and is an array"),
        ("args", "{}", "args must be an object, and is a string"),
        ("request_id", 1, "request_id must be a UUID, and is a number"),
        ("request_id", "", "request_id must be a UUID: 32 hexadecimal digits in groups of 8-4-4-4-12"),
        ("request_id", "0190aaaa000070008000000000000001", "request_id must be a UUID"),
        ("request_id", "{0190aaaa-0000-7000-8000-000000000001}", "request_id must be a UUID"),
        ("request_id", "0190aaaa-0000-7000-8000-00000000000g", "request_id must be a UUID"),
        ("request_id", "0190aaaa-0000-7000-8000-000000000001" * 10_000, "request_id must be a UUID"),
        ("timestamp", 1767225600, "timestamp must be a time as ISO 8601 with a zone, such as"),
        ("timestamp", "yesterday", "it is not ISO 8601"),
        ("timestamp", "2026-01-01", "a date alone is no moment"),
        ("timestamp", "2026-01-01T00:00:00", "it has no zone"),
        ("timestamp", "2026-02-30T00:00:00Z", "there is no such date or time"),
        ("timestamp", "1969-12-31T23:59:59.999999Z", "timestamp must not be before 1970"),
        ("timestamp", "1970-01-01T00:00:00+01:00", "timestamp must not be before 1970"),
        ("timestamp", "2026-01-01T00:05:10.000001Z", "timestamp is in the future"),
        ("timestamp", "9999-12-31T23:59:59Z", "this board's clock, which is at 2026-01-01T00:00:10Z"),
        ("version", 1.0, "version must be a string, and is a number: 1.0 and 1.1 are supported"),
        ("version", "2.0", "version '2.0' is not known: 1.0 and 1.1 are supported"),
        ("version", "1", "version '1' is not known"),
        ("version", "9" * 1000, f"version '{'9' * 60}' is not known"),
        ("priority", 1, "'priority' is not a field of this version of the envelope"),
        ("x" * 1000, 1, f"'{'x' * 60}' is not a field"),
        ("chain", {"id": "c"}, "'chain' is not a field of this version of the envelope, version 1.1 has it"),
        ("progress", True, "'progress' is not a field of this version of the envelope, version 1.1 has it"),
    ],
)
def test_a_field_that_breaks_its_rule_is_named_with_what_it_must_be(field: str, value: Any, expected: str) -> None:
    received = list_violations(request(**{field: value}))
    assert expected in received
    assert received.count(";") == expected.count(";")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool_name", "x" * 100),
        ("tool_name", "gibt ☂"),
        ("args", {}),
        ("request_id", "00000000-0000-0000-0000-000000000000"),
        ("timestamp", "1970-01-01T00:00:00Z"),
        ("timestamp", "2026-01-01T00:05:10Z"),
        ("timestamp", "2026-01-01T01:00+01:00"),
        ("version", "1.1"),
    ],
)
def test_what_just_keeps_a_rule_is_taken(field: str, value: Any) -> None:
    assert list_violations(request(**{field: value})) == ""


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("chain", "c", 'chain must be an object {"id", "step"}, and is a string'),
        ("chain", {}, "chain needs an 'id', a string of 1 to 100 characters"),
        ("chain", {"id": ""}, "chain needs an 'id'"),
        ("chain", {"id": 5}, "chain needs an 'id'"),
        ("chain", {"id": "x" * 101}, "chain needs an 'id'"),
        ("chain", {"id": "c", "step": 1}, "chain may have a 'step', a string of 1 to 100 characters"),
        ("chain", {"id": "c", "step": ""}, "chain may have a 'step'"),
        ("chain", {"id": "c", "of": 3}, "chain may have only 'id' and 'step'"),
        ("progress", "yes", "progress must be true or false, and is a string"),
        ("progress", 1, "progress must be true or false, and is a number"),
        ("priority", 1, "'priority' is not a field of this version of the envelope"),
    ],
)
def test_version_1_1_has_rules_of_its_own(field: str, value: Any, expected: str) -> None:
    assert list_violations(request(version="1.1", **{field: value})).startswith(expected)


@pytest.mark.parametrize("fields", [{"chain": {"id": "c", "step": "s"}}, {"chain": {"id": "c"}}, {"progress": False}])
def test_what_version_1_1_adds_may_be_there(fields: dict[str, Any]) -> None:
    assert list_violations(request(version="1.1", **fields)) == ""


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    wrong = {"tool_name": "", "args": 1, "timestamp": "now", "version": "3", "one": 1, "two": 2}
    received = list_violations(wrong).split("; ")
    assert [fault.split()[0] for fault in received] == [
        "request_id", "tool_name", "args", "timestamp", "version", "'one'", "'two'",
    ]  # fmt: skip


def test_of_very_many_extra_fields_some_are_named_and_the_others_counted() -> None:
    received = list_violations({**REQUEST, **{f"x{place}": 1 for place in range(100_000)}})
    assert len(received) < 1000
    assert received.endswith("and 99,990 more unknown fields")


def test_a_long_name_of_a_tool_that_is_there_is_reported_with_the_short_one_to_say() -> None:
    name = "long_" * 30
    assert list_violations(request(tool_name=name), lambda asked: {} if asked == name else None) == (
        f"tool_name has 150 characters, at most 100 are accepted, use its alias '{make_alias(name)}'"
    )


def test_what_no_json_holds_is_judged_too() -> None:
    assert list_violations(request(args=OrderedDict(a=1))) == ""
    for value in (object(), {1}, b"", float("nan"), "\ud800"):
        for field in REQUIRED_FIELDS[1:]:
            assert list_violations(request(**{field: value})).startswith(field)
    assert list_violations({**REQUEST, 5: 1}) == "'5' is not a field of this version of the envelope"


def test_a_request_that_breaks_a_rule_never_runs_and_keeps_its_arguments_to_itself() -> None:
    (call,) = read(request(request_id="nonsense", args={"password": "hunter2"})).calls
    assert call.key is None
    assert isinstance(call.arguments, Malformed)
    assert "hunter2" not in repr(call)


def test_what_can_be_read_of_a_broken_request_is_echoed_as_far_as_it_is_bounded() -> None:
    (call,) = read(request(request_id="x" * 10_000, tool_name="y" * 10_000, version="1.1", priority=1)).calls
    response = DIALECT.render([Answer(call, bad("no"))], many=False)
    assert response["request_id"] == "x" * 255
    assert response["tool_name"] == "y" * 255
    assert response["version"] == "1.1"
    (call,) = read({"tool_name": 5, "request_id": {}, "version": "7"}).calls
    response = DIALECT.render([Answer(call, bad("no", ""))], many=False)
    assert response["version"] == "1.0"
    assert isinstance(response["request_id"], str) and response["request_id"]
    assert response["tool_name"] == ""


def test_what_breaks_the_rules_is_reported_whatever_else_kept_the_call_from_running() -> None:
    (call,) = read(without("timestamp")).calls
    assert isinstance(call.arguments, Malformed)
    for message in ("Tool 'query_baseline' not found", f"Nothing was run: {call.arguments.why}."):
        problem = Problem(ErrorType.CONFIG, "tool_not_found", message)
        answer = Answer(call, bad("").__class__("query_baseline", False, problem=problem, run_id=call.id))
        received = DIALECT.render([answer], many=False)["error_msg"]
        assert received.startswith(message) and received.count("timestamp is missing") == 1


def test_the_chain_of_a_broken_request_is_kept_if_that_can_be_read() -> None:
    for chain, kept in (({"id": "c"}, "c"), ({"id": ""}, None), ("c", None)):
        (call,) = read(request(version="1.1", args=None, chain=chain)).calls
        assert call.is_malformed
        assert (call.chain_id, call.extra.get("chain")) == (kept, chain if kept else None)
    (call,) = read(request(args=None, chain={"id": "c"})).calls
    assert call.chain_id is None


@pytest.mark.parametrize(
    "payload",
    [
        {"tool_name": "a", "args": {}},
        {"tool_name": "a", "version": "1.0"},
        {"tool_name": "a", "timestamp": ""},
        {"tool_name": "a", "request_id": None},
        {"args": {}, "request_id": "1"},
        {"tool_name": None, "args": {}, "arguments": {}},
    ],
)
def test_a_request_is_known_although_much_of_it_is_missing(payload: Any) -> None:
    (call,) = KNOWN.read(payload).calls
    assert KNOWN.read(payload).dialect == "envelope"
    assert call.is_malformed


@given(
    st.fixed_dictionaries(
        {"tool_name": st.text(max_size=200) | JSON},
        optional={
            "args": JSON,
            "request_id": st.uuids().map(str) | JSON,
            "timestamp": st.datetimes().map(str) | JSON,
            "version": st.sampled_from(["1.0", "1.1", "2.0"]) | JSON,
            "chain": st.dictionaries(st.sampled_from(["id", "step", "x"]), JSON, max_size=3) | JSON,
            "progress": JSON,
        },
    ).filter(lambda item: item.keys() & set(REQUIRED_FIELDS[1:])),
    st.timedeltas(timedelta(days=-1), timedelta(days=1)),
)
def test_whatever_the_fields_are_there_is_one_call_to_answer(item: dict[str, Any], shift: timedelta) -> None:
    for payload in (item, {**item, "timestamp": write_instant(NOW + shift)}):
        (call,) = KNOWN.read(payload).calls
        assert call.is_open
        assert call.is_malformed or (call.key is not None and call.name == item["tool_name"])
        response = DIALECT.render([Answer(call, bad("no", call.name))], many=False)
        assert response["status"] == "error" and response["payload"] is None
        assert response["version"] == (item.get("version") if item.get("version") in ("1.0", "1.1") else "1.0")
