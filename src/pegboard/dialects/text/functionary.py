"""Calls as Functionary and Llama's custom tools write them: JSON in a tag that names the function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.text.base import TextDialect, told
from pegboard.dialects.text.parts import closed_arguments, is_name
from pegboard.dialects.text.scanning import Scan, Text

_CALL, _CALL_END = "<function=", "</function>"
_CALLED = re.compile(r"<function=[^<>\s]{1,255}>\s*+{")


class Functionary31(TextDialect):
    """`<function=NAME>{json}</function>`; a call without its end tag is cut off, as that is no special token."""

    name: ClassVar[str] = "text_functionary31"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def recognises(self, item: Any) -> bool:
        """Whether a text has such a tag with an object after it."""
        return isinstance(item, str) and _CALLED.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.calls_begin(text, into)):
            name, mark = yield from text.until(">", _CALL)
            if mark == ">" and is_name(name):
                into.call(name, (yield from closed_arguments(text, _CALL_END, _CALL)))
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, one after the other."""
        return "".join(f"{_CALL}{call.name}>{text_of_arguments(call)}{_CALL_END}" for call in calls)

    def answer(self, answer: Answer) -> str:
        """A turn of the role that Llama gives to tools."""
        return f"<|start_header_id|>ipython<|end_header_id|>\n\n{told(answer)}<|eot_id|>"
