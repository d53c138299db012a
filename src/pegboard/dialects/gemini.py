"""Gemini's API: contents of parts, whole, streamed and live."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import fitted_names, gemini_schema, own_names
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.defining import name_for, without_draft
from pegboard.dialects.parts.function_parts import (
    composed_parts,
    is_call,
    is_part,
    parts_in,
    read_call,
    read_part,
    read_response,
    response_part,
)
from pegboard.dialects.parts.google_fields import field
from pegboard.dialects.parts.picking import dict_of, dicts_of, is_models, unreadable
from pegboard.dialects.talk import Talk

_PROPERTY = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_EXPECTED = "a response with candidates, a content with parts, a part, or an event of a stream"
_CANCELLED = "the model cancelled this call"
_PARTIAL = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})
_OF_CALLS = _PARTIAL | {"id", "name", "args"}
# What comes without any call in it.
_OTHER = frozenset(
    {"text", "inlineData", "inline_data", "fileData", "file_data", "usageMetadata", "usage_metadata", "promptFeedback",
     "prompt_feedback", "setupComplete", "setup_complete", "goAway", "go_away", "sessionResumptionUpdate",
     "session_resumption_update", "modelVersion", "model_version"}
)  # fmt: skip


class GeminiGenerateContent(Dialect):
    """Contents of parts; every answer of a turn goes into one content."""

    name = "gemini_generate_content"
    aliases: ClassVar[tuple[str, ...]] = ("gemini",)
    keys = frozenset(
        {"candidates", "parts", "contents", "functionCall", "function_call", "functionResponse", "function_response",
         "executableCode", "executable_code", "codeExecutionResult", "code_execution_result", "toolCall", "tool_call",
         "args", "content", "toolResponse", "tool_response", "serverContent", "server_content", "toolCallCancellation",
         "tool_call_cancellation", "response"}
    )  # fmt: skip
    limits = Limits(name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"), property_name=_PROPERTY)
    talk = Talk(
        system="apart",
        parts="parts",
        roles={"assistant": "model"},
        keys=frozenset({"role", "parts"}),
        alternates=True,
        has_ids=False,
    )
    # The key of a response's output.
    wrap: ClassVar[str] = "output"

    def recognises(self, item: Any) -> bool:
        """A response, a content or a part, or an event of the Live API."""
        if isinstance(item, list):
            return any(is_part(part) for part in item)
        if not isinstance(item, dict):
            return False
        if _is_response(item) or is_part(item) or any(is_part(part) for part in dicts_of(item.get("parts"))):
            return True
        if any(is_part(part) for content in dicts_of(item.get("contents")) for part in dicts_of(content.get("parts"))):
            return True
        return _is_live(item) or _is_function_call(item) or _is_candidate(item)

    def read(self, item: Any, into: Assembly) -> None:
        """A response, a content, a part or an event, or a list of parts."""
        parts = parts_in(into)
        parts.begin()
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict) or not self._took(one, into):
                raise unreadable(one, self.name, _EXPECTED)
        parts.end(into)

    def finish(self, into: Assembly) -> None:
        """What was held for an answer is handed over, what was not complete is cut off."""
        parts = parts_in(into)
        parts.release(into)
        parts.partial.cut(into)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under the names that the tool's own schema has for them."""
        return own_names(arguments, schema, _PROPERTY)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The content that a model answers with."""
        return {"role": "model", "parts": [part for call in calls for part in composed_parts(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One content with every result; an id only where the call had one."""
        return {"role": "user", "parts": [response_part(answer, answer.call.id, self.wrap) for answer in answers]}

    def system(self, text: str) -> Any:
        """A content, as `system_instruction` is one."""
        return {"parts": [{"text": text}]}

    def define(self, tool: Tool) -> dict[str, Any]:
        """A tool with one function."""
        return {"functionDeclarations": [declaration(tool)]}

    def define_all(self, tools: Sequence[Tool]) -> Any:
        """One tool with every function."""
        return [{"functionDeclarations": [declaration(tool) for tool in tools]}]

    def _took(self, item: dict[str, Any], into: Assembly) -> bool:
        """Whether there is something of this dialect in the object; what there is has been taken in."""
        if isinstance(item.get("parts"), list):
            _read_content(item, into, self.wrap)
            return True
        for name, read in _FORMS.items():
            found = field(item, name)
            if found is not None and read(found, into, self.wrap):
                return True
        into.bare = isinstance(field(item, "functionCall"), dict) or ("name" in item and "args" in item)
        if is_part(item):
            read_part(item, into, self.wrap)
        elif into.bare:
            read_call(item, into)
        elif "name" in item and "response" in item:
            read_response(item, into, self.wrap)
        elif isinstance(item.get("content"), dict):
            _read_candidates([item], into, self.wrap)
        else:
            return bool(_OTHER & item.keys())
        return True


