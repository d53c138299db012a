"""CrewAI: ReAct texts (`Action:`, `Action Input:`), native calls as dicts, and its ToolCalling model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import PORTABLE, function_for
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.outputs import output_text
from pegboard.dialects.parts.react import Step, is_labelled, is_object, steps_of, unfenced
from pegboard.dialects.seen import seen
from pegboard.dialects.talk import Talk

_ARGUMENTS = ("arguments", "input")
_IDS = ("call_id", "id", "toolUseId")
_TOOL_CALLING = frozenset({"tool_name", "arguments"})
_NATIVE = frozenset({*_ARGUMENTS, *_IDS, "type", "function", "name", "tool_name", "index"})


class CrewAI(Dialect):
    """A text with one call after the other, each with its observation."""

    name = "crewai"
    limits = PORTABLE
    keys = frozenset({"function", "tool_name", "toolUseId", "call_id", "input"})
    marks = ("Action:", "Action Input:")

    talk = Talk(system="first", has_ids=False)

    def recognises(self, item: Any) -> bool:
        """A text whose last action names a tool and gives it input, or one bare call."""
        if isinstance(item, str):
            steps = steps_of(item).steps
            return bool(steps) and steps[-1].input is not None and not is_object(steps[-1].action)
        if not isinstance(item, dict) or not item.keys() <= _NATIVE:
            return False
        if "function" in item:
            return isinstance(item["function"], dict) and isinstance(item["function"].get("name"), str)
        has_arguments = any(key in item for key in _ARGUMENTS)
        if "type" in item or not has_arguments:
            return False
        if isinstance(item.get("tool_name"), str):
            return item.keys() == _TOOL_CALLING
        return isinstance(item.get("name"), str) and ("toolUseId" in item or "call_id" in item or "input" in item)

    def read(self, item: Any, into: Assembly) -> None:
        """A piece of text, kept until all is there, or one native call."""
        if isinstance(item, str):
            into.state = into.state or []
            into.state.append(item)
            return
        if not isinstance(item, dict):
            raise _unreadable(item)
        function = item.get("function")
        function = function if isinstance(function, dict) else {}
        name = function.get("name") or item.get("name") or item.get("tool_name")
        if not isinstance(name, str):
            raise _unreadable(item)
        into.bare = True
        arguments = function.get("arguments")
        for key in _ARGUMENTS:
            arguments = item.get(key) if arguments is None else arguments
        into.call(name, arguments, next((item[key] for key in _IDS if item.get(key)), None))

    def finish(self, into: Assembly) -> None:
        """The actions of the text."""
        if into.state:
            text = "".join(into.state)
            into.state = None
            for place, step in enumerate(steps_of(text).asked()):
                _read_step(place, step, into)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls as actions, one after the other."""
        return "\n".join(map(_composed, calls))

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """Each action with its observation."""
        return "\n".join(
            f"{_composed(answer.call._replace(name=answer.name))}\nObservation: {_observed(answer)}"
            for answer in answers
        )

    def exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """One message of the assistant's, with what was observed in it."""
        thought = f"Thought: {text}\n" if text else ""
        return self.say("assistant", thought + self.render(answers, many=True), id)

    def own(self, raw: Any) -> list[Any]:
        """Nothing: an action stands in a message together with its observation."""
        return []

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function of a provider that takes functions."""
        return {"type": "function", "function": function_for(tool) | {"strict": False}}


def _read_step(place: int, step: Step, into: Assembly) -> None:
    lines = step.action.split("\n")
    name = lines[0].strip(" \t*`\"'")
    extra = {"thought": step.thought} if step.thought else NOTHING
    if step.input is not None:
        result = ABSENT if step.observation is None else step.observation
        into.call(name, unfenced(step.input), result=result, extra=extra)
    elif step.observation is None and name and not is_object(name) and " " not in name and len(lines) == 1:
        # It was cut off: nothing says that its input is empty.
        into.piece((CrewAI, place), "", name=name, extra=extra)


def _composed(call: AskedCall) -> str:
    thought = call.extra.get("thought")
    # In JSON it means the same, and nobody takes it for the tag of a thought.
    arguments = text_of_arguments(call) if call.is_malformed else text_of_arguments(call).replace("<", "\\u003c")
    return (f"Thought: {thought}\n" if thought else "") + f"Action: {call.name}\nAction Input: {arguments}"


def _observed(answer: Answer) -> str:
    """The outcome; as JSON, which has no lines, where one of its lines could be taken for another action."""
    text = output_text(answer.result)
    return answer.result.output_json.decode() if is_labelled(text) and answer.result.success else text


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; crewai is a text with 'Action:' and 'Action Input:', or a call "
        '{"id": …, "function": {"name": …, "arguments": …}} or {"tool_name": …, "arguments": {…}}'
    )
