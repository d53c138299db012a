"""OpenAI's Chat Completions, as many other servers speak them too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import without_nulls
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import wrapped_function_for
from pegboard.dialects.parts.function_calls import is_mistrals, text_of_arguments
from pegboard.dialects.parts.openai_calls import (
    given_arguments,
    given_input,
    input_of,
)
from pegboard.dialects.parts.openai_choices import (
    CUT,
    EXPECTED,
    LIMITS,
    as_response,
    choice_of,
    function_call_of,
    says_something,
    with_listed_calls,
)
from pegboard.dialects.parts.openai_deltas import (
    CUSTOM,
    TEXTS,
    OpenCalls,
    end_calls,
    is_begun,
    is_continued,
    read_deltas,
)
from pegboard.dialects.parts.openai_executed import read_executed_deltas, read_executed_tools
from pegboard.dialects.parts.openai_strict import strict_function_for
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, unreadable
from pegboard.dialects.talk import Talk

_FUNCTION_CALL = "unrecognised_format: this message has a function_call, which is openai_legacy_function_call"


class OpenAIChat(Dialect):
    """Messages with `tool_calls`, answered by one message of the role `tool` each."""

    name = "openai_chat"
    aliases: ClassVar[tuple[str, ...]] = ("openai",)
    keys = frozenset({"choices", "index", "tool_calls", "function", "custom", "tool_call_id", "messages", "refusal"})
    limits = LIMITS
    talk = Talk(ids=re.compile(r".{1,40}", re.DOTALL))

    def recognises(self, item: Any) -> bool:
        """A response, a chunk that says something, a choice or message of one, a history, or one call."""
        if not isinstance(item, dict):
            return False
        item = with_listed_calls(as_response(item) if "index" in item else item)
        if isinstance(choices := item.get("choices"), list):
            choice = choice_of(choices)
            if choice is None:
                return not choices and item.get("object") == "chat.completion"
            return (
                function_call_of(choice) is None
                and says_something(choice)
                and not _is_relatives(dict_of(choice.get("message")))
                and not is_mistrals(first_of(dict_of(choice.get("delta")).get("tool_calls")))
            )
        if isinstance(messages := item.get("messages"), list):
            return any(map(_is_message, messages)) and not any(map(_is_relatives, dicts_of(messages)))
        if is_continued(first_of(item.get("tool_calls"))):
            return True
        return (_is_message(item) or _is_call(item)) and not _is_relatives(item)

    def read(self, item: Any, into: Assembly) -> None:
        """One response, chunk, choice, message, delta, history or call."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, EXPECTED)
        item = with_listed_calls(as_response(item) if "index" in item else item)
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
        elif "error" not in item and (into.state is None or not item.keys() <= TEXTS):
            raise unreadable(item, self.name, EXPECTED)

    def finish(self, into: Assembly) -> None:
        """The calls of a message are complete, unless deltas without a role came after it."""
        calls = into.state
        if calls is not None and calls.is_message:
            end_calls(into, cut=False)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without the nulls that stand for nothing."""
        return without_nulls(arguments, schema)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """An assistant message; it has no place for calls that the provider runs."""
        composed = [_composed(call) for call in calls if not call.provider_executed]
        return {"role": "assistant", "content": None, "tool_calls": composed}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A message for each answer."""
        rendered = [
            {"role": "tool", "tool_call_id": answer.id, "content": output_text(answer.result)} for answer in answers
        ]
        return rendered if many else rendered[0]

    def own(self, raw: Any) -> list[Any]:
        """A message without what is said to be missing: OpenAI gives nulls that it does not take."""
        return [
            {key: value for key, value in message.items() if value is not None or key == "content"}
            for message in super().own(raw)
        ]

    def define(self, tool: Tool) -> dict[str, Any]:
        """`{type: function, function: {…}}`, with the schema adapted where OpenAI would refuse it."""
        return wrapped_function_for(tool)

    def define_strictly(self, tool: Tool) -> dict[str, Any]:
        """The same, strict where the schema can be said that way."""
        return {"type": "function", "function": strict_function_for(tool)}


def _is_relatives(item: Mapping[str, Any]) -> bool:
    """Whether it is a relative's message or call: they leave out what a call is, or tell their plan beside it."""
    call = first_of(item["tool_calls"]) if "tool_calls" in item else item
    if "tool_plan" in item or "tool_name" in item or ("function" in call and call.get("type", "null") == "null"):
        return True
    return "index" in call and is_mistrals(call)


def _read_choices(choices: list[Any], into: Assembly) -> None:
    choice = choice_of(choices)
    if choice is None:
        return
    finish = choice.get("finish_reason")
    if isinstance(choice.get("message"), dict):
        _read_message(choice["message"], into, cut=finish in CUT)
    delta = dict_of(choice.get("delta"))
    read_executed_deltas(delta.get("executed_tools"), into)
    if isinstance(delta.get("tool_calls"), list):
        read_deltas(delta["tool_calls"], into)
    elif isinstance(delta.get("function_call"), dict):
        raise Unreadable(_FUNCTION_CALL)
    if finish and into.state is not None:
        end_calls(into, cut=finish in CUT)


def _read_message_or_delta(item: dict[str, Any], into: Assembly) -> None:
    """Take in a message, or the delta of one, which the SDK gives without the chunk around it."""
    calls = item.get("tool_calls")
    if item.get("role") is None and into.state is not None:
        into.state.is_message = False
    if isinstance(calls, list) and is_begun(first_of(calls)):
        into.state = into.state or OpenCalls()
        into.state.is_message = item.get("role") is not None
        read_deltas(calls, into)
    elif isinstance(calls, list) and is_continued(first_of(calls)):
        read_deltas(calls, into)
    else:
        _read_message(item, into)


def _read_message(message: Any, into: Assembly, *, cut: bool = False) -> None:
    if not isinstance(message, dict):
        return
    role = message.get("role")
    if role == "tool":
        result, error = output_of(message.get("content"))
        into.answer(message.get("tool_call_id"), result, error=error, name=message.get("name"))
    elif role is None or role == "assistant":
        read_executed_tools(message.get("executed_tools"), into)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            _read_calls(calls, into, cut=cut)
        elif isinstance(message.get("function_call"), dict):
            raise Unreadable(_FUNCTION_CALL)


def _read_calls(calls: list[Any], into: Assembly, *, cut: bool = False) -> None:
    last = len(calls) - 1 if cut else -1
    for place, item in enumerate(calls):
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("function"), dict):
            function = item["function"]
            arguments = given_arguments(function.get("arguments"), cut=place == last)
            into.call(function.get("name"), arguments, item.get("id"))
        elif isinstance(item.get("custom"), dict):
            custom = item["custom"]
            arguments = given_input(custom.get("input", ""), cut=place == last)
            into.call(custom.get("name"), arguments, item.get("id"), extra=CUSTOM)


def _composed(call: AskedCall) -> dict[str, Any]:
    if call.extra.get("custom"):
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": input_of(call)}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text_of_arguments(call)}}


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
    """One call, and not a definition, which looks much the same."""
    function, custom = dict_of(item.get("function")), dict_of(item.get("custom"))
    if isinstance(function.get("name"), str):
        return "arguments" in function or "id" in item
    return isinstance(custom.get("name"), str) and "input" in custom


def _has_function(item: Any) -> bool:
    return isinstance(item, dict) and (isinstance(item.get("function"), dict) or isinstance(item.get("custom"), dict))