def _is_response(item: dict[str, Any]) -> bool:
    return isinstance(item.get("candidates"), list) or isinstance(dict_of(item.get("response")).get("candidates"), list)


def _is_function_call(item: dict[str, Any]) -> bool:
    """Whether this is a function call out of its part; with an id and nothing else it looks like LangChain's."""
    if not isinstance(item.get("name"), str) or "args" not in item or not item.keys() <= _OF_CALLS:
        return False
    return item.keys() == {"name", "args"} or not item.keys().isdisjoint(_PARTIAL)


def _is_candidate(item: dict[str, Any]) -> bool:
    """Whether this is one of a response's candidates, with a call."""
    if not isinstance(item.get("content"), dict) or not item.keys().isdisjoint(("role", "author")):
        return False
    return any(is_part(part) for part in dicts_of(item["content"].get("parts")))


def _is_live(item: dict[str, Any]) -> bool:
    """Whether this is a message of the Live API."""
    calls, responses = dict_of(field(item, "toolCall")), dict_of(field(item, "toolResponse"))
    return (
        any(isinstance(field(item, name), dict) for name in ("serverContent", "toolCallCancellation"))
        or isinstance(field(calls, "functionCalls"), list)
        or isinstance(field(responses, "functionResponses"), list)
    )


def _read_candidates(candidates: Any, into: Assembly, wrap: str) -> bool:
    """Several are alternatives of one answer: the first is taken."""
    for candidate in dicts_of(candidates):
        if candidate.get("index") in (None, 0):
            read_candidate(candidate, into, wrap)
            break
    return isinstance(candidates, list)


def read_candidate(item: dict[str, Any], into: Assembly, wrap: str, running: Collection[str] = ()) -> None:
    """Take in the content of a candidate or an event; calls with the ids in `running` go on after it."""
    _read_content(dict_of(item.get("content")), into, wrap, running)
    if field(item, "finishReason") == "STOP":
        parts_in(into).partial.close(into)


def _read_content(content: dict[str, Any], into: Assembly, wrap: str, running: Collection[str] = ()) -> None:
    may_call = is_models(content.get("role"))
    for part in dicts_of(content.get("parts")):
        if may_call or not is_call(part):
            read_part(part, into, wrap, running)


def _read_wrapped(response: Any, into: Assembly, wrap: str) -> bool:
    return _read_candidates(dict_of(response).get("candidates"), into, wrap)


def _read_contents(contents: Any, into: Assembly, wrap: str) -> bool:
    for content in dicts_of(contents):
        _read_content(content, into, wrap)
    return isinstance(contents, list)


def _read_server_content(content: Any, into: Assembly, wrap: str) -> bool:
    _read_content(dict_of(field(dict_of(content), "modelTurn")), into, wrap)
    return isinstance(content, dict)


def _read_live_calls(call: Any, into: Assembly, wrap: str) -> bool:
    calls = field(dict_of(call), "functionCalls")
    for one in dicts_of(calls):
        read_call(one, into)
    return isinstance(calls, list)


def _read_live_responses(response: Any, into: Assembly, wrap: str) -> bool:
    responses = field(dict_of(response), "functionResponses")
    for one in dicts_of(responses):
        read_response(one, into, wrap)
    return isinstance(responses, list)


def _read_cancellation(cancellation: Any, into: Assembly, wrap: str) -> bool:
    ids = dict_of(cancellation).get("ids")
    for identity in ids if isinstance(ids, list) else ():
        parts_in(into).answer(None, identity, ABSENT, _CANCELLED, into)
    return isinstance(cancellation, dict)


_FORMS: Mapping[str, Callable[[Any, Assembly, str], bool]] = {
    "candidates": _read_candidates,
    "contents": _read_contents,
    "response": _read_wrapped,
    "serverContent": _read_server_content,
    "toolCall": _read_live_calls,
    "toolResponse": _read_live_responses,
    "toolCallCancellation": _read_cancellation,
}


def declaration(tool: Tool) -> dict[str, Any]:
    """How a function is declared."""
    described = {"description": tool.description} if tool.description else {}
    schema = without_draft(gemini_schema(fitted_names(tool.input_schema, _PROPERTY)))
    return {"name": name_for(tool), **described, "parametersJsonSchema": schema}
