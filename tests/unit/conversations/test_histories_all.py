"""One conversation in every dialect that has conversations."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.api_errors import Invalid
from tests.unit.conversations.sample_conversation import (
    CALLS,
    CONVERSATION,
    KNOWN,
    TALKING,
    arguments_of,
    get_stored_arguments,
    history,
    message,
)

TEXTUAL = [name for name in TALKING if name.startswith("text_")]
# The observations of a turn are one text, so that they cannot be assigned to its calls.
OBSERVING = ["crewai", "smolagents"]
STRUCTURED = [name for name in TALKING if name not in TEXTUAL and name not in OBSERVING]
OUTCOMES = [{"degrees": 7}, "Error: no clock", "fine", "Error: No result was recorded", "Error: bad"]


def outcome_of(call: AskedCall) -> Any:
    """Return how a call ended; parse the text that a framework stores."""
    if call.error is not None:
        return f"Error: {call.error}"
    assert call.result is not ABSENT
    text = call.result if isinstance(call.result, str) else ""
    value = json.loads(text) if text.startswith("{") else call.result
    return f"Error: {value['error']}" if isinstance(value, dict) and value.keys() == {"error"} else value


@pytest.mark.parametrize("name", STRUCTURED)
def test_the_same_calls_are_read_back_with_the_same_outcomes(name: str) -> None:
    asked = KNOWN.read(history(name).items, name)
    assert [call.name for call in asked.calls] == [call["name"] for call in CALLS]
    assert list(map(arguments_of, asked.calls)) == list(map(get_stored_arguments, CALLS))
    assert list(map(outcome_of, asked.calls)) == OUTCOMES


@pytest.mark.parametrize("name", TEXTUAL)
def test_the_same_calls_are_read_back_from_what_a_model_would_have_written(name: str) -> None:
    items = history(name).items
    recognised = [item for item in items if item["role"] == "assistant"]
    read = [call for item in recognised for call in KNOWN.read(item, name).calls]
    assert [(call.name, arguments_of(call)) for call in read[:4]] == [
        (call["name"], get_stored_arguments(call)) for call in CALLS[:4]
    ]
    if name != "text_glm46":  # there, a name is a call only if the text after it looks like one
        assert read[4].name == "get_weather"
        assert read[4].is_malformed or "INVALID_JSON" in read[4].arguments
    found = ['{"degrees":7}', *OUTCOMES[1:]]
    assert [item["content"] for item in items if item["role"] == "tool"] == found
    assert items[0] == {"role": "system", "content": "Be brief."}


def test_an_agent_of_actions_gets_them_with_their_observations() -> None:
    items = history("crewai").items
    texts = [item["content"] for item in items if item["role"] == "assistant"]
    read = [call for text in texts for call in KNOWN.read(text, "crewai").calls]
    assert [call.name for call in read] == [call["name"] for call in CALLS]
    assert [arguments_of(call) for call in read] == list(map(get_stored_arguments, CALLS))
    assert list(map(outcome_of, read)) == OUTCOMES


def test_an_agent_of_one_observation_a_turn_gets_what_all_calls_gave() -> None:
    items = history("smolagents").items
    assert [call.name for call in KNOWN.read(items, "smolagents").calls] == [call["name"] for call in CALLS]
    observed = [item["content"][0]["text"] for item in items if item["role"] == "tool-response"]
    assert observed[0] == 'Observation:\n{"degrees":7}\n{"error":"no clock"}'


@pytest.mark.parametrize("name", TALKING)
def test_everything_that_was_reported_is_there_once_and_can_be_sent(name: str) -> None:
    received = history(name)
    sent = orjson.dumps(received._asdict()).decode()
    for text in ("Be brief.", "How is the weather?", "I look.", "7 degrees.", "And now?", "Well?"):
        assert sent.count(text) == 1, text
    assert (received.system is None) == ("Be brief." in orjson.dumps(received.items).decode())


@pytest.mark.parametrize("name", TALKING)
def test_it_is_the_same_every_time(name: str) -> None:
    assert history(name) == history(name)


@pytest.mark.parametrize("name", TALKING)
def test_a_conversation_in_which_nothing_was_reported_is_empty(name: str) -> None:
    assert history(name, []) == ([], None, None)
    assert history(name, [message(0, "user"), message(1, "assistant", "\n"), message(2, "system", "")]) == (
        [],
        None,
        None,
    )


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in (*TALKING, "memory")])
def test_a_dialect_of_no_conversation_says_what_to_ask_for(name: str) -> None:
    with pytest.raises(Invalid, match=r"memory.*openai_chat"):
        history(name)


def test_memory_form_is_given_as_it_is_kept() -> None:
    items = history("memory").items
    assert [item["tool_calls"] for item in items] == [list(message.tool_calls) for message in CONVERSATION]
    assert items[1] == {
        "id": "m1",
        "role": "user",
        "content": "How is the weather?",
        "timestamp": "2026-11-16T00:00:00Z",
        "tool_calls": [],
    }
