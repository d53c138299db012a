"""Calls as Mistral's models write them after `[TOOL_CALLS]`: a JSON array at first, names and arguments later."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import orjson

from pegboard.core.call import Malformed
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.content import blocks_of
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.talk import Talk
from pegboard.dialects.text.base import THINK, THOUGHT, TextDialect, told
from pegboard.dialects.text.parts import CUT, Keys, is_name, read_objects
from pegboard.dialects.text.scanning import Scan, Text

_CALLS, _ID, _ARGUMENTS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
_TALK = Talk(system="first", ids=re.compile(r"[a-zA-Z0-9]{9}"))
_THOUGHTS = MappingProxyType({THINK: THOUGHT, "[THINK]": "[/THINK]"})
_LIST = re.compile(r"\[TOOL_CALLS\]\s*+[\[{]")
_NAMED = re.compile(r"\[TOOL_CALLS\]\s*+[^\s\[\]{}]{1,255}\s*+(?:\[CALL_ID\]|\[ARGS\]|\{)")
_KEYS = Keys("name", "arguments")


class MistralNemo(TextDialect):
    """`[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}, …]`, as of Nemo and Small 3.

    Each object is a whole call by itself, also where the array is cut off after it.
    """

    name: ClassVar[str] = "text_mistral_nemo"
    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)
    thoughts: ClassVar[Mapping[str, str]] = _THOUGHTS
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = _TALK

    def recognises(self, item: Any) -> bool:
        """Whether a text has the mark with JSON after it."""
        return isinstance(item, str) and _LIST.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the arrays."""
        while (yield from self.calls_begin(text, into)):
            yield from read_objects(text, into, _KEYS)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls in one array, with their ids where they have some."""
        return _CALLS + "[" + ", ".join(map(_composed, calls)) + "]"

    def answer(self, answer: Answer) -> str:
        """The output as JSON and the id of its call."""
        is_data = answer.result.problem is None and blocks_of(answer.result) is None
        content = answer.result.output_json if is_data else orjson.dumps(told(answer))
        return f'[TOOL_RESULTS]{{"content": {content.decode()}, "call_id": {_json(answer.id)}}}[/TOOL_RESULTS]'


class MistralSmall32(TextDialect):
    """`[TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{json}`, as of Small 3.2; the id is left out by later models.

    There is no end mark: the call is whole when its JSON is. `[ARGS]` is a special token that some servers leave out.
    """

    name: ClassVar[str] = "text_mistral_small32"
    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)
    thoughts: ClassVar[Mapping[str, str]] = _THOUGHTS
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = _TALK

    def recognises(self, item: Any) -> bool:
        """Whether a text has the mark with a name after it."""
        return isinstance(item, str) and _NAMED.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.calls_begin(text, into)):
            name, mark = yield from text.until(_ID, _ARGUMENTS, "{", _CALLS)
            identity = ""
            if mark == _ID:
                identity, mark = yield from text.until(_ARGUMENTS, "{", _CALLS)
            elif mark in ("", _CALLS):
                text.back(mark)
                continue
            if mark == "{" or (mark == _ARGUMENTS and (yield from text.ahead("{"))):
                text.back("{")
                found, is_whole = yield from text.json()
            else:
                text.back(mark if mark == _CALLS else "")
                found, is_whole = "", False
            if is_name(name.strip()):
                into.call(name.strip(), found if is_whole else Malformed(found, CUT), identity.strip())

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, one after the other, with their ids where they have some."""
        return "".join(
            f"{_CALLS}{call.name}{_ID + call.id if call.id else ''}{_ARGUMENTS}{text_of_arguments(call)}"
            for call in calls
        )

    def answer(self, answer: Answer) -> str:
        """The id of the call and the output."""
        return f"[TOOL_RESULTS]{answer.id}[TOOL_CONTENT]{told(answer)}[/TOOL_RESULTS]"


def _composed(call: AskedCall) -> str:
    identity = f', "id": {_json(call.id)}' if call.id else ""
    return f'{{"name": {_json(call.name)}, "arguments": {text_of_arguments(call)}{identity}}}'


def _json(text: str) -> str:
    return orjson.dumps(text).decode()
