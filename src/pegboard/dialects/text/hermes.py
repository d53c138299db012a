"""Calls as JSON between <tool_call> and </tool_call>: Hermes, and the models that learned it from there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.core.call import Malformed
from pegboard.core.errors import MalformedArguments
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.reading import json_of
from pegboard.dialects.text.base import NO_THOUGHT, THINK, THOUGHT
from pegboard.dialects.text.scanning import Scan, Text
from pegboard.dialects.text.turn import TurnDialect, json_text

OPEN, CLOSE = "<tool_call>", "</tool_call>"
# The beginning of a call whose end is missing or cannot be read: its name, and what there is of its arguments.
_BEGINNING = re.compile(
    r'(?:\[\s*)?\{\s*"name"\s*:\s*"(?P<name>[^"\\]++)"\s*(?:,\s*"(?:arguments|parameters)"\s*:\s*(?P<given>.*))?',
    re.DOTALL,
)
# What a call may have beside its name although it has no arguments.
_NO_ARGUMENTS = frozenset({"name", "id", "type"})


class Hermes(TurnDialect):
    """`<tool_call>{"name": …, "arguments": {…}}</tool_call>`, once a call.

    A call counts once its closing tag is there. An object that is never closed takes in all that follows: what stands
    there may be part of a string, and is not run.
    """

    name = "text_hermes"
    marks = (OPEN,)
    openers = (OPEN,)
    shape = re.compile(r"<tool_call>\s*(?:\[\s*)?\{")
    turn = ("<|im_start|>tool", "<|im_end|>")
    # Texts one of which is there if it is this relative, what it writes before its calls, and its last token.
    signs: ClassVar[tuple[str, ...]] = ()
    preface: ClassVar[str] = ""
    stop: ClassVar[str] = "<|im_end|>\n"

    def recognises(self, item: Any) -> bool:
        """Whether a text has such a call, and a sign of this relative if it has any."""
        if self.signs and not (isinstance(item, str) and any(sign in item for sign in self.signs)):
            return False
        return super().recognises(item)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Take an object after each opener; any other opener is just talk."""
        while (yield from self.calls_begin(text, into)):
            written, is_whole = yield from text.json()
            if not written:
                continue
            if is_whole and (yield from text.ahead(CLOSE)):
                _read(written, into)
            elif beginning := _BEGINNING.match(written):
                why = f"the call is not whole: there is no {CLOSE} after it"
                into.malformed(beginning["name"], beginning["given"] or "", why)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """What the model writes to make these calls."""
        written = (f"{OPEN}\n{json_text(_object(call))}\n{CLOSE}" for call in calls)
        return self.preface + "\n".join(written) + self.stop


class Qwen25(Hermes):
    """Hermes with the answers in a user's turn; nothing tells its calls from Hermes' own."""

    name = "text_qwen25"
    signs: ClassVar[tuple[str, ...]] = ("<|im_start|>user\n<tool_response>",)
    turn = ("<|im_start|>user", "<|im_end|>\n")


class Qwen3(Qwen25):
    """Qwen 2.5's text after a thought."""

    name = "text_qwen3"
    signs = (THINK, THOUGHT)
    preface = NO_THOUGHT


class Granite4(Hermes):
    """Hermes between Granite's own marks of roles."""

    name = "text_granite4"
    signs = ("<|end_of_text|>", "<|start_of_role|>")
    turn = ("<|start_of_role|>user<|end_of_role|>", "<|end_of_text|>\n")
    stop = "<|end_of_text|>\n"


def _read(written: str, into: Assembly) -> None:
    """Hand over the call, or the calls of a list."""
    try:
        value = json_of(written)
    except MalformedArguments as error:
        beginning = _BEGINNING.match(written)
        into.malformed(beginning["name"] if beginning else "", written, error.message)
        return
    for call in value if isinstance(value, list) else [value]:
        _read_object(call, into)


def _read_object(call: Any, into: Assembly) -> None:
    """Hand over one object; a malformed call keeps its own text, never that of the list around it."""
    name = call.get("name") if isinstance(call, dict) else None
    if not isinstance(name, str) or not name:
        why = "a call is an object with 'name' and 'arguments', and this has no name"
        into.malformed("", json_text(call), why)
    elif "arguments" in call or "parameters" in call or call.keys() <= _NO_ARGUMENTS:
        into.call(name, call.get("arguments", call.get("parameters")), call.get("id"))
    else:
        into.malformed(name, json_text(call), "the call has no 'arguments'; send {} if there are none")


def _object(call: AskedCall) -> dict[str, Any]:
    arguments = call.arguments
    return {"name": call.name, "arguments": arguments.text if isinstance(arguments, Malformed) else arguments}
