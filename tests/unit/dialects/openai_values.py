"""Values for tests of OpenAI's dialects: any JSON, calls, payloads with unexpected values, answers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson
from hypothesis import strategies as st

from pegboard import Problem, Tool, ToolResult
from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.model.call_errors import ErrorType
from pegboard.model.tool import Kind
from tests.formats import Case

NOW = datetime(2026, 1, 2, tzinfo=UTC)
WORDS = ("choices", "message", "delta", "tool_calls", "function", "custom", "role", "type", "output", "item", "id")

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(TEXTS, JSON, max_size=4)
NAMES = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
IDS = st.from_regex(r"call_[A-Za-z0-9]{1,8}", fullmatch=True)
CALL = st.tuples(NAMES, ARGUMENTS, IDS).map(lambda parts: AskedCall(*parts))
CALLS = st.lists(CALL, min_size=1, max_size=4, unique_by=lambda call: call.id)
CUSTOM_CALLS = st.builds(
    lambda name, text, id: AskedCall(name, {"input": text}, id, extra={"custom": True}), NAMES, TEXTS, IDS
)


@st.composite
def spoiled(draw: st.DrawFn, payload: Any) -> Any:
    """Return the payload with arbitrary JSON inserted, at any depth."""
    whole = [copy.deepcopy(payload)]
    places = list(_places(whole))
    inside, key = draw(st.sampled_from(places))
    inside[key] = draw(JSON)
    return whole[0]


def _places(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from _places(value[key])


def read_or_refuse(known: Dialects, payload: Any) -> None:
    """Parse the payload in each dialect, named or detected; only Unreadable may be raised."""
    for name in (None, *known):
        with suppress(Unreadable):
            known.read(payload, name)
        with suppress(Unreadable):
            stream = known.stream(name)
            for chunk in payload if isinstance(payload, list) else [payload]:
                stream.feed(chunk)
            stream.end()


def tool_of(name: str, description: str | None, schema: Mapping[str, Any]) -> Tool:
    """A tool with this schema."""
    return Tool("id", "owner", name, Kind.MOCK, {}, schema, NOW, NOW, description=description)


def succeeded(output: Any, call: AskedCall | None = None) -> Answer:
    """An answer with this output."""
    call = call or AskedCall("get_weather", {}, "call_W1")
    return Answer(call, ToolResult(call.name, True, orjson.dumps(output), run_id="0000-1"))


def failed(message: str, call: AskedCall | None = None) -> Answer:
    """Return an answer with an error."""
    call = call or AskedCall("get_weather", {}, "call_W1")
    return Answer(call, ToolResult(call.name, False, problem=Problem(ErrorType.UNKNOWN, "execution_error", message)))


def answer_for(case: Case) -> Answer:
    """The finished call that an example of a result answers."""
    received = case.about["canonical"]
    return succeeded(received["result"], AskedCall(received["name"], received["arguments"], received["id"] or ""))


IMAGE = {
    "content": [
        {"type": "text", "text": "A cat"},
        {"type": "image", "mimeType": "image/png", "data": "aGk="},
        {"type": "resource_link", "uri": "file:///a"},
    ]
}
