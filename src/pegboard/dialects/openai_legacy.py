"""OpenAI's Chat Completions as they were before `tool_calls`: one `function_call` a message, and no ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import without_nulls
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import function_for
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.held import held_in
from pegboard.dialects.parts.openai_calls import given_arguments
from pegboard.dialects.parts.openai_choices import (
    CUT,
    EXPECTED,
    LIMITS,
    as_response,
    choice_of,
    function_call_of,
    says_something,
)
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, is_models, unreadable
from pegboard.dialects.talk import Talk


class OpenAILegacy(Dialect):
    """Messages with one `function_call` and no ids, answered by one of the role `function`."""

    name = "openai_legacy_function_call"
    keys = frozenset({"choices", "index", "function_call", "messages"})
    limits = LIMITS
    talk = Talk(has_ids=False)

    def recognises(self, item: Any) -> bool:
        """What has a function_call or answers one; in a stream, also a chunk that could be of either kind."""
        if not isinstance(item, dict):
            return False
        item = as_response(item)
        if isinstance(choices := item.get("choices"), list):
            choice = choice_of(choices)
            if choice is None:
                return False
            if function_call_of(choice) is not None or choice.get("finish_reason") == "function_call":
                return True
            delta = choice.get("delta")
            return isinstance(delta, dict) and not delta.get("tool_calls") and says_something(choice)
        if isinstance(messages := item.get("messages"), list):
            return any(map(_is_legacy_message, messages))
        return _is_legacy_message(item)

    def read(self, item: Any, into: Assembly) -> None:
        """One response, chunk, message or history."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, EXPECTED)
        item = as_response(item)
        if isinstance(choices := item.get("choices"), list):
            self._read_choice(choice_of(choices) or {}, into)
        elif isinstance(messages := item.get("messages"), list):
            for message in messages:
                self._read_message(message, into)
        elif "role" in item or isinstance(item.get("function_call"), dict):
            self._read_message(item, into)
        elif "error" not in item:
            raise unreadable(item, self.name, EXPECTED)

    def finish(self, into: Assembly) -> None:
        """Let go of the calls that no answer came for."""
        held_in(into).release(into)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without the nulls that stand for nothing."""
        return without_nulls(arguments, schema)

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """An assistant message, or a list of them where there is not one call: each has room for one."""
        messages = [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": call.name, "arguments": text_of_arguments(call)},
            }
            for call in calls
            if not call.provider_executed
        ]
        return messages[0] if len(messages) == 1 else messages

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A message for each answer."""
        rendered = [
            {
                "role": "function",
                "name": answer.call.name or answer.result.tool_name,
                "content": output_text(answer.result),
            }
            for answer in answers
        ]
        return rendered if many else rendered[0]

    def exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Each call with its answer after it, what is said beside them in the first."""
        told: list[Any] = []
        for answer in answers:
            told += [*self.speak(None if told else text, [answer.call], id), *self.reply([answer])]
        return told

    def define(self, tool: Tool) -> dict[str, Any]:
        """`{name, description, parameters}`, for the list `functions`."""
        return function_for(tool)

    def _read_choice(self, choice: dict[str, Any], into: Assembly) -> None:
        cut = choice.get("finish_reason") in CUT
        self._read_message(choice.get("message"), into, cut=cut)
        function = dict_of(dict_of(choice.get("delta")).get("function_call"))
        if isinstance(function.get("arguments"), dict):
            into.snapshot(self.name, function["arguments"], name=function.get("name"))
        elif function:
            into.piece(self.name, function.get("arguments"), name=function.get("name"))
        if cut:
            into.all_ended()
        elif choice.get("finish_reason"):
            into.all_over()

    def _read_message(self, message: Any, into: Assembly, *, cut: bool = False) -> None:
        """Calls are held back until something else is said: without ids, only what follows can be their answers."""
        if not isinstance(message, dict):
            return
        if message.get("role") == "function":
            result, error = output_of(message.get("content"))
            held_in(into).answer(into, message.get("name"), result, error)
            return
        function = message.get("function_call") if is_models(message.get("role")) else None
        if isinstance(function, dict):
            held_in(into).hold(function.get("name"), given_arguments(function.get("arguments"), cut=cut))
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
