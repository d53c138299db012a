"""The events of OpenAI's Responses, and the Agents SDK around them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.detect import Dialects
from pegboard.dialects.openai_responses import OpenAIAgents, OpenAIResponses
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from tests.formats import TOOLS, cases
from tests.unit.dialects.openai_values import CALLS, answer_for, read_or_refuse, spoiled, succeeded, tool_of

AGENTS = OpenAIAgents()
KNOWN = Dialects([OpenAIResponses(), AGENTS])
EXAMPLES = [case.payload for case in [*cases("call"), *cases("stream")] if case.dialect == AGENTS.name]

ONE = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Bern"}', "id": "fc_1"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c2", "name": "run_sql", "input": 'SELECT "ü"\n', "id": "ctc_1"}
MCP = {"type": "mcp_call", "id": "mcp_1", "name": "search_docs", "arguments": '{"query": "x"}', "server_label": "docs"}


def event(kind: str, index: int | None = None, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **({} if index is None else {"output_index": index}), **more}


def item_added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.added", index, item={**item, "arguments": "", "input": "", "status": "in_progress"})


def item_done(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.done", index, item={**item, "status": "completed"})


def ended(*items: dict[str, Any], kind: str = "completed") -> dict[str, Any]:
    return event(kind, response={"object": "response", "status": kind, "output": list(items)})


def pieces(index: int, of: str, *texts: str) -> list[dict[str, Any]]:
    return [event(f"{of}.delta", index, item_id="x", delta=text) for text in texts]


ARGUMENTS = "function_call_arguments"
INPUT = "custom_tool_call_input"
HALVES = pieces(0, ARGUMENTS, '{"city"', ': "Bern"}')
WHOLE = event(f"{ARGUMENTS}.done", 0, arguments='{"city": "Bern"}')


def read_chunks(events: list[Any], name: str | None = None) -> list[tuple[str, Any]]:
    stream = KNOWN.stream(name)
    calls = [call for one in events for call in stream.feed(one)] + stream.end()
    assert sorted(calls, key=str) == sorted(KNOWN.read(events, name).calls, key=str)
    return [(call.id, None if call.is_malformed else call.arguments) for call in calls]


@pytest.mark.parametrize(
    "events",
    [
        [event("created"), item_added(0, ONE), *HALVES, WHOLE, item_done(0, ONE), ended(ONE)],
        [item_added(0, ONE), *HALVES, ended()],
        [item_added(0, ONE), *HALVES],
        [item_added(0, ONE), WHOLE],
        [*HALVES, item_done(0, ONE), item_done(0, ONE)],
        [item_done(0, ONE), ended(ONE), ended(ONE)],
        [event("created"), event("in_progress"), ended(ONE)],
        [item_added(0, ONE), *HALVES, item_done(0, ONE), *HALVES, WHOLE],
        [
            event("output_item.added", item=ONE),
            *(event(f"{ARGUMENTS}.delta", item_id="fc_1", delta=one["delta"]) for one in HALVES),
            event("output_item.done", item=ONE),
        ],
    ],
)
def test_a_call_comes_once_however_often_it_is_reported(events: list[Any]) -> None:
    assert read_chunks(events) == [("c1", {"city": "Bern"})]


def test_calls_whose_pieces_are_mixed_come_in_order_each_when_it_is_whole() -> None:
    other = {**ONE, "call_id": "c2", "id": "fc_2"}
    mixed = [item_added(0, ONE), item_added(1, other), HALVES[0], *pieces(1, ARGUMENTS, '{"city": "Bern"}'), HALVES[1]]
    assert read_chunks([*mixed, ended(ONE, other)]) == [("c1", {"city": "Bern"}), ("c2", {"city": "Bern"})]
    stream = KNOWN.stream()
    for one in mixed:
        assert stream.feed(one) == []
    assert [call.id for call in stream.feed(item_done(1, other))] == ["c2"]


def test_each_response_of_a_stream_has_calls_of_its_own() -> None:
    turn = [event("created"), item_added(0, ONE), *HALVES, item_done(0, ONE), ended(ONE)]
    assert read_chunks([*turn, *turn]) == [("c1", {"city": "Bern"})] * 2
    for unfinished in ([item_added(0, ONE), ended(kind="incomplete")], [item_added(0, ONE)]):
        assert read_chunks([*unfinished, *turn]) == [("c1", None), ("c1", {"city": "Bern"})]


@pytest.mark.parametrize(
    "events", [[item_added(0, ONE)], [item_added(0, ONE), HALVES[0]], [item_added(0, ONE), ended(kind="failed")]]
)
def test_a_call_that_was_cut_off_is_malformed(events: list[Any]) -> None:
    assert read_chunks(events) == [("c1", None)]


def test_the_text_for_a_custom_tool_is_joined_and_malformed_if_it_is_cut_off() -> None:
    parts = [item_added(0, CUSTOM), *pieces(0, INPUT, 'SELECT "', 'ü"\n')]
    whole = [("c2", {"input": 'SELECT "ü"\n'})]
    assert (
        read_chunks([*parts, event(f"{INPUT}.done", 0, input=CUSTOM["input"]), item_done(0, CUSTOM), ended(CUSTOM)])
        == whole
    )
    assert read_chunks([*parts, ended()]) == whole
    assert read_chunks(parts) == [("c2", None)]


def test_what_the_provider_runs_comes_with_its_result_and_is_never_open() -> None:
    stream = KNOWN.stream()
    of = "mcp_call_arguments"
    for one in [
        item_added(0, MCP),
        *pieces(0, of, '{"query"', ': "x"}'),
        event(f"{of}.done", 0, arguments='{"query": "x"}'),
    ]:
        assert stream.feed(one) == []
    (call,) = stream.feed(item_done(0, {**MCP, "output": "two"}))
    assert (call.result, call.provider_executed, stream.end()) == ("two", True, [])
    cut = KNOWN.read([item_added(0, MCP), *pieces(0, of, "{")]).calls[0]
    assert (cut.provider_executed, cut.is_malformed, dict(cut.extra)) == (True, True, {"server": "docs"})


def run_item(raw: Any, kind: str = "tool_call_item") -> dict[str, Any]:
    return {"type": kind, "raw_item": raw}


def raw_event(inner: Any) -> dict[str, Any]:
    return {"type": "raw_response_event", "data": inner}


def item_event(item: Any) -> dict[str, Any]:
    return {"type": "run_item_stream_event", "name": "tool_called", "item": item}


OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": '{"temp": 7}'}


def test_a_run_item_is_one_call() -> None:
    asked = KNOWN.read(run_item(ONE))
    assert (asked.dialect, asked.many) == ("openai_agents", False)
    assert asked.calls == (AskedCall("get_weather", {"city": "Bern"}, "c1", extra={"item_id": "fc_1"}),)
    assert KNOWN.read(run_item(MCP)).many
    assert KNOWN.read(ONE, "openai_agents").calls == asked.calls


@pytest.mark.parametrize(
    "payload",
    [
        [run_item(ONE), run_item(OUTPUT, "tool_call_output_item")],
        {"new_items": [run_item(ONE), 7, run_item(OUTPUT, "tool_call_output_item")]},
        [item_event(run_item(ONE)), item_event(run_item(OUTPUT, "tool_call_output_item"))],
    ],
)
def test_calls_that_a_run_has_answered_are_not_open(payload: Any) -> None:
    (call,) = KNOWN.read(payload).calls
    assert (call.id, call.result) == ("c1", {"temp": 7})


def test_a_call_in_raw_events_and_again_as_an_item_counts_once() -> None:
    turn = [event("created"), item_added(0, ONE), *HALVES, item_done(0, ONE), ended(ONE)]
    updated = {"type": "agent_updated_stream_event", "new_agent": {"name": "a"}}
    events = [updated, *map(raw_event, turn), item_event(run_item(ONE))]
    assert read_chunks([*events, *events]) == [("c1", {"city": "Bern"})] * 2


def test_agents_hand_over_to_one_another_themselves() -> None:
    handoff = [run_item(ONE, "handoff_call_item"), run_item(OUTPUT, "handoff_output_item")]
    assert KNOWN.read(handoff).calls == ()


def test_results_are_the_examples() -> None:
    (case,) = [case for case in cases("result") if case.dialect == AGENTS.name and case.name == "success"]
    made = AGENTS.render([answer_for(case)], many=False)
    assert orjson.loads(made.pop("output")) == orjson.loads(case.payload["output"])
    assert made == {key: value for key, value in case.payload.items() if key != "output"}
    assert AGENTS.render([succeeded(1), succeeded("a")], many=True)[1]["output"] == "a"


def test_definitions_are_strict_if_the_schema_can_be_reported_that_way() -> None:
    made = AGENTS.define(tool_of("get_weather", "Weather.", TOOLS["get_weather"]))
    schema = made.pop("params_json_schema")
    assert made == {"name": "get_weather", "description": "Weather.", "strict_json_schema": True}
    assert (schema["required"], schema["additionalProperties"]) == (["city", "unit"], False)
    free = {"type": "object", "properties": {"any": {"type": "object", "additionalProperties": True}}}
    made = AGENTS.define(tool_of("free", None, free))
    assert (made["params_json_schema"], made["strict_json_schema"]) == (free, False)


def test_nulls_for_what_was_left_out_are_dropped() -> None:
    payload = run_item({**ONE, "arguments": '{"city": "Bern", "unit": null}'})
    assert KNOWN.read(payload, None, TOOLS.get).calls[0].arguments == {"city": "Bern"}


@given(CALLS)
def test_composed_calls_are_read_as_they_were(calls: list[AskedCall]) -> None:
    assert KNOWN.read(orjson.loads(orjson.dumps(AGENTS.compose(calls)))).calls == tuple(calls)


@pytest.mark.parametrize("payload", [7, "text", {}, {"raw_item": 7}])
def test_what_is_nothing_of_it_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload, AGENTS.name)


@given(st.sampled_from(EXAMPLES).flatmap(spoiled))
def test_arbitrary_json_anywhere_in_a_payload_is_read_or_refused(payload: Any) -> None:
    read_or_refuse(KNOWN, payload)
