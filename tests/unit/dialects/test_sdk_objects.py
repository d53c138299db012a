"""Every object that an official SDK returns is parsed, in whichever way it is dumped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from google.genai import types as genai

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.final_turn import GEMINI_FIELDS
from pegboard.dialects.parsed_calls import Unreadable
from tests.unit.dialects.sdk_objects import ARGUMENTS, SdkObject, objects

KNOWN = load_dialects()
OBJECTS = list(objects())
WAYS: Mapping[str, Callable[[Any], Any]] = {
    "model_dump()": lambda item: as_json(item.model_dump()),
    "model_dump(mode='json')": lambda item: item.model_dump(mode="json"),
    "model_dump(exclude_none=True)": lambda item: as_json(item.model_dump(exclude_none=True)),
    "model_dump(by_alias=True)": lambda item: item.model_dump(mode="json", by_alias=True),
    "model_dump(by_alias=True, exclude_none=True)": lambda item: item.model_dump(
        mode="json", by_alias=True, exclude_none=True
    ),
    "model_dump_json()": lambda item: item.model_dump_json(),
    "to_dict()": lambda item: item.to_dict(),
    "to_json()": lambda item: item.to_json(),
    "to_json_dict()": lambda item: item.to_json_dict(),
}


def as_json(value: Any) -> Any:
    """Return the value after a JSON encoder that writes bytes as text."""
    return json.loads(json.dumps(value, default=lambda item: item.decode() if isinstance(item, bytes) else str(item)))


def dumped(given: SdkObject) -> list[tuple[str, Any]]:
    """Return the object in every way in which it can be dumped; a list also as a list of JSON texts."""
    items = given.value if isinstance(given.value, list) else [given.value]
    if isinstance(items[0], dict):
        return [("as it is", given.value), ("json.dumps()", json.dumps(given.value))]
    ways = []
    for way, dump in WAYS.items():
        if all(hasattr(item, way.partition("(")[0]) for item in items):
            each = [dump(item) for item in items]
            ways.append((way, each if isinstance(given.value, list) else each[0]))
            if isinstance(each[0], str) and isinstance(given.value, list):
                ways.append((f"list of {way}", f"[{','.join(each)}]"))
    return ways


@pytest.mark.parametrize("given", OBJECTS, ids=str)
def test_an_object_of_an_sdk_is_read_however_it_is_dumped(given: SdkObject) -> None:
    ways = dumped(given)
    assert len(ways) > 1
    for way, payload in ways:
        asked = KNOWN.read(payload)
        assert asked.dialect in given.dialects, way
        calls = [(call.name, call.arguments) for call in asked.calls if call.is_open]
        assert calls == ([("echo", ARGUMENTS)] if given.has_call else []), way


def test_of_several_choices_in_a_list_only_the_first_is_read() -> None:
    given = next(given for given in OBJECTS if given.label == "openai_chat choice" and given.has_call)
    first = given.value.model_dump()
    asked = KNOWN.read([first, {**first, "index": 1}])
    assert (asked.dialect, len(asked.calls)) == ("openai_chat", 1)
    with pytest.raises(Unreadable):
        KNOWN.read({**first, "index": 1})


def test_deltas_that_end_before_the_arguments_arrived_make_no_call_that_could_run() -> None:
    given = next(given for given in OBJECTS if given.label == "openai_chat deltas of chunks")
    deltas = [delta.to_dict() for delta in given.value]
    (call,) = KNOWN.read(deltas[:3]).calls
    assert call.is_malformed
    (call,) = KNOWN.read([*deltas[:2], {"content": ""}]).calls
    assert call.is_malformed


def test_a_whole_message_whose_numbered_call_has_empty_arguments_is_a_call_without_any() -> None:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "echo", "arguments": ""}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    for payload in (message, [{"role": "user", "content": "go"}, message]):
        (read,) = KNOWN.read(payload).calls
        assert (read.name, read.arguments) == ("echo", {})


def test_the_fields_of_a_part_are_those_of_googles_own_library() -> None:
    fields = genai.Part.model_fields
    names = {*fields, *(field.alias for field in fields.values() if field.alias)}
    assert names - {"text"} <= GEMINI_FIELDS
