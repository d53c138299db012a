"""Text format of Functionary and of Llama's custom tools: JSON in a tag with the function's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import TextDialect, answer_to_text, is_tool_name, read_closed_arguments
from pegboard.dialects.text.scanner import Scan, Text

_CALL, _CALL_END = "<function=", "</function>"
_CALL_PATTERN = re.compile(r"<function=[^<>\s]{1,255}>\s*+{")


class Functionary31(TextDialect):
    """`<function=NAME>{json}</function>`; without its end tag, which is no special token, a call is cut off."""

    name: ClassVar[str] = "text_functionary31"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def recognises(self, item: Any) -> bool:
        """Return True if a text has such a tag followed by an object."""
        return isinstance(item, str) and _CALL_PATTERN.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.find_next_opener(text, into)):
            name, mark = yield from text.until(">", _CALL)
            if mark == ">" and is_tool_name(name):
                into.call(name, (yield from read_closed_arguments(text, _CALL_END, _CALL)))
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in order."""
        return "".join(f"{_CALL}{call.name}>{arguments_to_json(call)}{_CALL_END}" for call in calls)

    def answer(self, answer: Answer) -> str:
        """Return a turn of `ipython`, Llama's role for tools."""
        return f"<|start_header_id|>ipython<|end_header_id|>\n\n{answer_to_text(answer)}<|eot_id|>"
