"""Fixtures that are made from executions reproduce the recorded results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.mock_server.fixtures import Fixtures
from pegboard.mock_server.player import Player
from pegboard.mock_server.recorder import RecordedFixtures, record_fixtures

TOOL = {
    "name": "it",
    "description": None,
    "display_name": "It",
    "input_schema": {"type": "object"},
    "output_schema": None,
    "result_style": "plain",
    "unknown_parameters": "ignore",
    "idempotent": False,
    "read_only": True,
    "destructive": False,
    "retry": {"max_attempts": 3},
    "config": {"headers": {"Authorization": "********"}},
    "auth_config": {"type": "bearer", "token": "********"},
}


def row(arguments: Any, result: Any = None, **more: Any) -> dict[str, Any]:
    """Return the relevant fields of an execution, in the form of the API."""
    plain = {"tool_id": "1", "status": "succeeded", "code": None, "error": None, "repeat_of": None, "attempts": 1}
    return {**plain, "arguments": arguments, "result": result, **more}


def recorded(*rows: dict[str, Any]) -> RecordedFixtures:
    """The fixtures of these executions."""
    return record_fixtures(rows, {"1": TOOL})


def responses(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """The responses of the only tool."""
    (tool,) = recorded(*rows).fixtures["tools"]
    return list(tool["responses"])


def test_a_tool_is_described_as_callers_see_it_and_without_its_config() -> None:
    (tool,) = recorded(row({"a": 1}, 2)).fixtures["tools"]
    assert tool == {
        "name": "it",
        "display_name": "It",
        "read_only": True,
        "responses": [{"when": {"a": 1}, "respond": 2}],
    }


def test_answers_to_the_same_arguments_are_a_sequence_whose_last_stays() -> None:
    assert responses(row({"a": 1}, "x"), row({"a": 1.0}, "x"), row({"a": 2}, "z"), row({"a": 1}, "y")) == [
        {"when": {"a": 1}, "respond": "x", "times": 2},
        {"when": {"a": 1}, "respond": "y"},
        {"when": {"a": 2}, "respond": "z"},
    ]


def test_what_is_contained_in_other_arguments_comes_after_them() -> None:
    found = responses(row({}, 0), row({"a": 1}, 1), row({"a": 1, "b": {"c": 2}}, 2), row({"b": {"c": 2}}, 3))
    assert [each["respond"] for each in found] == [2, 3, 1, 0]


def test_failures_are_recorded_with_their_code() -> None:
    failed = {"status": "failed", "error": "gone"}
    assert responses(row({"a": 1}, code="execution_failed", **failed), row({"a": 2}, code="timeout", **failed)) == [
        {"when": {"a": 1}, "error": "gone"},
        {"when": {"a": 2}, "error": {"message": "gone", "code": "timeout"}},
    ]


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (row({}, status="refused", code="missing"), "refused before the tool ran"),
        (row({}, status="in_doubt"), "interrupted"),
        (row({}, status="failed", code="cancelled"), "interrupted"),
        (row({}, 1, repeat_of="x", attempts=0), "of an earlier call"),
        (row({}, 1, tool_id="2"), "no longer exists"),
        (row(None, 1), "keep_arguments"),
        (row({}, None), "keep_result"),
        (row({}, status="failed", code="P2002"), "fixtures do not have"),
    ],
)
def test_what_is_left_out_is_counted_with_the_reason(left: dict[str, Any], why: str) -> None:
    found = recorded(left, row({}, 1))
    assert found.calls == 1
    ((reason, count),) = found.left_out.items()
    assert why in reason
    assert count == 1


def test_what_looks_secret_is_nowhere() -> None:
    found = recorded(row({"q": 1, "password": "pw-1", "in": {"api_key": "k-2"}}, {"list": [{"access_token": "t-3"}]}))
    text = json.dumps(found.fixtures)
    assert not [secret for secret in ("pw-1", "k-2", "t-3") if secret in text]
    assert found.masked == 3
    assert responses(row({"q": 1, "password": "pw-1"}, {"secret": "s"})) == [
        {"when": {"q": 1}, "respond": {"secret": "********"}}
    ]


values = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "y"])
arguments = st.dictionaries(st.sampled_from("abc"), values | st.dictionaries(st.sampled_from("de"), values), max_size=3)


@given(st.lists(st.tuples(arguments, st.integers(0, 2)), min_size=1, max_size=12))
async def test_the_same_calls_served_again_get_the_same_answers(calls: list[tuple[dict[str, Any], int]]) -> None:
    fixtures = Fixtures.model_validate(recorded(*(row(asked, answer) for asked, answer in calls)).fixtures)
    player = Player(fixtures.tools[0])
    for asked, answer in calls:
        assert await player.answer(**asked) == answer
