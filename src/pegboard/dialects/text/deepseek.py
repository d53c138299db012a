"""Calls as DeepSeek's models write them, between special tokens; the name stands before or after one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.core.call import Malformed
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.text.base import TextDialect, told
from pegboard.dialects.text.parts import CUT, closed_arguments
from pegboard.dialects.text.scanning import Scan, Text

_CALLS, _CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL, _CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
_SEP = "<｜tool▁sep｜>"
_FENCE, _FENCE_END = "```json", "```"
_V31 = re.compile(rf"{_CALL}[^<{{\n]{{1,255}}{_SEP}\s*+{{")
_R1 = re.compile(rf"{_CALL}[^<{{\n]{{1,255}}{_SEP}[^<{{\n]{{1,255}}\n")


class DeepSeekV31(TextDialect):
    """`<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{json}<｜tool▁call▁end｜>`, as of V3.1.

    A call without its end mark is cut off: a server that leaves special tokens out leaves out those that begin it too.
    """

    name: ClassVar[str] = "text_deepseek_v31"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def recognises(self, item: Any) -> bool:
        """Whether a text has a call whose arguments come right after a separator."""
        return isinstance(item, str) and _V31.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.calls_begin(text, into)):
            name, mark = yield from text.until(_SEP, _CALL, _CALL_END, _CALLS_END)
            if mark == _SEP:
                arguments = yield from closed_arguments(text, _CALL_END, _CALL, _CALLS_END)
                into.call(name.strip(), arguments)
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, one after the other."""
        made = (f"{_CALL}{call.name}{_SEP}{text_of_arguments(call)}{_CALL_END}" for call in calls)
        return f"{_CALLS}{''.join(made)}{_CALLS_END}"

    def answer(self, answer: Answer) -> str:
        """The output between its marks."""
        return f"<｜tool▁output▁begin｜>{told(answer)}<｜tool▁output▁end｜>"


class DeepSeekR1(TextDialect):
    """`<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME`, and the arguments as a block of JSON, as of V3 and R1.

    A call without its end mark is cut off.
    """

    name: ClassVar[str] = "text_deepseek_r1"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)

    def recognises(self, item: Any) -> bool:
        """Whether a text has a call whose name stands on a line after the separator."""
        return isinstance(item, str) and _R1.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        ends = (_CALL_END, _CALL, _CALLS_END)
        while (yield from self.calls_begin(text, into)):
            _, mark = yield from text.until(_SEP, *ends)
            name = ""
            if mark == _SEP:
                name, mark = yield from text.until("\n", *ends)
            if mark == "\n" and (yield from text.ahead(_FENCE)):
                arguments = yield from closed_arguments(text, _FENCE_END, *ends)
                if isinstance(arguments, str) and not (yield from text.ahead(_CALL_END)):
                    arguments = Malformed(arguments, CUT)
                into.call(name.strip(), arguments)
            elif mark == "\n":
                into.call(name.strip(), Malformed("", f"expected {_FENCE} after the name"))
            else:
                text.back(mark)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, each on lines of its own."""
        made = (
            f"{_CALL}function{_SEP}{call.name}\n{_FENCE}\n{text_of_arguments(call)}\n{_FENCE_END}{_CALL_END}"
            for call in calls
        )
        return _CALLS + "\n".join(made) + _CALLS_END

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """The outputs, between the marks of all of them."""
        return "<｜tool▁outputs▁begin｜>" + "\n".join(map(self.answer, answers)) + "<｜tool▁outputs▁end｜>"

    def answer(self, answer: Answer) -> str:
        """One output between its marks."""
        return f"<｜tool▁output▁begin｜>{told(answer)}<｜tool▁output▁end｜>"
