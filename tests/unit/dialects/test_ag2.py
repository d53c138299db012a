"""AG2's events of results and errors, dumped with a `type` or as its own serialisation writes them."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Problem, ToolResult
from pegboard.dialects.ag2 import AG2
from pegboard.dialects.catalog import load_dialects
from pegboard.model.call_errors import ErrorType
from tests.unit.dialects.rendering import rendered

KNOWN = load_dialects()
EVENTS = "ag2.events.tool_events"
CALL = {"id": "c1", "name": "get_weather", "arguments": '{"city": "Bern"}', "vendor_metadata": {}}
HEAD = {"parent_id": "c1", "name": "get_weather", "created_at": 1.5}
TRACE = {"__event__": "ag2.events.input_events.TextInput", "content": "Traceback …\nValueError: no city"}
SERIALISED = {"__dataclass__": f"{EVENTS}.ToolResult", "data": {"parts": [TRACE], "final": False, "metadata": {}}}
ERROR = {"__exception__": "ValueError", "message": "no city"}


@pytest.mark.parametrize("kind", ["ToolErrorEvent", "ToolNotFoundEvent"])
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"error": ERROR, "result": SERIALISED}, "no city"),
        ({"error": "no city", "result": {"parts": [{"type": "TextInput", "content": "Traceback …"}]}}, "no city"),
        ({"error": {**ERROR, "message": ""}, "result": SERIALISED}, "ValueError"),
        ({"result": SERIALISED}, TRACE["content"]),
    ],
)
def test_a_call_that_failed_has_the_message_of_its_exception(kind: str, fields: Any, expected: str) -> None:
    asking = {"type": "ToolCallEvent", **CALL}
    within = {"results": [{"__event__": f"{EVENTS}.{kind}", **HEAD, **fields}]}
    for ended in ({"type": kind, **HEAD, **fields}, within, {"type": "ToolResultsEvent", **within}):
        (call,) = KNOWN.read([asking, ended]).calls
        assert (call.error, call.is_open) == (expected, False)


def test_events_within_an_event_are_known_by_their_qualified_name() -> None:
    calls = [
        {"__event__": f"{EVENTS}.ToolCallEvent", **CALL},
        {"__event__": f"{EVENTS}.BuiltinToolCallEvent", **CALL, "id": "c2"},
    ]
    asked = KNOWN.read({"calls": calls, "created_at": 1.5})
    assert asked.dialect == "ag2"
    assert [(call.id, call.arguments, call.provider_executed) for call in asked.calls] == [
        ("c1", {"city": "Bern"}, False),
        ("c2", {"city": "Bern"}, True),
    ]
    data = {"__event__": "ag2.events.input_events.DataInput", "data": {"temp_c": 7.5}}
    result = {**SERIALISED, "data": {"parts": [data]}}
    (ended,) = KNOWN.read({"results": [{"__event__": f"{EVENTS}.ToolResultEvent", **HEAD, "result": result}]}).calls
    assert ended.result == {"temp_c": 7.5}


def test_a_call_for_the_client_and_the_result_of_a_builtin_tool_are_read() -> None:
    (call,) = KNOWN.read({"type": "ClientToolCallEvent", **CALL}).calls
    assert (call.name, call.is_open) == ("get_weather", True)
    ended = {"type": "BuiltinToolResultEvent", **HEAD, "result": {"parts": [{"type": "TextInput", "content": "7"}]}}
    (answer,) = KNOWN.read(ended).calls
    assert answer.result == "7"


def test_a_problem_becomes_an_exception_as_ag2_serialises_it_and_a_text_a_text_input() -> None:
    problem = Problem(ErrorType.UNKNOWN, "execution_failed", "no city")
    failed = rendered(AG2(), ToolResult("get_weather", False, problem=problem))
    message = failed["error"]["message"]
    assert (failed["type"], failed["error"]["__exception__"]) == ("ToolErrorEvent", "Exception")
    assert "no city" in message
    assert failed["result"] == {"parts": [{"type": "TextInput", "content": message}]}
    (call,) = KNOWN.read(failed).calls
    assert call.error == message
