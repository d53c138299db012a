"""OpenAI's Chat Completions before `tool_calls`: one `function_call` per message, and no ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.schema_adapters import remove_optional_nulls
from pegboard.dialects.shared.function_calls import (
    HeldCalls,
    arguments_to_json,
    define_function,
    dict_or_empty,
    is_model_role,
    parse_output,
    result_to_output_text,
)
from pegboard.dialects.shared.openai_calls import (
    CHAT_LIMITS,
    EXPECTED_CHAT_PAYLOAD,
    TRUNCATED_FINISH_REASONS,
    get_first_choice,
    get_function_call,
    has_chat_content,
    read_function_arguments,
    wrap_choice,
)
from pegboard.model.tool import Tool


class OpenAILegacy(MessagePerAnswer):
    """Messages with one `function_call` and no id, each answered by one with the role `function`."""

    name = "openai_legacy_function_call"
    expected = EXPECTED_CHAT_PAYLOAD
    keys = frozenset({"choices", "index", "function_call", "messages"})
    limits = CHAT_LIMITS
    talk = Talk(has_ids=False, one_call=True)

    def recognises(self, item: Any) -> bool:
        """Recognise a `function_call` or its answer; in a stream also a chunk that fits both OpenAI dialects."""
        if not isinstance(item, dict):
            return False
        item = wrap_choice(item)
        if isinstance(choices := item.get("choices"), list):
            choice = get_first_choice(choices)
            if choice is None:
                return False
            if get_function_call(choice) is not None or choice.get("finish_reason") == "function_call":
                return True
            delta = choice.get("delta")
            return isinstance(delta, dict) and not delta.get("tool_calls") and has_chat_content(choice)
        if isinstance(messages := item.get("messages"), list):
            return any(map(_is_legacy_message, messages))
        return _is_legacy_message(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read one response, chunk, message or history."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        item = wrap_choice(item)
        if isinstance(choices := item.get("choices"), list):
            self._read_choice(get_first_choice(choices) or {}, into)
        elif isinstance(messages := item.get("messages"), list):
            for message in messages:
                self._read_message(message, into)
        elif "role" in item or isinstance(item.get("function_call"), dict):
            self._read_message(item, into)
        elif "error" not in item:
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        into.get_state(HeldCalls).release(into)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without nulls that mean absent."""
        return remove_optional_nulls(arguments, schema)

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """Return an assistant message, or a list unless there is exactly one call: each message has one call."""
        messages = [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": call.name, "arguments": arguments_to_json(call)},
            }
            for call in calls
            if not call.provider_executed
        ]
        return messages[0] if len(messages) == 1 else messages

    def render_one(self, answer: Answer) -> dict[str, Any]:
        return {
            "role": "function",
            "name": answer.call.name or answer.result.tool_name,
            "content": result_to_output_text(answer.result),
        }

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return `{name, description, parameters}` for the list `functions`."""
        return define_function(tool)

    def _read_choice(self, choice: dict[str, Any], into: Assembly) -> None:
        cut = choice.get("finish_reason") in TRUNCATED_FINISH_REASONS
        self._read_message(choice.get("message"), into, cut=cut)
        function = dict_or_empty(dict_or_empty(choice.get("delta")).get("function_call"))
        if isinstance(function.get("arguments"), dict):
            into.snapshot(self.name, function["arguments"], name=function.get("name"))
        elif function:
            into.piece(self.name, function.get("arguments"), name=function.get("name"))
        if cut:
            into.close_incomplete()
        elif choice.get("finish_reason"):
            into.complete_all()

    def _read_message(self, message: Any, into: Assembly, *, cut: bool = False) -> None:
        """Read a message. Calls are held back until the next message: without ids, only that can answer them."""
        if not isinstance(message, dict):
            return
        if message.get("role") == "function":
            result, error = parse_output(message.get("content"))
            into.get_state(HeldCalls).answer(into, message.get("name"), result, error)
            return
        function = message.get("function_call") if is_model_role(message.get("role")) else None
        if isinstance(function, dict):
            into.get_state(HeldCalls).hold(
                function.get("name"), read_function_arguments(function.get("arguments"), cut=cut)
            )
            return
        self.finish(into)
        if message.get("tool_calls"):
            raise Unreadable("unrecognised_format: this message has tool_calls, which is openai_chat")


def _is_legacy_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    if item.get("role") == "function":
        return isinstance(item.get("name"), str) and "content" in item
    function = item.get("function_call")
    return isinstance(function, dict) and isinstance(function.get("name"), str) and "arguments" in function
