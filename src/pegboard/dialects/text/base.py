"""What dialects that are written into text have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.blocks import input_of
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import function_for, without_draft
from pegboard.dialects.parts.function_calls import read_function_calls
from pegboard.dialects.parts.picking import is_models
from pegboard.dialects.talk import Talk
from pegboard.dialects.text.quoted import CODE, FENCE, QUOTED, TURNS
from pegboard.dialects.text.scanning import Scan, Text

THINK, THOUGHT = "<think>", "</think>"
NO_THOUGHT = f"{THINK}\n\n{THOUGHT}\n\n"
# What a template itself puts behind a turn.
_ENDS = ("<|im_end|>", "<|end_of_text|>", "[e~[", "<｜end▁of▁sentence｜>")


class TextDialect(Dialect):
    """Calls between marks in a model's text, and answers as the text that its chat template would make of them.

    A subclass says how its text is scanned. What a model thinks or quotes is no call, nor what others say: `scan` goes
    through `calls_begin`, which passes over that.
    """

    is_text = True
    talk: ClassVar[Talk] = Talk(system="first", has_ids=False)
    # Whether its template writes calls itself, and takes none that stand in a text.
    is_templated: ClassVar[bool] = False
    # What begins a call, or a list of them.
    openers: ClassVar[tuple[str, ...]]
    # What a thought is written between.
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType({THINK: THOUGHT})

    def recognises(self, item: Any) -> bool:
        """Whether a text has one of the openers."""
        return isinstance(item, str) and any(opener in item for opener in self.openers)

    def read(self, item: Any, into: Assembly) -> None:
        """Take in a text or a piece of one, or a message whose content is text."""
        if isinstance(item, dict):
            if not is_models(item.get("role")):
                # Somebody else's turn: the calls before it belong to the past.
                into.drop()
                return
            read_function_calls(item.get("tool_calls"), into)
            item = item.get("content") or ("" if item.get("tool_calls") else item.get("content"))
        if not isinstance(item, str):
            raise Unreadable(f"'{self.name}' is text: send a string, or a list of its pieces")
        if into.state is None:
            text = Text()
            into.state = (text, self.scan(text, into))
        text, scan = into.state
        text.add(item)
        next(scan, None)

    def finish(self, into: Assembly) -> None:
        """Read what is left, as the text is over."""
        if into.state is not None:
            text, scan = into.state
            text.close()
            for _ in scan:
                pass

    @abstractmethod
    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the text from front to back, and hand its calls to the assembly."""

    def calls_begin(self, text: Text, into: Assembly) -> Any:
        """Wait for the next opener that the model means, and give it; "" where none comes any more.

        A thought may have begun in the prompt: then only its end is seen, and what came before was thought.
        """
        marks = (*self.openers, *self.thoughts, *self.thoughts.values(), *QUOTED, *TURNS)
        while True:
            before, mark = yield from text.until(*marks)
            if mark in self.openers and before.rpartition("\n")[2].count(CODE) % 2:
                yield from text.until(CODE, "\n\n")
            elif not (yield from self.passed(mark, text, into)):
                return mark

    def passed(self, mark: str, text: Text, into: Assembly) -> Generator[None, None, bool]:
        """Whether this mark begins or ends something that makes no call; if so that is read and forgotten."""
        thought = tuple(self.thoughts.values())
        if mark in self.thoughts:
            yield from text.until(self.thoughts[mark])
        elif mark in thought:
            into.drop()
        elif mark == FENCE:
            _, end = yield from text.until(FENCE, *thought)
            text.back(end if end != FENCE else "")
        elif mark in QUOTED:
            yield from text.until(QUOTED[mark])
        elif mark in TURNS:
            yield from others_turn(text, into, TURNS[mark])
        else:
            return False
        return True

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """The answers, one after the other."""
        return "".join(self.answer(answer) for answer in answers)

    @abstractmethod
    def answer(self, answer: Answer) -> str:
        """The text for one answer."""

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """A message for the model's chat template, the calls as the model writes them."""
        if self.is_templated:
            made = [_function(call) for call in calls]
            return [{"role": "assistant", "content": text or "", "tool_calls": made}]
        written = self.compose(calls).removeprefix(NO_THOUGHT).strip()
        for end in _ENDS:
            written = written.removesuffix(end).rstrip()
        return self.say("assistant", f"{text}\n{written}" if text else written, id)

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """A message of the tool's for each answer."""
        return [
            {"role": "tool", **({"tool_call_id": answer.call.id} if self.talk.has_ids else {})}
            | {"name": answer.name, "content": told(answer)}
            for answer in answers
        ]

    def own(self, raw: Any) -> list[Any]:
        """A text as the content of a message."""
        if not isinstance(raw, str):
            return super().own(raw)
        return [] if self.is_templated else self.say("assistant", raw, "")

    def define(self, tool: Tool) -> Any:
        """What its chat template takes for a tool."""
        function = function_for(tool) | {"parameters": without_draft(tool.input_schema)}
        return {"type": "function", "function": function}


def _function(call: AskedCall) -> dict[str, Any]:
    identity = {"id": call.id} if call.id else {}
    return identity | {"type": "function", "function": {"name": call.name, "arguments": input_of(call)}}


def others_turn(text: Text, into: Assembly, *ends: str) -> Scan:
    """Pass over what somebody else says; once that is whole, the calls before it belong to the past."""
    _, end = yield from text.until(*ends)
    if end:
        into.drop()


def told(answer: Answer) -> str:
    """What the model is told of an answer, in words or as JSON."""
    result = answer.result
    if result.problem is not None:
        return f"Error: {text_of(result)}"
    blocks = blocks_of(result)
    return text_of(result) if blocks is None else "\n".join(described(block) for block in blocks)
