"""Gemini's API: contents with parts, as whole responses, streams and Live API messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import Limits, Talk
from pegboard.dialects.schema_adapters import fit_property_names, restore_property_names, to_gemini_schema
from pegboard.dialects.shared.function_calls import (
    dict_or_empty,
    filter_dicts,
    first_dict,
    get_provider_name,
    is_model_role,
    remove_draft_keyword,
)
from pegboard.dialects.shared.gemini_parts import (
    PartsState,
    compose_parts,
    get_field,
    is_call_or_result_part,
    is_call_part,
    read_call,
    read_part,
    read_response,
    render_response_part,
)
from pegboard.dialects.shared.turns import Speaker, Turn, split_answers
from pegboard.model.tool import Tool

_PROPERTY_NAME_PATTERN = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_CANCELLED_MESSAGE = "the model cancelled this call"
_PARTIAL_KEYS = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})
_CALL_KEYS = _PARTIAL_KEYS | {"id", "name", "args"}
# Keys of objects that contain no call.
_KEYS_WITHOUT_CALLS = frozenset(
    {"text", "inlineData", "inline_data", "fileData", "file_data", "usageMetadata", "usage_metadata", "promptFeedback",
     "prompt_feedback", "setupComplete", "setup_complete", "goAway", "go_away", "sessionResumptionUpdate",
     "session_resumption_update", "modelVersion", "model_version"}
)  # fmt: skip


class GeminiGenerateContent(Dialect):
    """Contents with parts; all answers of a turn go into one content."""

    name = "gemini_generate_content"
    expected = "a response with candidates, a content with parts, a part, or an event of a stream"
    media = frozenset({"inlineData", "fileData", "inline_data", "file_data", "thoughtSignature"})
    streams_messages = True
    aliases: ClassVar[tuple[str, ...]] = ("gemini",)
    keys = frozenset(
        {"candidates", "parts", "contents", "functionCall", "function_call", "functionResponse", "function_response",
         "executableCode", "executable_code", "codeExecutionResult", "code_execution_result", "toolCall", "tool_call",
         "args", "content", "toolResponse", "tool_response", "serverContent", "server_content", "toolCallCancellation",
         "tool_call_cancellation", "response"}
    )  # fmt: skip
    limits = Limits(name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"), property_name=_PROPERTY_NAME_PATTERN)
    talk = Talk(
        system="apart",
        parts="parts",
        roles={"assistant": "model"},
        keys=frozenset({"role", "parts"}),
        alternates=True,
        has_ids=False,
    )
    # The key of the output in a function response.
    wrap: ClassVar[str] = "output"

    def recognises(self, item: Any) -> bool:
        """Recognise a response, a content, a part, or an event of the Live API."""
        if isinstance(item, list):
            return any(is_call_or_result_part(part) for part in item)
        if not isinstance(item, dict):
            return False
        if (
            _is_response(item)
            or is_call_or_result_part(item)
            or any(is_call_or_result_part(part) for part in filter_dicts(item.get("parts")))
        ):
            return True
        if any(
            is_call_or_result_part(part)
            for content in filter_dicts(item.get("contents"))
            for part in filter_dicts(content.get("parts"))
        ):
            return True
        return _is_live_message(item) or _is_function_call(item) or _is_candidate(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a response, a content, a part or an event, or a list of parts."""
        parts = into.get_state(PartsState)
        parts.begin()
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict) or not self._read_item(one, into):
                raise self.make_unreadable_error(one)
        parts.end(into)

    def finish(self, into: Assembly) -> None:
        """Add the calls that waited for an answer, and mark incomplete ones as cut off."""
        into.get_state(PartsState).finish(into)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments under the property names of the tool's own schema."""
        return restore_property_names(arguments, schema, _PROPERTY_NAME_PATTERN)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        return first_dict(response.get("candidates")).get("content")

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the responses in a user's content apart."""
        return split_answers(item, speaker, lambda part: "functionResponse" in part or "function_response" in part)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return {"role": "model", "parts": [part for call in calls for part in compose_parts(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """Return one content with all results, with ids only for calls that had one."""
        return {
            "role": "user",
            "parts": [render_response_part(answer, answer.call.id, self.wrap) for answer in answers],
        }

    def system(self, text: str) -> Any:
        """Return a content for `system_instruction`."""
        return {"parts": [{"text": text}]}

    def define(self, tool: Tool) -> dict[str, Any]:
        return {"functionDeclarations": [declare_function(tool)]}

    def define_all(self, tools: Sequence[Tool]) -> Any:
        return [{"functionDeclarations": [declare_function(tool) for tool in tools]}]

    def _read_item(self, item: dict[str, Any], into: Assembly) -> bool:
        """Read the object and return True, or return False if it has nothing of this dialect."""
        if isinstance(item.get("parts"), list):
            _read_content(item, into, self.wrap)
            return True
        for name, read in _READERS_BY_KEY.items():
            found = get_field(item, name)
            if found is not None and read(found, into, self.wrap):
                return True
        into.bare = isinstance(get_field(item, "functionCall"), dict) or ("name" in item and "args" in item)
        if is_call_or_result_part(item):
            read_part(item, into, self.wrap)
        elif into.bare:
            read_call(item, into)
        elif "name" in item and "response" in item:
            read_response(item, into, self.wrap)
        elif isinstance(item.get("content"), dict):
            _read_candidates([item], into, self.wrap)
        else:
            return bool(_KEYS_WITHOUT_CALLS & item.keys())
        return True


def _is_response(item: dict[str, Any]) -> bool:
    return isinstance(item.get("candidates"), list) or isinstance(
        dict_or_empty(item.get("response")).get("candidates"), list
    )


def _is_function_call(item: dict[str, Any]) -> bool:
    """Return True for a function call outside of a part; with only an id in addition, it looks like LangChain's."""
    if not isinstance(item.get("name"), str) or "args" not in item or not item.keys() <= _CALL_KEYS:
        return False
    return item.keys() == {"name", "args"} or not item.keys().isdisjoint(_PARTIAL_KEYS)


def _is_candidate(item: dict[str, Any]) -> bool:
    """Return True for a candidate of a response that contains a call."""
    if not isinstance(item.get("content"), dict) or not item.keys().isdisjoint(("role", "author")):
        return False
    return any(is_call_or_result_part(part) for part in filter_dicts(item["content"].get("parts")))


def _is_live_message(item: dict[str, Any]) -> bool:
    """Return True for a message of the Live API."""
    calls, responses = dict_or_empty(get_field(item, "toolCall")), dict_or_empty(get_field(item, "toolResponse"))
    return (
        any(isinstance(get_field(item, name), dict) for name in ("serverContent", "toolCallCancellation"))
        or isinstance(get_field(calls, "functionCalls"), list)
        or isinstance(get_field(responses, "functionResponses"), list)
    )


def _read_candidates(candidates: Any, into: Assembly, wrap: str) -> bool:
    """Read the first candidate only: several are alternatives of one answer."""
    for candidate in filter_dicts(candidates):
        if candidate.get("index") in (None, 0):
            read_candidate(candidate, into, wrap)
            break
    return isinstance(candidates, list)


def read_candidate(item: dict[str, Any], into: Assembly, wrap: str, running: Collection[str] = ()) -> None:
    """Read the content of a candidate or an event; calls with the ids in `running` are long-running."""
    _read_content(dict_or_empty(item.get("content")), into, wrap, running)
    if get_field(item, "finishReason") == "STOP":
        into.get_state(PartsState).partial.close(into)


def _read_content(content: dict[str, Any], into: Assembly, wrap: str, running: Collection[str] = ()) -> None:
    may_call = is_model_role(content.get("role"))
    for part in filter_dicts(content.get("parts")):
        if may_call or not is_call_part(part):
            read_part(part, into, wrap, running)


def _read_response_wrapper(response: Any, into: Assembly, wrap: str) -> bool:
    return _read_candidates(dict_or_empty(response).get("candidates"), into, wrap)


def _read_contents(contents: Any, into: Assembly, wrap: str) -> bool:
    for content in filter_dicts(contents):
        _read_content(content, into, wrap)
    return isinstance(contents, list)


def _read_server_content(content: Any, into: Assembly, wrap: str) -> bool:
    _read_content(dict_or_empty(get_field(dict_or_empty(content), "modelTurn")), into, wrap)
    return isinstance(content, dict)


def _read_live_calls(call: Any, into: Assembly, wrap: str) -> bool:
    calls = get_field(dict_or_empty(call), "functionCalls")
    for one in filter_dicts(calls):
        read_call(one, into)
    return isinstance(calls, list)


def _read_live_responses(response: Any, into: Assembly, wrap: str) -> bool:
    responses = get_field(dict_or_empty(response), "functionResponses")
    for one in filter_dicts(responses):
        read_response(one, into, wrap)
    return isinstance(responses, list)


def _read_cancellation(cancellation: Any, into: Assembly, wrap: str) -> bool:
    ids = dict_or_empty(cancellation).get("ids")
    for identity in ids if isinstance(ids, list) else ():
        into.get_state(PartsState).answer(None, identity, ABSENT, _CANCELLED_MESSAGE, into)
    return isinstance(cancellation, dict)


_READERS_BY_KEY: Mapping[str, Callable[[Any, Assembly, str], bool]] = {
    "candidates": _read_candidates,
    "contents": _read_contents,
    "response": _read_response_wrapper,
    "serverContent": _read_server_content,
    "toolCall": _read_live_calls,
    "toolResponse": _read_live_responses,
    "toolCallCancellation": _read_cancellation,
}


def declare_function(tool: Tool) -> dict[str, Any]:
    """Return a function declaration."""
    described = {"description": tool.description} if tool.description else {}
    schema = remove_draft_keyword(to_gemini_schema(fit_property_names(tool.input_schema, _PROPERTY_NAME_PATTERN)))
    return {"name": get_provider_name(tool), **described, "parametersJsonSchema": schema}
