"""Calls as Liquid's models write them: a list of calls in the manner of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.core.call import Malformed
from pegboard.core.refusals import Invalid
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.blocks import input_of
from pegboard.dialects.text.base import TextDialect, told
from pegboard.dialects.text.literals import parenthesised, written
from pegboard.dialects.text.parts import Keys, is_name
from pegboard.dialects.text.scanning import Scan, Text
from pegboard.store.types import json_text

_CALLS, _CALLS_END = "<|tool_call_start|>", "<|tool_call_end|>"
_KEYS = Keys("name", "arguments")


class Lfm25Pythonic(TextDialect):
    """`<|tool_call_start|>[name(key='text', other=[1, True]), …]<|tool_call_end|>`, or objects of JSON in that list.

    Each call is whole by itself, also where the list is cut off after it. Strings may hold line breaks. The chat
    template escapes nothing, so that a quote within a string ends it: what that leaves is malformed.
    """

    name: ClassVar[str] = "text_lfm25_pythonic"
    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the lists."""
        while (yield from self.calls_begin(text, into)):
            yield from text.ahead("[")
            while True:
                if (yield from text.ahead("{")):
                    text.back("{")
                    found, is_whole = yield from text.json()
                    _KEYS.read(found, is_whole, into)
                else:
                    name, mark = yield from text.until("(", "]", _CALLS_END, _CALLS)
                    if mark != "(" or not is_name(name.strip()):
                        text.back("" if mark == "(" else mark)
                        break
                    into.call(name.strip(), (yield from parenthesised(text, _CALLS_END)))
                if not (yield from text.ahead(",")):
                    break

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls in one list; raises Invalid where a key of theirs cannot be a keyword."""
        return _CALLS + "[" + ", ".join(map(_composed, calls)) + "]" + _CALLS_END

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """A message for the chat template; as JSON where one of the calls cannot be said in the manner of Python."""
        try:
            return super().speak(text, calls, id)
        except Invalid:
            made = [{"name": call.name, "arguments": input_of(call)} for call in calls]
            written = f"{_CALLS}{json_text(made)}{_CALLS_END}"
            return self.say("assistant", f"{text}\n{written}" if text else written, id)

    def answer(self, answer: Answer) -> str:
        """A turn of the tool."""
        return f"<|im_start|>tool\n{told(answer)}<|im_end|>\n"


def _composed(call: AskedCall) -> str:
    arguments = call.arguments
    inside = arguments.text if isinstance(arguments, Malformed) else written(arguments or {})
    return f"{call.name}({inside})"
