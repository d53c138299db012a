"""Parse ReAct texts (thoughts, actions and observations), which agents without native tool calls write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pegboard.dialects.call_assembler import MAX_CALLS
from pegboard.dialects.shared.function_calls import split_shared_result

# Every repetition is bounded or followed by a different character, so that matching takes linear time.
_LABEL = re.compile(
    r"[ \t*]*(?:(Thought)|(Action[ \t]?\d{0,4}[ \t]?Input)|(Action)|(Observation)|(Final Answer))"
    r"[ \t]?\d{0,4}[ \t]?:[ \t*]*"
)
_LABEL_LINE = re.compile(f"^{_LABEL.pattern}", re.MULTILINE)
_THOUGHT, _ACTION_INPUT, _ACTION, _OBSERVATION = 1, 2, 3, 4
_INLINE_INPUT_LABEL = "Action Input:"
_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"
_FENCE = "```"


class ReactStep(NamedTuple):
    """One action: the text after each label, or None if the label is missing."""

    action: str
    input: str | None
    thought: str | None
    observation: str | None


class ReactSteps(NamedTuple):
    """The actions of a text in order, and whether it ends with a final answer."""

    steps: list[ReactStep]
    is_final: bool

    def list_actions(self) -> list[ReactStep]:
        """Return the actions with an observation, and those to be run, of which there are none with a final answer."""
        return [step for step in self.steps if step.observation is not None or not self.is_final]


class _StepLines:
    """The lines of one action while it is parsed."""

    __slots__ = ("action", "input", "observation", "thought")

    def __init__(self, action: list[str], thought: list[str] | None) -> None:
        self.action = action
        self.thought = thought
        self.input: list[str] | None = None
        self.observation: list[str] | None = None

    def step(self, observation: str | None) -> ReactStep:
        return ReactStep(
            _join_lines(self.action) or "", _join_lines(self.input), _join_lines(self.thought), observation
        )


def parse_react_steps(text: str) -> ReactSteps:
    """Return the actions of a text; an observation answers every unanswered action before it."""
    steps: list[_StepLines] = []
    waiting: list[_StepLines] = []
    thought: list[str] | None = None
    is_final = False
    for label, body in _iter_labelled_texts(_remove_thoughts(text)):
        into = [body]
        if label.lastindex == _THOUGHT:
            thought = into
        elif label.lastindex == _ACTION:
            first, _, more = body.partition("\n")
            action, is_inline, rest = first.partition(_INLINE_INPUT_LABEL)
            step = _StepLines([action] if is_inline else into, thought)
            if is_inline:
                step.input = [f"{rest}\n{more}"]
            steps.append(step)
            if len(steps) > MAX_CALLS:
                break  # more than a payload may contain: the caller raises
            waiting.append(step)
            thought = None
        elif label.lastindex == _ACTION_INPUT:
            if waiting and waiting[-1].input is None:
                waiting[-1].input = into
        elif label.lastindex == _OBSERVATION:
            for step, shared in zip(waiting, split_shared_result(body, len(waiting)), strict=True):
                step.observation = [shared]
            waiting = []
        else:
            is_final = True
    return ReactSteps([step.step(_join_lines(step.observation)) for step in steps], is_final)


def is_json_action(action: str) -> bool:
    """Return True if the text after `Action:` is JSON, and not a tool's name."""
    return remove_code_fence(action).startswith("{")


def remove_code_fence(text: str) -> str:
    """Return the text without an enclosing code fence."""
    text = text.strip()
    if not text.startswith(_FENCE):
        return text
    return text.removeprefix(_FENCE).removeprefix("json").removesuffix(_FENCE).strip()


def has_label(text: str) -> bool:
    """Return True if a line of the text would be read as a label or as a reasoning tag."""
    return any(_LABEL.match(line) or _THINK_OPEN in line or _THINK_CLOSE in line for line in text.split("\n"))


def _join_lines(lines: list[str] | None) -> str | None:
    return None if lines is None else "\n".join(lines).strip()


def _iter_labelled_texts(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each label at the start of a line, with the text up to the next one."""
    label: re.Match[str] | None = None
    for following in _LABEL_LINE.finditer(text):
        if label is not None:
            yield label, text[label.end() : following.start() - 1]
        label = following
    if label is not None:
        yield label, text[label.end() :]


def _remove_thoughts(text: str) -> str:
    """Return the text without <think> sections; the tags count only at the start or end of a line."""
    text = text.replace("\r\n", "\n")
    return "\n".join(_iter_lines_outside_thoughts(text)) if _THINK_OPEN in text or _THINK_CLOSE in text else text


def _iter_lines_outside_thoughts(text: str) -> Iterator[str]:
    lines = text.split("\n")
    is_thinking = False
    for line in lines[_find_first_line(lines) :]:
        rest = line.strip()
        if not is_thinking and (rest.startswith(_THINK_OPEN) or rest.endswith(_THINK_OPEN)):
            is_thinking = True
        if not is_thinking:
            yield line
        elif _THINK_CLOSE in rest:
            is_thinking = False
            yield rest.rpartition(_THINK_CLOSE)[2]


def _find_first_line(lines: list[str]) -> int:
    """Return the index of the line that ends reasoning which the prompt had opened; 0 if there is none."""
    for place, line in enumerate(lines):
        rest = line.strip()
        if rest.startswith(_THINK_OPEN) or rest.endswith(_THINK_OPEN):
            return 0
        if rest.startswith(_THINK_CLOSE) or rest.endswith(_THINK_CLOSE):
            lines[place] = rest.rpartition(_THINK_CLOSE)[2]
            return place
    return 0
