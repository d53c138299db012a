"""CrewAI: ReAct text (`Action:`, `Action Input:`), native calls as dicts, and its ToolCalling model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk, TextMarks
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    define_function,
    result_to_output_text,
)
from pegboard.dialects.shared.react_text import (
    ReactStep,
    has_label,
    is_json_action,
    parse_react_steps,
    remove_code_fence,
)
from pegboard.model.tool import Tool

_ARGUMENT_KEYS = ("arguments", "input")
_ID_KEYS = ("call_id", "id", "toolUseId")
_TOOL_CALLING_KEYS = frozenset({"tool_name", "arguments"})
_NATIVE_CALL_KEYS = frozenset({*_ARGUMENT_KEYS, *_ID_KEYS, "type", "function", "name", "tool_name", "index"})


class CrewAI(Dialect):
    """A text with a sequence of calls, each followed by its observation."""

    name = "crewai"
    expected = "a text with 'Action:', or a call {id, function: {name, arguments}} or {tool_name, arguments}"
    text_marks = TextMarks(calls=r"(?:\A|\n)Action:")
    limits = PORTABLE_LIMITS
    keys = frozenset({"function", "tool_name", "toolUseId", "call_id", "input"})
    marks = ("Action:", "Action Input:")

    talk = Talk(system="first", has_ids=False)

    def recognises(self, item: Any) -> bool:
        """Recognise a text whose last action has a tool name and an input, or one bare call."""
        if isinstance(item, str):
            steps = parse_react_steps(item).steps
            return bool(steps) and steps[-1].input is not None and not is_json_action(steps[-1].action)
        if not isinstance(item, dict) or not item.keys() <= _NATIVE_CALL_KEYS:
            return False
        if "function" in item:
            return isinstance(item["function"], dict) and isinstance(item["function"].get("name"), str)
        has_arguments = any(key in item for key in _ARGUMENT_KEYS)
        if "type" in item or not has_arguments:
            return False
        if isinstance(item.get("tool_name"), str):
            return item.keys() == _TOOL_CALLING_KEYS
        return isinstance(item.get("name"), str) and ("toolUseId" in item or "call_id" in item or "input" in item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read one native call, or collect a piece of text until `finish`."""
        if isinstance(item, str):
            into.get_state(list[str]).append(item)
            return
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        function = item.get("function")
        function = function if isinstance(function, dict) else {}
        name = function.get("name") or item.get("name") or item.get("tool_name")
        if not isinstance(name, str):
            raise self.make_unreadable_error(item)
        into.bare = True
        arguments = function.get("arguments")
        for key in _ARGUMENT_KEYS:
            arguments = item.get(key) if arguments is None else arguments
        into.call(name, arguments, next((item[key] for key in _ID_KEYS if item.get(key)), None))

    def finish(self, into: Assembly) -> None:
        if into.state:
            text = "".join(into.state)
            into.state = None
            for place, step in enumerate(parse_react_steps(text).list_actions()):
                _read_step(place, step, into)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        return "\n".join(map(_compose_call, calls))

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        return "\n".join(
            f"{_compose_call(answer.call._replace(name=answer.name))}\nObservation: {_render_observation(answer)}"
            for answer in answers
        )

    def compose_exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Return one assistant message that includes the observations."""
        thought = f"Thought: {text}\n" if text else ""
        return self.say("assistant", thought + self.render(answers, many=True), id)

    def own(self, raw: Any) -> list[Any]:
        """Return an empty list: an action is stored in one message with its observation."""
        return []

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return a function definition for a provider with native function calls."""
        return {"type": "function", "function": define_function(tool) | {"strict": False}}


def _read_step(place: int, step: ReactStep, into: Assembly) -> None:
    lines = step.action.split("\n")
    name = lines[0].strip(" \t*`\"'")
    extra = {"thought": step.thought} if step.thought else EMPTY_MAPPING
    if step.input is not None:
        result = ABSENT if step.observation is None else step.observation
        into.call(name, remove_code_fence(step.input), result=result, extra=extra)
    elif step.observation is None and name and not is_json_action(name) and " " not in name and len(lines) == 1:
        # Cut off: a missing input does not mean that the input is empty.
        into.piece((CrewAI, place), "", name=name, extra=extra)


def _compose_call(call: AskedCall) -> str:
    thought = call.extra.get("thought")
    # Escape `<`: equivalent in JSON, and it cannot be mistaken for a reasoning tag.
    arguments = arguments_to_json(call) if call.is_malformed else arguments_to_json(call).replace("<", "\\u003c")
    return (f"Thought: {thought}\n" if thought else "") + f"Action: {call.name}\nAction Input: {arguments}"


def _render_observation(answer: Answer) -> str:
    """Return the result as text, or as single-line JSON if one of its lines could be read as another action."""
    text = result_to_output_text(answer.result)
    return answer.result.output_json.decode() if has_label(text) and answer.result.success else text
