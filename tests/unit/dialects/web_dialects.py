"""Shared helpers of tests of the dialects of web frameworks and of MCP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
from hypothesis import strategies as st

from pegboard import Problem, Tool, ToolResult
from pegboard.dialects.ag_ui import AgUi
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.detect import Dialects
from pegboard.dialects.mastra import Mastra
from pegboard.dialects.mcp_messages import Mcp
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.plain import Plain
from pegboard.dialects.vercel import VercelV4, VercelV5, VercelV7
from pegboard.model.call import Malformed
from pegboard.model.call_errors import ErrorType
from pegboard.model.tool import Kind

ALL: list[Dialect] = [VercelV4(), VercelV7(), VercelV5(), Mastra(), AgUi(), Mcp()]
KNOWN = Dialects([Plain(), *ALL])
NAMES = [dialect.name for dialect in ALL]
NOW = datetime(2026, 1, 2, tzinfo=UTC)
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
WITH_IMAGE = {"content": [{"type": "text", "text": "look"}, IMAGE]}

_WORDS = st.sampled_from(
    [
        *("type", "toolCallId", "toolName", "args", "input", "output", "payload", "id", "name", "arguments", "role"),
        *("content", "parts", "messages", "toolCalls", "state", "delta", "function", "jsonrpc", "method", "params"),
        *("result", "error", "tool-call", "tool-result", "tool-input-delta", "TOOL_CALL_CHUNK", "assistant", "tool"),
    ]
)
_TEXTS = st.text(st.characters(), max_size=8) | _WORDS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)
_WIRE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(), _WIRE, max_size=4)
CALLS = st.lists(
    st.tuples(st.text(min_size=1), ARGUMENTS | st.just(Malformed('{"a": ', "cut off")), st.text(min_size=1)),
    max_size=4,
    unique_by=lambda call: call[2],
).map(lambda calls: [AskedCall(*call) for call in calls])


def read(payload: Any, name: str | None = None) -> list[AskedCall]:
    """The calls of a payload."""
    return list(KNOWN.read(payload, name).calls)


def read_chunks(chunks: list[Any], name: str) -> list[list[AskedCall]]:
    """Return the calls after each chunk of a stream, and at its end."""
    stream = KNOWN.stream(name)
    return [*(stream.feed(chunk) for chunk in chunks), stream.end()]


def answer_to(call: AskedCall, output: Any = None, *, error: str | None = None, code: str = "failed") -> Answer:
    """The answer to a call: an output, or an error."""
    if error is None:
        return Answer(call, ToolResult(call.name, True, orjson.dumps(output), run_id="r-u-n"))
    return Answer(call, ToolResult(call.name, False, problem=Problem(ErrorType.UNKNOWN, code, error), run_id="r-u-n"))


def tool(name: str, schema: dict[str, Any], **more: Any) -> Tool:
    """A tool of this schema."""
    return Tool("id", "owner", name, Kind.MOCK, {}, schema, NOW, NOW, **more)


def parsed(value: Any) -> Any:
    """Return the value with every JSON text parsed."""
    if isinstance(value, dict):
        return {key: parsed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [parsed(item) for item in value]
    if isinstance(value, str) and value[:1] in "{[" and value:
        return orjson.loads(value)
    return value


def insert_value(payload: Any, steps: list[int], value: Any) -> Any:
    """Return the payload with this value inserted at the position that the steps lead to."""
    if not steps or not isinstance(payload, dict | list) or not payload:
        return value
    if isinstance(payload, list):
        place = steps[0] % len(payload)
        return [insert_value(item, steps[1:], value) if at == place else item for at, item in enumerate(payload)]
    name = list(payload)[steps[0] % len(payload)]
    return {key: insert_value(item, steps[1:], value) if key == name else item for key, item in payload.items()}
