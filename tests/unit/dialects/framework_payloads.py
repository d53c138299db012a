"""Shared helpers of tests of framework dialects."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson
from hypothesis import strategies as st

from pegboard import Problem, ToolResult
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.model.call_errors import ErrorType
from pegboard.model.tool import Kind, Tool
from tests.formats import TOOLS, Case, cases

_WITHIN = re.compile("(Observation:|Action Input:)")
RUN = "01934b6e-7000-7000-8000-000000000000"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)
LABELS = st.sampled_from(
    ["Action:", "Action Input:", "Observation:", "Final Answer:", "Thought:", "<think>", "</think>", "```json", "{",
     "}", '{"name": "a", "arguments": ', "get_weather", "\n", "\r\n", " ", '"', "**"]
)  # fmt: skip
TEXTS = st.lists(LABELS | st.text(max_size=4), max_size=20).map("".join)
# Texts that would be taken for tags or labels if they stood alone.
ARGUMENTS = st.dictionaries(st.text(max_size=5) | LABELS, JSON | TEXTS, max_size=3)
CALLS = st.lists(
    st.tuples(NAMES, ARGUMENTS, st.text("abc123_", min_size=1, max_size=8)).map(lambda given: AskedCall(*given)),
    min_size=1,
    max_size=3,
    unique_by=lambda call: call.id,
)


def examples(dialect: str, *kinds: str) -> list[Case]:
    """The examples of a dialect."""
    return [case for kind in kinds for case in cases(kind) if case.dialect == dialect]


def calls_of(dialect: Dialect, payload: Any, *, received: bool = True) -> list[AskedCall]:
    """The calls in a payload."""
    return list(Dialects([dialect]).read(payload, dialect.name if received else None, TOOLS.get).calls)


def streamed(dialect: Dialect, chunks: list[Any]) -> list[AskedCall]:
    """The calls of a stream that is fed chunk by chunk."""
    stream = Dialects([dialect]).stream(dialect.name, TOOLS.get)
    return [call for chunk in chunks for call in stream.feed(chunk)] + stream.end()


def good(output: Any, name: str = "get_weather", elapsed_ms: float = 1.0) -> ToolResult:
    """A success."""
    return ToolResult(name, True, orjson.dumps(output), run_id=RUN, elapsed_ms=elapsed_ms)


def bad(message: str, name: str = "search_docs") -> ToolResult:
    """A failure."""
    return ToolResult(name, False, problem=Problem(ErrorType.UNKNOWN, "execution_failed", message), run_id=RUN)


def answer_in(case: Case, **extra: Any) -> Answer:
    """The finished call that a result example answers."""
    message = case.about["canonical"]
    call = AskedCall(message["name"], message["arguments"], message["id"] or "", extra=extra)
    return Answer(call, bad(message["error"], call.name) if "error" in message else good(message["result"], call.name))


def tool_of(name: str, schema: dict[str, Any], description: str) -> Tool:
    """A tool with this schema."""
    now = datetime.now(UTC)
    return Tool("t1", "u1", name, Kind.MOCK, {}, schema, now, now, description=description)


def parsed(value: Any) -> Any:
    """Return the value with every JSON text parsed, and without times."""
    if isinstance(value, dict):
        return {key: parsed(item) for key, item in value.items() if key != "timestamp"}
    if isinstance(value, list):
        return [parsed(item) for item in value]
    if not isinstance(value, str):
        return value
    pieces = _WITHIN.split(value)
    return [parsed_text(piece.strip()) for piece in pieces] if len(pieces) > 1 else parsed_text(value)


def parsed_text(text: str) -> Any:
    """Return the parsed JSON of a text, or the text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def never_raises(dialect: Dialect, payload: Any) -> None:
    """Parse the payload, recognised or not, at once and as a stream; only Unreadable may be raised."""
    assert dialect.recognises(payload) in (True, False)
    known = Dialects([dialect])
    for name in (None, dialect.name):
        with suppress(Unreadable):
            known.read(payload, name, TOOLS.get)
        stream = known.stream(name, TOOLS.get)
        with suppress(Unreadable):
            for chunk in payload if isinstance(payload, list) else [payload]:
                stream.feed(chunk)
            stream.end()


@st.composite
def replace_one_value(draw: st.DrawFn, payloads: list[Any]) -> Any:
    """Return a valid payload with another value at one position, at any depth."""
    payload = copy.deepcopy(draw(st.sampled_from(payloads)))
    places = list(_places(payload))
    other = draw(JSON)
    if not places:
        return other
    holder, key = draw(st.sampled_from(places))
    if draw(st.booleans()):
        holder[key] = other
    else:
        del holder[key]
    return payload


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield value, key
        yield from _places(item)
