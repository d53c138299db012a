"""Calls as Llama 3 writes them: bare JSON, or Python's manner for the tools it was trained on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import orjson

from pegboard.core.errors import MalformedArguments
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.reading import json_of
from pegboard.dialects.text.base import THINK, THOUGHT, TextDialect, others_turn, told
from pegboard.dialects.text.literals import json_string, parenthesised
from pegboard.dialects.text.parts import CUT, Keys, is_name
from pegboard.dialects.text.quoted import QUOTED, TURNS
from pegboard.dialects.text.scanning import Scan, Text

_PYTHON, _CALL = "<|python_tag|>", ".call"
_ROLE, _ROLE_END = "<|start_header_id|>", "<|end_header_id|>"
_TURN_END, _STEP_END = "<|eot_id|>", "<|eom_id|>"
# Its own are read with their role.
_TURNS = tuple(mark for mark in TURNS if not mark.startswith(_ROLE))
_KEYS = Keys("name", "parameters")
_FIELDS = frozenset({"type", "name", "parameters"})
_OBJECT = re.compile(
    r'^[ \t]*+\{\s*+(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"[^"\\\n]++"\s*,\s*"parameters"\s*:', re.MULTILINE
)
_BUILTIN = re.compile(r"<\|python_tag\|>\s*+(?:\{|[\w.-]{1,255}?\.call\()")


class Llama31(TextDialect):
    """`{"name": …, "parameters": {…}}` on a line of its own, or `<|python_tag|>` with that or `name.call(key="text")`.

    Several objects may follow one another. There is no end mark: a call is whole when its JSON is. An object in a block
    of code is an example and no call, and so is code of Python after the tag.
    """

    name: ClassVar[str] = "text_llama31"
    keys: ClassVar[frozenset[str]] = frozenset({"parameters"})
    marks: ClassVar[tuple[str, ...]] = (_PYTHON, '"parameters"')
    openers: ClassVar[tuple[str, ...]] = (_PYTHON,)

    def recognises(self, item: Any) -> bool:
        """Whether it is such an object, or a text that has one or the tag."""
        if isinstance(item, str):
            return _OBJECT.search(item) is not None or _BUILTIN.search(item) is not None
        return _is_call(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Take in such an object, or a text or a piece of one."""
        if _is_call(item):
            into.call(item["name"], item["parameters"])
        else:
            super().read(item, into)

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read what stands at the beginning of a line, or after the tag."""
        mark = "\n"
        while mark:
            if mark == _ROLE:
                role, _ = yield from text.until(_ROLE_END)
                if role.strip() != "assistant":
                    yield from others_turn(text, into, _TURN_END, _STEP_END)
            else:
                yield from self.passed(mark, text, into)
            is_object = yield from _objects(text, into)
            if mark == _PYTHON and not is_object:
                yield from _builtin(text, into)
            _, mark = yield from text.until("\n", _PYTHON, _ROLE, THINK, THOUGHT, *QUOTED, *_TURNS)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, one a line."""
        return "\n".join(
            f'{{"name": {json_string(call.name)}, "parameters": {text_of_arguments(call)}}}' for call in calls
        )

    def answer(self, answer: Answer) -> str:
        """A turn of the role for tools, with the output as a JSON string."""
        return f"{_ROLE}ipython{_ROLE_END}\n\n{orjson.dumps(told(answer)).decode()}{_TURN_END}"


def _is_call(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and item.keys() <= _FIELDS
        and isinstance(item.get("name"), str)
        and isinstance(item.get("parameters"), dict | str)
        and item.get("type", "function") == "function"
    )


def _objects(text: Text, into: Assembly) -> Any:
    """Hand in the objects that come next if they are calls, and say whether there were any objects."""
    is_any = False
    while (yield from text.ahead("{")):
        is_any = True
        text.back("{")
        found, is_whole = yield from text.json()
        why = CUT
        if is_whole:
            try:
                value = json_of(found)
            except MalformedArguments as error:
                why = error.message
            else:
                if _is_call(value):
                    into.call(value["name"], value["parameters"])
                yield from text.then(";", ",")
                continue
        _KEYS.read_broken(found, why, into)
    return is_any


def _builtin(text: Text, into: Assembly) -> Scan:
    name, mark = yield from text.until(f"{_CALL}(", "\n", _TURN_END, _STEP_END)
    if mark == f"{_CALL}(" and is_name(name.strip()):
        into.call(name.strip(), (yield from parenthesised(text, _STEP_END)))
    else:
        text.back("" if mark == f"{_CALL}(" else mark)
