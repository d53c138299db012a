"""OpenAI's Chat Completions, which many other servers also implement."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly, read_id
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.schema_adapters import remove_optional_nulls
from pegboard.dialects.shared.function_calls import (
    compose_function_call,
    dict_or_empty,
    filter_dicts,
    first_dict,
    has_mistral_id,
    parse_output,
    result_to_output_text,
)
from pegboard.dialects.shared.openai_calls import (
    CHAT_LIMITS,
    CUSTOM_INPUT_END,
    EXPECTED_CHAT_PAYLOAD,
    TRUNCATED_FINISH_REASONS,
    define_strict_function,
    encode_custom_input_piece,
    get_custom_input,
    get_first_choice,
    get_function_call,
    has_chat_content,
    read_custom_input,
    read_function_arguments,
    wrap_choice,
    wrap_single_calls,
)
from pegboard.dialects.shared.turns import content_to_text
from pegboard.model.tool import Tool

_FUNCTION_CALL_MESSAGE = "unrecognised_format: this message has a function_call, which is openai_legacy_function_call"
_CUSTOM_CALL_EXTRA: Mapping[str, Any] = MappingProxyType({"custom": True})
# The keys of a delta without calls.
_TEXT_DELTA_KEYS = frozenset({"content", "refusal", "reasoning", "reasoning_content"})


class OpenAIChat(MessagePerAnswer):
    """Messages with `tool_calls`, each answered by one message with the role `tool`."""

    name = "openai_chat"
    expected = EXPECTED_CHAT_PAYLOAD
    media = frozenset({"image_url", "input_audio"})
    aliases: ClassVar[tuple[str, ...]] = ("openai",)
    keys = frozenset({"choices", "index", "tool_calls", "function", "custom", "tool_call_id", "messages", "refusal"})
    limits = CHAT_LIMITS
    talk = Talk(ids=re.compile(r".{1,40}", re.DOTALL))

    def recognises(self, item: Any) -> bool:
        """Recognise a response, a chunk with content, a choice or message of one, a history, or one call."""
        if not isinstance(item, dict):
            return False
        item = wrap_single_calls(wrap_choice(item) if "index" in item else item)
        if isinstance(choices := item.get("choices"), list):
            choice = get_first_choice(choices)
            if choice is None:
                return not choices and item.get("object") == "chat.completion"
            return (
                get_function_call(choice) is None
                and has_chat_content(choice)
                and not _is_other_openai_like(dict_or_empty(choice.get("message")))
                and not has_mistral_id(first_dict(dict_or_empty(choice.get("delta")).get("tool_calls")))
            )
        if isinstance(messages := item.get("messages"), list):
            return any(map(_is_message, messages)) and not any(map(_is_other_openai_like, filter_dicts(messages)))
        if _is_continued_delta(first_dict(item.get("tool_calls"))):
            return True
        return (_is_message(item) or _is_call(item)) and not _is_other_openai_like(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read one response, chunk, choice, message, delta, history or call."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        item = wrap_single_calls(wrap_choice(item) if "index" in item else item)
        if isinstance(choices := item.get("choices"), list):
            _read_choices(choices, into)
        elif isinstance(messages := item.get("messages"), list):
            for message in messages:
                _read_message(message, into)
        elif "role" in item or isinstance(item.get("tool_calls"), list):
            _read_message_or_delta(item, into)
        elif _is_call(item):
            into.bare = True
            _read_calls([item], into)
        elif "error" not in item and (into.state is None or not item.keys() <= _TEXT_DELTA_KEYS):
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        """Mark the calls of a message as complete, unless deltas without a role followed it."""
        calls = into.state
        if calls is not None and calls.is_message:
            _end_calls(into, cut=False)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without nulls that mean absent."""
        return remove_optional_nulls(arguments, schema)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        message = first_dict(response.get("choices")).get("message")
        return {"role": "assistant", **message} if isinstance(message, dict) else None

    def chunk_text(self, chunk: Any) -> str | None:
        """Return the content of the first choice's delta."""
        choice = first_dict(dict_or_empty(chunk).get("choices"))
        if "delta" not in choice or "message" in choice:
            return None
        return content_to_text(dict_or_empty(choice["delta"]).get("content") or "") or ""

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return an assistant message; calls that the provider runs cannot be expressed in it."""
        composed = [_compose_call(call) for call in calls if not call.provider_executed]
        return {"role": "assistant", "content": None, "tool_calls": composed}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": answer.id, "content": result_to_output_text(answer.result)}

    def own(self, raw: Any) -> list[Any]:
        """Return a message without null fields: OpenAI returns nulls that it does not accept as input."""
        return [
            {key: value for key, value in message.items() if value is not None or key == "content"}
            for message in super().own(raw)
        ]

    def define_strictly(self, tool: Tool) -> dict[str, Any]:
        """Return the same definition, strict if strict mode can express the schema."""
        return {"type": "function", "function": define_strict_function(tool)}


def _is_other_openai_like(item: Mapping[str, Any]) -> bool:
    """Return True for a Mistral, Cohere or Ollama message or call: no `type` on the call, or a `tool_plan`."""
    call = first_dict(item["tool_calls"]) if "tool_calls" in item else item
    if "tool_plan" in item or "tool_name" in item or ("function" in call and call.get("type", "null") == "null"):
        return True
    return "index" in call and has_mistral_id(call)


def _read_choices(choices: list[Any], into: Assembly) -> None:
    choice = get_first_choice(choices)
    if choice is None:
        return
    finish = choice.get("finish_reason")
    if isinstance(choice.get("message"), dict):
        _read_message(choice["message"], into, cut=finish in TRUNCATED_FINISH_REASONS)
    delta = dict_or_empty(choice.get("delta"))
    _read_executed_deltas(delta.get("executed_tools"), into)
    if isinstance(delta.get("tool_calls"), list):
        _read_deltas(delta["tool_calls"], into)
    elif isinstance(delta.get("function_call"), dict):
        raise Unreadable(_FUNCTION_CALL_MESSAGE)
    if finish and into.state is not None:
        _end_calls(into, cut=finish in TRUNCATED_FINISH_REASONS)


def _read_message_or_delta(item: dict[str, Any], into: Assembly) -> None:
    """Read a message, or a delta of one, which the SDK yields without its chunk."""
    calls = item.get("tool_calls")
    if item.get("role") is None and into.state is not None:
        into.state.is_message = False
    if isinstance(calls, list) and _is_first_delta(first_dict(calls)):
        into.get_state(_OpenCalls).is_message = item.get("role") is not None
        _read_deltas(calls, into)
    elif isinstance(calls, list) and _is_continued_delta(first_dict(calls)):
        _read_deltas(calls, into)
    else:
        _read_message(item, into)


def _read_message(message: Any, into: Assembly, *, cut: bool = False) -> None:
    if not isinstance(message, dict):
        return
    role = message.get("role")
    if role == "tool":
        result, error = parse_output(message.get("content"))
        into.answer(message.get("tool_call_id"), result, error=error, name=message.get("name"))
    elif role is None or role == "assistant":
        _read_executed_tools(message.get("executed_tools"), into)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            _read_calls(calls, into, cut=cut)
        elif isinstance(message.get("function_call"), dict):
            raise Unreadable(_FUNCTION_CALL_MESSAGE)


def _read_calls(calls: list[Any], into: Assembly, *, cut: bool = False) -> None:
    last = len(calls) - 1 if cut else -1
    for place, item in enumerate(calls):
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("function"), dict):
            function = item["function"]
            arguments = read_function_arguments(function.get("arguments"), cut=place == last)
            into.call(function.get("name"), arguments, item.get("id"))
        elif isinstance(item.get("custom"), dict):
            custom = item["custom"]
            arguments = read_custom_input(custom.get("input", ""), cut=place == last)
            into.call(custom.get("name"), arguments, item.get("id"), extra=_CUSTOM_CALL_EXTRA)


def _compose_call(call: AskedCall) -> dict[str, Any]:
    if call.extra.get("custom"):
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": get_custom_input(call)}}
    return compose_function_call(call)


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or isinstance(item.get("function_call"), dict):
        return False
    role, calls = item.get("role"), item.get("tool_calls")
    if role == "tool":
        return isinstance(item.get("tool_call_id"), str) and isinstance(item.get("content"), (str, list))
    if isinstance(calls, list) and calls:
        return (role is None or role == "assistant") and _has_function(calls[0])
    return role == "assistant" and ("tool_calls" in item or "refusal" in item)


def _is_call(item: dict[str, Any]) -> bool:
    """Return True for a call, but not for a definition, which looks similar."""
    function, custom = dict_or_empty(item.get("function")), dict_or_empty(item.get("custom"))
    if isinstance(function.get("name"), str):
        return "arguments" in function or "id" in item
    return isinstance(custom.get("name"), str) and "input" in custom


def _has_function(item: Any) -> bool:
    return isinstance(item, dict) and (isinstance(item.get("function"), dict) or isinstance(item.get("custom"), dict))


class _OpenCalls:
    """The open calls of a stream: their keys, the last one, and which belong to custom tools.

    `is_message` is True if the calls came in a message with a role, which is complete unless deltas follow.
    """

    __slots__ = ("customs", "is_message", "keys", "last")

    def __init__(self) -> None:
        self.keys: set[Hashable] = set()
        self.last: Hashable = None
        self.customs: dict[Hashable, str] = {}
        self.is_message = False


def _read_deltas(deltas: list[Any], into: Assembly) -> None:
    """Read the pieces of calls in one delta."""
    calls = into.get_state(_OpenCalls)
    for place, item in enumerate(deltas):
        if not isinstance(item, dict):
            continue
        index = item.get("index")
        key = calls.last = index if isinstance(index, int) else place
        calls.keys.add(key)
        if isinstance(custom := item.get("custom"), dict):
            _read_custom_delta(key, item.get("id"), custom, into)
            continue
        function = dict_or_empty(item.get("function"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            into.snapshot(key, arguments, name=function.get("name"), id=item.get("id"))
        else:
            into.piece(key, arguments, name=function.get("name"), id=item.get("id"))


def _read_custom_delta(key: Hashable, id: Any, custom: dict[str, Any], into: Assembly) -> None:
    customs = into.state.customs
    identity = read_id(id)
    if identity and customs.get(key, identity) != identity:
        _close_custom(key, into)
    text = encode_custom_input_piece(custom.get("input"), begins=key not in customs)
    customs[key] = customs.get(key) or identity
    into.piece(key, text, name=custom.get("name"), id=id, extra=_CUSTOM_CALL_EXTRA)


def _close_custom(key: Hashable, into: Assembly) -> None:
    del into.state.customs[key]
    into.piece(key, CUSTOM_INPUT_END)
    into.over(key)


def _end_calls(into: Assembly, *, cut: bool) -> None:
    """End the calls of a message; if it was cut off, the last call stays incomplete."""
    calls: _OpenCalls = into.state
    unfinished = {calls.last} if cut else set()
    for key in calls.customs.keys() - unfinished:
        _close_custom(key, into)
    for key in calls.keys - unfinished:
        into.over(key)
    into.close_incomplete()
    into.state = None


def _is_first_delta(call: dict[str, Any]) -> bool:
    """Return True for a first delta, whose arguments follow, or for a message's call without arguments."""
    arguments = dict_or_empty(call.get("function")).get("arguments")
    if not isinstance(call.get("index"), int) or not isinstance(arguments, str):
        return False
    return not arguments.rstrip().endswith("}")


