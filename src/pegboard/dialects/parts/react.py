"""Texts of thoughts, actions and observations, which agents without tool calls of their own write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pegboard.dialects.assembly import MAX_ENTRIES
from pegboard.dialects.parts.outputs import shared_results

# Every repetition is bounded or followed by something else, so that a line is read once.
_LABEL = re.compile(
    r"[ \t*]*(?:(Thought)|(Action[ \t]?\d{0,4}[ \t]?Input)|(Action)|(Observation)|(Final Answer))"
    r"[ \t]?\d{0,4}[ \t]?:[ \t*]*"
)
_LABELS = re.compile(f"^{_LABEL.pattern}", re.MULTILINE)
_THOUGHT, _INPUT, _ACTION, _OBSERVATION = 1, 2, 3, 4
_INLINE = "Action Input:"
_OPEN, _CLOSE = "<think>", "</think>"
_FENCE = "```"


class Step(NamedTuple):
    """One action: what stands behind each label, None where the label is missing."""

    action: str
    input: str | None
    thought: str | None
    observation: str | None


class Steps(NamedTuple):
    """The actions of a text in order, and whether it goes on to a final answer."""

    steps: list[Step]
    is_final: bool

    def asked(self) -> list[Step]:
        """The actions that were seen to end, and those to be taken: none of the latter beside a final answer."""
        return [step for step in self.steps if step.observation is not None or not self.is_final]


class _Lines:
    """The lines of one action while they come."""

    __slots__ = ("action", "input", "observation", "thought")

    def __init__(self, action: list[str], thought: list[str] | None) -> None:
        self.action = action
        self.thought = thought
        self.input: list[str] | None = None
        self.observation: list[str] | None = None

    def step(self, observation: str | None) -> Step:
        return Step(_joined(self.action) or "", _joined(self.input), _joined(self.thought), observation)


def steps_of(text: str) -> Steps:
    """The actions of a text. An observation answers every action before it that has none."""
    steps: list[_Lines] = []
    waiting: list[_Lines] = []
    thought: list[str] | None = None
    is_final = False
    for label, body in _labelled(_aloud(text)):
        into = [body]
        if label.lastindex == _THOUGHT:
            thought = into
        elif label.lastindex == _ACTION:
            first, _, more = body.partition("\n")
            action, is_inline, rest = first.partition(_INLINE)
            step = _Lines([action] if is_inline else into, thought)
            if is_inline:
                step.input = [f"{rest}\n{more}"]
            steps.append(step)
            if len(steps) > MAX_ENTRIES:
                break  # more than a payload may hold: its reader refuses them
            waiting.append(step)
            thought = None
        elif label.lastindex == _INPUT:
            if waiting and waiting[-1].input is None:
                waiting[-1].input = into
        elif label.lastindex == _OBSERVATION:
            for step, shared in zip(waiting, shared_results(body, len(waiting)), strict=True):
                step.observation = [shared]
            waiting = []
        else:
            is_final = True
    return Steps([step.step(_joined(step.observation)) for step in steps], is_final)


def is_object(action: str) -> bool:
    """Whether what stands behind `Action:` is JSON, and not a tool's bare name."""
    return unfenced(action).startswith("{")


def unfenced(text: str) -> str:
    """The text without the fence of a code block around it."""
    text = text.strip()
    if not text.startswith(_FENCE):
        return text
    return text.removeprefix(_FENCE).removeprefix("json").removesuffix(_FENCE).strip()


def is_labelled(text: str) -> bool:
    """Whether a line of the text would be taken for a label, or for thinking."""
    return any(_LABEL.match(line) or _OPEN in line or _CLOSE in line for line in text.split("\n"))


def _joined(lines: list[str] | None) -> str | None:
    return None if lines is None else "\n".join(lines).strip()


def _labelled(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each label at the beginning of a line, and the text up to the next one."""
    label: re.Match[str] | None = None
    for following in _LABELS.finditer(text):
        if label is not None:
            yield label, text[label.end() : following.start() - 1]
        label = following
    if label is not None:
        yield label, text[label.end() :]


def _aloud(text: str) -> str:
    """The text without what is between <think> and </think>; the tags count only where a line begins or ends."""
    text = text.replace("\r\n", "\n")
    return "\n".join(_spoken(text)) if _OPEN in text or _CLOSE in text else text


def _spoken(text: str) -> Iterator[str]:
    lines = text.split("\n")
    is_thinking = False
    for line in lines[_first_spoken(lines) :]:
        rest = line.strip()
        if not is_thinking and (rest.startswith(_OPEN) or rest.endswith(_OPEN)):
            is_thinking = True
        if not is_thinking:
            yield line
        elif _CLOSE in rest:
            is_thinking = False
            yield rest.rpartition(_CLOSE)[2]


def _first_spoken(lines: list[str]) -> int:
    """The line after one that ends thinking which never began: a prompt may have begun it for the model."""
    for place, line in enumerate(lines):
        rest = line.strip()
        if rest.startswith(_OPEN) or rest.endswith(_OPEN):
            return 0
        if rest.startswith(_CLOSE) or rest.endswith(_CLOSE):
            lines[place] = rest.rpartition(_CLOSE)[2]
            return place
    return 0
