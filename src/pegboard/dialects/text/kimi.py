"""Calls as Kimi K2 writes them: the id says the name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.text.base import TextDialect, told
from pegboard.dialects.text.parts import closed_arguments
from pegboard.dialects.text.scanning import Scan, Text

_CALLS, _CALLS_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL, _ARGUMENTS, _CALL_END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
_ID = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?", re.DOTALL)


class KimiK2(TextDialect):
    """`<|tool_call_begin|>functions.NAME:INDEX<|tool_call_argument_begin|>{json}<|tool_call_end|>`.

    A call without its end mark is cut off: a server that leaves special tokens out leaves out those that begin it too.
    """

    name: ClassVar[str] = "text_kimi_k2"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.calls_begin(text, into)):
            identity, mark = yield from text.until(_ARGUMENTS, _CALL, _CALL_END, _CALLS_END)
            if mark == _ARGUMENTS:
                identity = identity.strip()
                arguments = yield from closed_arguments(text, _CALL_END, _CALL, _CALLS_END)
                into.call(_name_in(identity), arguments, identity)
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, each with its own id if that names it, else with one that does, by its place."""
        made = (
            f"{_CALL}{_id_of(call, place)}{_ARGUMENTS}{text_of_arguments(call)}{_CALL_END}"
            for place, call in enumerate(calls)
        )
        return f"{_CALLS}{''.join(made)}{_CALLS_END}"

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """A message of the tool's for each answer, by the id that the text has for its call."""
        told = super().reply(answers)
        ids = [_id_of(answer.call, place) for place, answer in enumerate(answers)]
        return [{**message, "tool_call_id": identity} for message, identity in zip(told, ids, strict=True)]

    def answer(self, answer: Answer) -> str:
        """A turn of the role for tools, headed by the call's id."""
        # The model's own template has a backslash and an n here, no line break.
        return f"<|im_system|>tool<|im_middle|>## Return of {answer.id}\\n{told(answer)}<|im_end|>"


def _name_in(identity: str) -> str:
    found = _ID.fullmatch(identity)
    return found[1] if found else ""


def _id_of(call: AskedCall, place: int) -> str:
    return call.id if call.id and _name_in(call.id) == call.name else f"functions.{call.name}:{place}"
