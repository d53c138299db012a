"""Text formats of Llama 3: bare JSON, or Python syntax for the tools it was trained on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import orjson

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import TextMarks
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import (
    OTHER_TURN_MARKS,
    QUOTE_MARKS,
    THINK_CLOSE,
    THINK_OPEN,
    CallKeys,
    TextDialect,
    answer_to_text,
    is_tool_name,
    parse_scanned_object,
    skip_other_turn,
)
from pegboard.dialects.text.literals import read_parenthesised, to_json_string
from pegboard.dialects.text.scanner import Scan, Text

_PYTHON_TAG, _CALL = "<|python_tag|>", ".call"
_ROLE, _ROLE_END = "<|start_header_id|>", "<|end_header_id|>"
_TURN_END, _STEP_END = "<|eot_id|>", "<|eom_id|>"
# Llama's own turn marks are read together with their role.
_FOREIGN_TURN_MARKS = tuple(mark for mark in OTHER_TURN_MARKS if not mark.startswith(_ROLE))
_CALL_KEYS = CallKeys("name", "parameters")
_CALL_FIELDS = frozenset({"type", "name", "parameters"})
_CALL_OBJECT = re.compile(
    r'^[ \t]*+\{\s*+(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"[^"\\\n]++"\s*,\s*"parameters"\s*:', re.MULTILINE
)
_PYTHON_TAG_CALL = re.compile(r"<\|python_tag\|>\s*+(?:\{|[\w.-]{1,255}?\.call\()")


class Llama31(TextDialect):
    """`{"name": …, "parameters": {…}}` on its own line, or `<|python_tag|>` with that or `name.call(key="text")`.

    Several objects may follow each other. There is no end mark: a call is complete if its JSON is. An object in a
    code block is an example and not a call, and neither is Python code after the tag.
    """

    name: ClassVar[str] = "text_llama31"
    text_marks = TextMarks(calls=r"<\|python_tag\|>|<\|(?:eot_id|eom_id)\|>", tokens=r"\A(?=[{\[]\s*[\"{\[]).*")
    keys: ClassVar[frozenset[str]] = frozenset({"parameters"})
    marks: ClassVar[tuple[str, ...]] = (_PYTHON_TAG, '"parameters"')
    openers: ClassVar[tuple[str, ...]] = (_PYTHON_TAG,)

    def recognises(self, item: Any) -> bool:
        """Return True for such an object, or a text with one or with the tag."""
        if isinstance(item, str):
            return _CALL_OBJECT.search(item) is not None or _PYTHON_TAG_CALL.search(item) is not None
        return _is_call(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read such an object, or a text or a piece of one."""
        if _is_call(item):
            into.call(item["name"], item["parameters"])
        else:
            super().read(item, into)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read calls at the start of a line or after the tag."""
        mark = "\n"
        while mark:
            if mark == _ROLE:
                role, _ = yield from text.until(_ROLE_END)
                if role.strip() != "assistant":
                    yield from skip_other_turn(text, into, _TURN_END, _STEP_END)
            else:
                yield from self.skip_section(mark, text, into)
            is_object = yield from _read_objects(text, into)
            if mark == _PYTHON_TAG and not is_object:
                yield from _read_builtin_call(text, into)
            _, mark = yield from text.until(
                "\n", _PYTHON_TAG, _ROLE, THINK_OPEN, THINK_CLOSE, *QUOTE_MARKS, *_FOREIGN_TURN_MARKS
            )

    def compose(self, calls: Sequence[AskedCall]) -> str:
        return "\n".join(
            f'{{"name": {to_json_string(call.name)}, "parameters": {arguments_to_json(call)}}}' for call in calls
        )

    def answer(self, answer: Answer) -> str:
        """Return a turn of the tool role, with the output as a JSON string."""
        return f"{_ROLE}ipython{_ROLE_END}\n\n{orjson.dumps(answer_to_text(answer)).decode()}{_TURN_END}"


def _is_call(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and item.keys() <= _CALL_FIELDS
        and isinstance(item.get("name"), str)
        and isinstance(item.get("parameters"), dict | str)
        and item.get("type", "function") == "function"
    )


def _read_objects(text: Text, into: Assembly) -> Any:
    """Add the next objects that are calls, and return True if there were any objects."""
    is_any = False
    while (yield from text.ahead("{")):
        is_any = True
        text.back("{")
        found, is_whole = yield from text.json()
        value, why = parse_scanned_object(found, is_whole)
        if why is not None:
            _CALL_KEYS.read_incomplete(found, why, into)
            continue
        if _is_call(value):
            into.call(value["name"], value["parameters"])
        yield from text.then(";", ",")
    return is_any


def _read_builtin_call(text: Text, into: Assembly) -> Scan:
    name, mark = yield from text.until(f"{_CALL}(", "\n", _TURN_END, _STEP_END)
    if mark == f"{_CALL}(" and is_tool_name(name.strip()):
        into.call(name.strip(), (yield from read_parenthesised(text, _STEP_END)))
    else:
        text.back("" if mark == f"{_CALL}(" else mark)
