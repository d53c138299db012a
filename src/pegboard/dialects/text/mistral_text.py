"""Text formats of Mistral's models after `[TOOL_CALLS]`: a JSON array, or names and arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import orjson

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.shared.content_blocks import get_content_blocks
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import (
    THINK_CLOSE,
    THINK_OPEN,
    TRUNCATED_MESSAGE,
    CallKeys,
    TextDialect,
    answer_to_text,
    is_tool_name,
    read_call_objects,
)
from pegboard.dialects.text.literals import to_json_string
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.model.call import Malformed

_CALLS, _CALL_ID, _ARGUMENTS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
_TALK = Talk(system="first", ids=re.compile(r"[a-zA-Z0-9]{9}"))
_THOUGHT_MARKS = MappingProxyType({THINK_OPEN: THINK_CLOSE, "[THINK]": "[/THINK]"})
_CALL_KEYS = CallKeys("name", "arguments")


class _MistralText(TextDialect):
    """The marks that both formats have."""

    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)
    thoughts: ClassVar[Mapping[str, str]] = _THOUGHT_MARKS
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = _TALK


class MistralNemo(_MistralText):
    """`[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}, …]`: Nemo and Small 3.

    Each object is a complete call, even if the array is cut off after it.
    """

    name: ClassVar[str] = "text_mistral_nemo"
    shape = re.compile(r"\[TOOL_CALLS\]\s*+[\[{]")

    def scan(self, text: Text, into: Assembly) -> Scan:
        while (yield from self.find_next_opener(text, into)):
            yield from read_call_objects(text, into, _CALL_KEYS)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in one array, with their ids if they have any."""
        return _CALLS + "[" + ", ".join(map(_compose_call, calls)) + "]"

    def answer(self, answer: Answer) -> str:
        """Return the output as JSON with the id of its call."""
        is_data = answer.result.problem is None and get_content_blocks(answer.result) is None
        content = answer.result.output_json if is_data else orjson.dumps(answer_to_text(answer))
        return f'[TOOL_RESULTS]{{"content": {content.decode()}, "call_id": {to_json_string(answer.id)}}}[/TOOL_RESULTS]'


class MistralSmall32(_MistralText):
    """`[TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{json}`, since Small 3.2; later models omit the id.

    There is no end mark: a call is complete if its JSON is. `[ARGS]` is a special token that some servers strip.
    """

    name: ClassVar[str] = "text_mistral_small32"
    shape = re.compile(r"\[TOOL_CALLS\]\s*+[^\s\[\]{}]{1,255}\s*+(?:\[CALL_ID\]|\[ARGS\]|\{)")

    def scan(self, text: Text, into: Assembly) -> Scan:
        while (yield from self.find_next_opener(text, into)):
            name, mark = yield from text.until(_CALL_ID, _ARGUMENTS, "{", _CALLS)
            identity = ""
            if mark == _CALL_ID:
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
            if is_tool_name(name.strip()):
                into.call(name.strip(), found if is_whole else Malformed(found, TRUNCATED_MESSAGE), identity.strip())

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in order, with their ids if they have any."""
        return "".join(
            f"{_CALLS}{call.name}{_CALL_ID + call.id if call.id else ''}{_ARGUMENTS}{arguments_to_json(call)}"
            for call in calls
        )

    def answer(self, answer: Answer) -> str:
        return f"[TOOL_RESULTS]{answer.id}[TOOL_CONTENT]{answer_to_text(answer)}[/TOOL_RESULTS]"


def _compose_call(call: AskedCall) -> str:
    identity = f', "id": {to_json_string(call.id)}' if call.id else ""
    return f'{{"name": {to_json_string(call.name)}, "arguments": {arguments_to_json(call)}{identity}}}'
