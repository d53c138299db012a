"""Text format of Hermes and models that adopted it: JSON between <tool_call> and </tool_call>."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import TextMarks
from pegboard.dialects.text.base_text import EMPTY_THOUGHT, THINK_CLOSE, THINK_OPEN, TurnDialect, to_template_json
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call import Malformed
from pegboard.model.call_errors import MalformedArguments

CALL_OPEN, CALL_CLOSE = "<tool_call>", "</tool_call>"
# The start of a call that is incomplete or cannot be parsed: its name, and its arguments so far.
_CALL_BEGINNING = re.compile(
    r'(?:\[\s*)?\{\s*"name"\s*:\s*"(?P<name>[^"\\]++)"\s*(?:,\s*"(?:arguments|parameters)"\s*:\s*(?P<given>.*))?',
    re.DOTALL,
)
# The keys that a call without arguments may have.
_KEYS_WITHOUT_ARGUMENTS = frozenset({"name", "id", "type"})


class Hermes(TurnDialect):
    """`<tool_call>{"name": …, "arguments": {…}}</tool_call>`, one per call.

    A call counts only with its closing tag. An object that is never closed includes all following text: a call in it
    may be part of a string, and is not run.
    """

    name = "text_hermes"
    text_marks = TextMarks(calls=r"<tool_call>|<\|im_end\|>")
    marks = (CALL_OPEN,)
    openers = (CALL_OPEN,)
    shape = re.compile(r"<tool_call>\s*(?:\[\s*)?\{")
    turn = ("<|im_start|>tool", "<|im_end|>")
    # Marks of which a text of this variant has at least one, the text before its calls, and its last token.
    required_marks: ClassVar[tuple[str, ...]] = ()
    preface: ClassVar[str] = ""
    stop: ClassVar[str] = "<|im_end|>\n"

    def recognises(self, item: Any) -> bool:
        """Return True if a text has such a call, and one of the marks of this variant if it has any."""
        if self.required_marks and not (isinstance(item, str) and any(sign in item for sign in self.required_marks)):
            return False
        return super().recognises(item)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read an object after each opener; an opener without an object is plain text."""
        while (yield from self.find_next_opener(text, into)):
            written, is_whole = yield from text.json()
            if not written:
                continue
            if is_whole and (yield from text.ahead(CALL_CLOSE)):
                _read_calls(written, into)
            elif beginning := _CALL_BEGINNING.match(written):
                why = f"the call is incomplete: {CALL_CLOSE} is missing"
                into.add_malformed(beginning["name"], beginning["given"] or "", why)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the text with which the model makes these calls."""
        written = (f"{CALL_OPEN}\n{to_template_json(_compose_object(call))}\n{CALL_CLOSE}" for call in calls)
        return self.preface + "\n".join(written) + self.stop


class Qwen25(Hermes):
    """Hermes with answers in a user turn; its calls cannot be distinguished from Hermes'."""

    name = "text_qwen25"
    required_marks: ClassVar[tuple[str, ...]] = ("<|im_start|>user\n<tool_response>",)
    turn = ("<|im_start|>user", "<|im_end|>\n")


class Qwen3(Qwen25):
    """Qwen 2.5's format after a reasoning section."""

    name = "text_qwen3"
    required_marks = (THINK_OPEN, THINK_CLOSE)
    preface = EMPTY_THOUGHT


class Granite4(Hermes):
    """Hermes with Granite's own role marks."""

    name = "text_granite4"
    required_marks = ("<|end_of_text|>", "<|start_of_role|>")
    turn = ("<|start_of_role|>user<|end_of_role|>", "<|end_of_text|>\n")
    stop = "<|end_of_text|>\n"


def _read_calls(written: str, into: Assembly) -> None:
    """Add the call, or the calls of a list."""
    try:
        value = parse_json_text(written)
    except MalformedArguments as error:
        beginning = _CALL_BEGINNING.match(written)
        into.add_malformed(beginning["name"] if beginning else "", written, error.message)
        return
    for call in value if isinstance(value, list) else [value]:
        _read_call(call, into)


def _read_call(call: Any, into: Assembly) -> None:
    """Add one object; a malformed call keeps only its own text, not that of the whole list."""
    name = call.get("name") if isinstance(call, dict) else None
    if not isinstance(name, str) or not name:
        why = "a call is an object with 'name' and 'arguments'; this object has no name"
        into.add_malformed("", to_template_json(call), why)
    elif "arguments" in call or "parameters" in call or call.keys() <= _KEYS_WITHOUT_ARGUMENTS:
        into.call(name, call.get("arguments", call.get("parameters")), call.get("id"))
    else:
        into.add_malformed(name, to_template_json(call), "the call has no 'arguments'; send {} if there are none")


def _compose_object(call: AskedCall) -> dict[str, Any]:
    arguments = call.arguments
    return {"name": call.name, "arguments": arguments.text if isinstance(arguments, Malformed) else arguments}
