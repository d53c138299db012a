"""Text format of Liquid's models: a list of calls in Python syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.content_blocks import arguments_to_object
from pegboard.dialects.text.base_text import CallKeys, TextDialect, answer_to_text, is_tool_name
from pegboard.dialects.text.literals import read_parenthesised, write_keyword_arguments
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed
from pegboard.model.json_text import json_text

_CALLS, _CALLS_END = "<|tool_call_start|>", "<|tool_call_end|>"
_CALL_KEYS = CallKeys("name", "arguments")


class Lfm25Pythonic(TextDialect):
    """`<|tool_call_start|>[name(key='text', other=[1, True]), …]<|tool_call_end|>`, or JSON objects in that list.

    Each call is complete, even if the list is cut off after it. Strings may contain line breaks. The chat template
    escapes nothing, so a quote within a string ends it, and the rest is malformed.
    """

    name: ClassVar[str] = "text_lfm25_pythonic"
    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)

    def scan(self, text: Text, into: Assembly) -> Scan:
        while (yield from self.find_next_opener(text, into)):
            yield from text.ahead("[")
            while True:
                if (yield from text.ahead("{")):
                    text.back("{")
                    found, is_whole = yield from text.json()
                    _CALL_KEYS.read(found, is_whole, into)
                else:
                    name, mark = yield from text.until("(", "]", _CALLS_END, _CALLS)
                    if mark != "(" or not is_tool_name(name.strip()):
                        text.back("" if mark == "(" else mark)
                        break
                    into.call(name.strip(), (yield from read_parenthesised(text, _CALLS_END)))
                if not (yield from text.ahead(",")):
                    break

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in one list; raise Invalid if a key cannot be a keyword."""
        return _CALLS + "[" + ", ".join(map(_compose_call, calls)) + "]" + _CALLS_END

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return a message for the chat template, as JSON if a call cannot be written in Python syntax."""
        try:
            return super().compose_turn(text, calls, id)
        except Invalid:
            made = [{"name": call.name, "arguments": arguments_to_object(call)} for call in calls]
            written = f"{_CALLS}{json_text(made)}{_CALLS_END}"
            return self.say("assistant", f"{text}\n{written}" if text else written, id)

    def answer(self, answer: Answer) -> str:
        return f"<|im_start|>tool\n{answer_to_text(answer)}<|im_end|>\n"


def _compose_call(call: AskedCall) -> str:
    arguments = call.arguments
    inside = arguments.text if isinstance(arguments, Malformed) else write_keyword_arguments(arguments or {})
    return f"{call.name}({inside})"
