"""Text formats of DeepSeek's models: calls between special tokens, with the name before or after the separator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.message_rules import TextMarks
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import TRUNCATED_MESSAGE, TextDialect, answer_to_text, read_closed_arguments
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.model.call import Malformed

_CALLS, _CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL, _CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
_SEP = "<｜tool▁sep｜>"
_FENCE, _FENCE_END = "```json", "```"
_V31_CALL = re.compile(rf"{_CALL}[^<{{\n]{{1,255}}{_SEP}\s*+{{")
_R1_CALL = re.compile(rf"{_CALL}[^<{{\n]{{1,255}}{_SEP}[^<{{\n]{{1,255}}\n")


class DeepSeekV31(TextDialect):
    """`<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{json}<｜tool▁call▁end｜>`, since V3.1.

    A call without its end mark is cut off: a server that strips special tokens would also strip the start mark.
    """

    name: ClassVar[str] = "text_deepseek_v31"
    text_marks = TextMarks(calls="<｜tool▁calls?▁begin｜>", tokens=r"<｜\w+｜>")
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def recognises(self, item: Any) -> bool:
        """Return True if a text has a call whose arguments directly follow a separator."""
        return isinstance(item, str) and _V31_CALL.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.find_next_opener(text, into)):
            name, mark = yield from text.until(_SEP, _CALL, _CALL_END, _CALLS_END)
            if mark == _SEP:
                arguments = yield from read_closed_arguments(text, _CALL_END, _CALL, _CALLS_END)
                into.call(name.strip(), arguments)
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in order."""
        made = (f"{_CALL}{call.name}{_SEP}{arguments_to_json(call)}{_CALL_END}" for call in calls)
        return f"{_CALLS}{''.join(made)}{_CALLS_END}"

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

    def recognises(self, item: Any) -> bool:
        """Return True if a text has a call whose name is on a line after the separator."""
        return isinstance(item, str) and _R1_CALL.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
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
        """Return the calls, each on separate lines."""
        made = (
            f"{_CALL}function{_SEP}{call.name}\n{_FENCE}\n{arguments_to_json(call)}\n{_FENCE_END}{_CALL_END}"
            for call in calls
        )
        return _CALLS + "\n".join(made) + _CALLS_END

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """Return all outputs between their common marks."""
        return "<｜tool▁outputs▁begin｜>" + "\n".join(map(self.answer, answers)) + "<｜tool▁outputs▁end｜>"

    def answer(self, answer: Answer) -> str:
        """Return one output between its marks."""
        return f"<｜tool▁output▁begin｜>{answer_to_text(answer)}<｜tool▁output▁end｜>"
