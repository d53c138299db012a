"""Text format of Kimi K2, in which the id contains the tool's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.message_rules import TextMarks
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import TextDialect, answer_to_text, read_closed_arguments
from pegboard.dialects.text.scanner import Scan, Text

_CALLS, _CALLS_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL, _ARGUMENTS, _CALL_END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
_ID_PATTERN = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?", re.DOTALL)


class KimiK2(TextDialect):
    """`<|tool_call_begin|>functions.NAME:INDEX<|tool_call_argument_begin|>{json}<|tool_call_end|>`.

    A call without its end mark is cut off: a server that strips special tokens would also strip the start mark.
    """

    name: ClassVar[str] = "text_kimi_k2"
    text_marks = TextMarks(calls=r"<\|tool_calls?")
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.find_next_opener(text, into)):
            identity, mark = yield from text.until(_ARGUMENTS, _CALL, _CALL_END, _CALLS_END)
            if mark == _ARGUMENTS:
                identity = identity.strip()
                arguments = yield from read_closed_arguments(text, _CALL_END, _CALL, _CALLS_END)
                into.call(_parse_name(identity), arguments, identity)
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls, each with its own id if that contains the name, else with one built from name and index."""
        made = (
            f"{_CALL}{_get_call_id(call, place)}{_ARGUMENTS}{arguments_to_json(call)}{_CALL_END}"
            for place, call in enumerate(calls)
        )
        return f"{_CALLS}{''.join(made)}{_CALLS_END}"

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """Return one tool message per answer, with the id that the text has for its call."""
        told = super().reply(answers)
        ids = [_get_call_id(answer.call, place) for place, answer in enumerate(answers)]
        return [{**message, "tool_call_id": identity} for message, identity in zip(told, ids, strict=True)]

    def answer(self, answer: Answer) -> str:
        """Return a turn of the tool role, headed by the call's id."""
        # The model's own template has a backslash and an n here, not a line break.
        return f"<|im_system|>tool<|im_middle|>## Return of {answer.id}\\n{answer_to_text(answer)}<|im_end|>"


def _parse_name(identity: str) -> str:
    found = _ID_PATTERN.fullmatch(identity)
    return found[1] if found else ""


def _get_call_id(call: AskedCall, place: int) -> str:
    return call.id if call.id and _parse_name(call.id) == call.name else f"functions.{call.name}:{place}"
