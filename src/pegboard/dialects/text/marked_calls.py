"""Text formats with the name and the JSON of a call between marks: Kimi K2, Functionary 3.1, DeepSeek V3 and R1.

A call without its end mark is cut off: a server that strips special tokens would also strip the start mark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import TextMarks
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import (
    TRUNCATED_MESSAGE,
    TextDialect,
    answer_to_text,
    is_tool_name,
    read_closed_arguments,
)
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.model.call import Malformed


class MarkedCalls(TextDialect):
    """Calls as a head and JSON arguments, between a mark before, between and after them."""

    # The marks before a call, between its head and its arguments, and after it.
    call: ClassVar[tuple[str, str, str]]
    # The marks around all calls.
    block: ClassVar[tuple[str, str]] = ("", "")

    def read_head(self, head: str) -> tuple[str, str] | None:
        """Return the name and the id from the text before the arguments, or None if it is prose."""
        return head.strip(), ""

    def write_head(self, call: AskedCall, place: int) -> str:
        """Return the text before the arguments of a call."""
        return call.name

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        begin, separator, end = self.call
        others = (begin, self.block[1]) if self.block[1] else (begin,)
        while (yield from self.find_next_opener(text, into)):
            head, mark = yield from text.until(separator, end, *others)
            read = self.read_head(head) if mark == separator else None
            if read is None:
                text.back(mark)
            else:
                into.call(read[0], (yield from read_closed_arguments(text, end, *others)), read[1])

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in order."""
        begin, separator, end = self.call
        made = (
            f"{begin}{self.write_head(call, place)}{separator}{arguments_to_json(call)}{end}"
            for place, call in enumerate(calls)
        )
        return f"{self.block[0]}{''.join(made)}{self.block[1]}"


class Functionary31(MarkedCalls):
    """`<function=NAME>{json}</function>`; without its end tag, which is no special token, a call is cut off."""

    name: ClassVar[str] = "text_functionary31"
    marks: ClassVar[tuple[str, ...]] = ("<function=",)
    openers: ClassVar[tuple[str, ...]] = ("<function=",)
    call = ("<function=", ">", "</function>")
    shape = re.compile(r"<function=[^<>\s]{1,255}>\s*+{")

    def read_head(self, head: str) -> tuple[str, str] | None:
        """Return the name; text that cannot be one is prose."""
        return (head, "") if is_tool_name(head) else None

    def answer(self, answer: Answer) -> str:
        """Return a turn of `ipython`, Llama's role for tools."""
        return f"<|start_header_id|>ipython<|end_header_id|>\n\n{answer_to_text(answer)}<|eot_id|>"


_KIMI_CALL = "<|tool_call_begin|>"
_KIMI_ID = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?", re.DOTALL)


class KimiK2(MarkedCalls):
    """`<|tool_call_begin|>functions.NAME:INDEX<|tool_call_argument_begin|>{json}<|tool_call_end|>`."""

    name: ClassVar[str] = "text_kimi_k2"
    text_marks = TextMarks(calls=r"<\|tool_calls?")
    marks: ClassVar[tuple[str, ...]] = (_KIMI_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_KIMI_CALL,)
    call = (_KIMI_CALL, "<|tool_call_argument_begin|>", "<|tool_call_end|>")
    block = ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")

    def read_head(self, head: str) -> tuple[str, str] | None:
        """Return the name in the id, and the id."""
        return _parse_name(head.strip()), head.strip()

    def write_head(self, call: AskedCall, place: int) -> str:
        """Return the call's own id if that contains the name, else one built from name and index."""
        return call.id if call.id and _parse_name(call.id) == call.name else f"functions.{call.name}:{place}"

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """Return one tool message per answer, with the id that the text has for its call."""
        messages = super().reply(answers)
        ids = [self.write_head(answer.call, place) for place, answer in enumerate(answers)]
        return [{**message, "tool_call_id": identity} for message, identity in zip(messages, ids, strict=True)]

    def answer(self, answer: Answer) -> str:
        """Return a turn of the tool role, headed by the call's id."""
        # The model's own template has a backslash and an n here, not a line break.
        return f"<|im_system|>tool<|im_middle|>## Return of {answer.id}\\n{answer_to_text(answer)}<|im_end|>"


def _parse_name(identity: str) -> str:
    found = _KIMI_ID.fullmatch(identity)
    return found[1] if found else ""


_CALLS, _CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL, _CALL_END, _SEP = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
_FENCE, _FENCE_END = "```json", "```"


class DeepSeekV31(MarkedCalls):
    """`<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{json}<｜tool▁call▁end｜>`, since V3.1.

    A call without its end mark is cut off: a server that strips special tokens would also strip the start mark.
    """

    name: ClassVar[str] = "text_deepseek_v31"
    text_marks = TextMarks(calls="<｜tool▁calls?▁begin｜>", tokens=r"<｜\w+｜>")
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)
    call = (_CALL, _SEP, _CALL_END)
    block = (_CALLS, _CALLS_END)
    shape = re.compile(rf"{_CALL}[^<{{\n]{{1,255}}{_SEP}\s*+{{")

    def answer(self, answer: Answer) -> str:
        """Return the output between its marks."""
        return f"<｜tool▁output▁begin｜>{answer_to_text(answer)}<｜tool▁output▁end｜>"


class DeepSeekR1(TextDialect):
    """`<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME`, with the arguments as a JSON code block: V3 and R1.

    A call without its end mark is cut off.
    """

    name: ClassVar[str] = "text_deepseek_r1"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)
    # The name is on a line after the separator.
    shape = re.compile(rf"{_CALL}[^<{{\n]{{1,255}}{_SEP}[^<{{\n]{{1,255}}\n")

    def scan(self, text: Text, into: Assembly) -> Scan:
        ends = (_CALL_END, _CALL, _CALLS_END)
        while (yield from self.find_next_opener(text, into)):
            _, mark = yield from text.until(_SEP, *ends)
            name = ""
            if mark == _SEP:
                name, mark = yield from text.until("\n", *ends)
            if mark == "\n" and (yield from text.ahead(_FENCE)):
                arguments = yield from read_closed_arguments(text, _FENCE_END, *ends)
                if isinstance(arguments, str) and not (yield from text.ahead(_CALL_END)):
                    arguments = Malformed(arguments, TRUNCATED_MESSAGE)
                into.call(name.strip(), arguments)
            elif mark == "\n":
                into.call(name.strip(), Malformed("", f"expected {_FENCE} after the name"))
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        made = (
            f"{_CALL}function{_SEP}{call.name}\n{_FENCE}\n{arguments_to_json(call)}\n{_FENCE_END}{_CALL_END}"
            for call in calls
        )
        return _CALLS + "\n".join(made) + _CALLS_END

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        return "<｜tool▁outputs▁begin｜>" + "\n".join(map(self.answer, answers)) + "<｜tool▁outputs▁end｜>"

    def answer(self, answer: Answer) -> str:
        return f"<｜tool▁output▁begin｜>{answer_to_text(answer)}<｜tool▁output▁end｜>"