def _is_continued_delta(call: dict[str, Any]) -> bool:
    """Return True for a delta that continues the arguments of a call."""
    function = dict_or_empty(call.get("function"))
    if not isinstance(call.get("index"), int) or call.get("id") is not None or function.get("name") is not None:
        return False
    return isinstance(function.get("arguments"), str)


# The keys that may contain the result, in order of precedence.
_RESULT_KEYS = ("output", "search_results", "code_results", "browser_results")


def _read_executed_tools(tools: Any, into: Assembly) -> None:
    """Read the tools of a complete message."""
    for tool in filter_dicts(tools):
        into.call(
            _get_executed_name(tool), tool.get("arguments"), result=_get_executed_result(tool), provider_executed=True
        )


def _read_executed_deltas(tools: Any, into: Assembly) -> None:
    """Read the tools of one chunk: the first chunk of a tool has its arguments, a later one its result."""
    for place, tool in enumerate(filter_dicts(tools)):
        index = tool.get("index")
        identity = f"executed_{index if isinstance(index, int) else place}"
        if not into.holds(identity):
            arguments = tool.get("arguments")
            text = arguments if isinstance(arguments, str) else ""
            into.piece(identity, text, name=_get_executed_name(tool), id=identity, provider_executed=True)
        if (result := _get_executed_result(tool)) is not ABSENT:
            into.answer(identity, result)


def _get_executed_name(tool: dict[str, Any]) -> str:
    name = tool.get("name") or tool.get("type")
    return name if isinstance(name, str) else ""


def _get_executed_result(tool: dict[str, Any]) -> Any:
    return next((tool[key] for key in _RESULT_KEYS if tool.get(key) is not None), ABSENT)
