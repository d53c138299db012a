"""Text format of Kimi K3: elements between special tokens, one typed element per argument."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Talk, TextMarks
from pegboard.dialects.text.base_text import THINK_CLOSE, THINK_OPEN, TextDialect, answer_to_text, is_tool_name
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.dialects.text.tagged_calls import TaggedCallDraft, write_tag_value
from pegboard.model.call import Malformed

_OPEN, _CLOSE, _SEP = "<|open|>", "<|close|>", "<|sep|>"
_CALL, _CALL_END = f"{_OPEN}call ", f"{_CLOSE}call{_SEP}"
_ARGUMENT, _ARGUMENT_END = f"{_OPEN}argument ", f"{_CLOSE}argument{_SEP}"
_END = f"{_CLOSE}message{_SEP}<|end_of_msg|>"
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*+)"')


class KimiK3(TextDialect):
    """`<|open|>call tool="NAME" index="1"<|sep|>`, and an element with key and type for each argument.

    A call counts only with its closing element.
    """

    name: ClassVar[str] = "text_kimi_k3"
    text_marks = TextMarks(
        calls=r"<\|open\|>tools", answer=r"<\|open\|>response<\|sep\|>(.*?)(?:<\|(?:close|open)\|>|\Z)"
    )
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType(
        {THINK_OPEN: THINK_CLOSE, f"{_OPEN}think{_SEP}": f"{_CLOSE}think{_SEP}"}
    )
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = Talk(system="first")

    def scan(self, text: Text, into: Assembly) -> Scan:
        while (yield from self.find_next_opener(text, into)):
            head, mark = yield from text.until(_SEP, _CALL)
            name = _parse_attributes(head).get("tool", "")
            if mark != _SEP or not is_tool_name(name):
                text.back(mark if mark == _CALL else "")
                continue
            draft = TaggedCallDraft(name, into)
            space, mark = yield from text.then(_ARGUMENT, _CALL_END)
            draft.record_raw(space, mark)
            while mark == _ARGUMENT:
                head, separator = yield from text.until(_SEP)
                value, end = yield from text.until(_ARGUMENT_END, _CALL_END)
                draft.record_raw(head, separator, value, end)
                if end != _ARGUMENT_END:
                    mark = ""
                    break
                attributes = _parse_attributes(head)
                draft.set(attributes.get("key", ""), value, attributes.get("type") == "string")
                space, mark = yield from text.then(_ARGUMENT, _CALL_END)
                draft.record_raw(space, mark)
            draft.over(missing="" if mark else _CALL_END)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in one element, numbered from 1."""
        written = "".join(_compose_call(call, place) for place, call in enumerate(calls, 1))
        return f"{_OPEN}tools{_SEP}{written}{_CLOSE}tools{_SEP}{_END}"

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """Return one turn per answer, numbered like its call."""
        return "".join(_render_answer(answer, place) for place, answer in enumerate(answers, 1))

    def answer(self, answer: Answer) -> str:
        return _render_answer(answer, 1)


def _parse_attributes(head: str) -> dict[str, str]:
    return dict(_ATTRIBUTE.findall(head))


def _compose_call(call: AskedCall, place: int) -> str:
    head = f'{_CALL}tool="{call.name}" index="{place}"{_SEP}'
    if isinstance(call.arguments, Malformed):
        return head + call.arguments.text
    arguments = (call.arguments or {}).items()
    written = "".join(
        f'{_ARGUMENT}key="{key}" type="{_get_json_type(value)}"{_SEP}{write_tag_value(value)}{_ARGUMENT_END}'
        for key, value in arguments
    )
    return head + written + _CALL_END


def _get_json_type(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"


def _render_answer(answer: Answer, place: int) -> str:
    return f'{_OPEN}message role="tool" tool="{answer.name}" index="{place}"{_SEP}{answer_to_text(answer)}{_END}'
