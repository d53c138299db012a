"""Text format of Gemma 4, which has its own grammar for arguments."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import TextMarks
from pegboard.dialects.text.base_text import (
    THINK_CLOSE,
    THINK_OPEN,
    TRUNCATED_MESSAGE,
    TextDialect,
    answer_to_text,
    is_tool_name,
)
from pegboard.dialects.text.literals import to_json_string
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.json_schema.arguments_text import parse_arguments
from pegboard.model.call import Malformed
from pegboard.model.json_text import json_text

_CALL, _CALL_END, _QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'
_STRING_MARKS = ("\\\\", '\\"', '"')
_TOKEN = re.compile(
    r'<\|"\|>(?P<raw>.*?)<\|"\|>|(?P<string>"(?:[^"\\]++|\\.)*+")'
    r'|(?P<key>[^\s{}\[\],:"<]++)(?=\s*+:)|(?P<word>[^\s{}\[\],:"<]++)|[{}\[\],:]|\s++',
    re.DOTALL,
)
_PYTHON_WORDS = {"None": "null", "True": "true", "False": "false"}
_BARE_KEY = re.compile(r'[^\s{}\[\],:"<]+')


class Gemma4(TextDialect):
    """`<|tool_call>call:NAME{key:<|"|>text<|"|>,other:[1,true]}<tool_call|>`; a call without its end mark is cut off.

    A string between its marks has no escapes, so it cannot contain the mark; one in double quotes is read as JSON.
    """

    name: ClassVar[str] = "text_gemma4"
    text_marks = TextMarks(tokens=r"<\|turn>\w*")
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType({THINK_OPEN: THINK_CLOSE, "<|channel>": "<channel|>"})
    is_templated: ClassVar[bool] = True

    def scan(self, text: Text, into: Assembly) -> Scan:
        while (yield from self.find_next_opener(text, into)):
            if not (yield from text.ahead("call:")):
                continue
            name, mark = yield from text.until("{", _CALL, _CALL_END)
            text.back(mark)
            if mark == "{" and is_tool_name(name.strip()):
                found, is_whole = yield from _read_braces(text)
                if is_whole:
                    rest, mark = yield from text.until(_CALL_END, _CALL)
                    text.back(mark if mark == _CALL else "")
                    found, is_whole = found + rest, mark == _CALL_END
                into.call(name.strip(), _parse_arguments(found) if is_whole else Malformed(found, TRUNCATED_MESSAGE))

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in order; a string that contains the string mark is written as JSON."""
        return "".join(f"{_CALL}call:{call.name}{_write_value(call.arguments)}{_CALL_END}" for call in calls)

    def answer(self, answer: Answer) -> str:
        value = _write_string(answer_to_text(answer))
        return f"<|tool_response>response:{answer.call.name}{{value:{value}}}<tool_response|>"


def _read_braces(text: Text) -> Generator[None, None, tuple[str, bool]]:
    """Return the next object, and whether it is complete."""
    taken: list[str] = []
    depth = 0
    while True:
        before, mark = yield from text.until(_QUOTE, '"', "{", "[", "}", "]", _CALL_END)
        taken += before, mark
        if mark in ("", _CALL_END):
            return "".join(taken), False
        if mark in (_QUOTE, '"'):
            is_open = True
            while is_open:
                before, end = yield from text.until(*([_QUOTE] if mark == _QUOTE else _STRING_MARKS))
                taken += before, end
                is_open = end not in (mark, "")
        else:
            depth += 1 if mark in "{[" else -1
            if depth == 0:
                return "".join(taken), True


def _parse_arguments(text: str) -> Any:
    """Return the arguments, converted to JSON first: the JSON parser limits depth and validates numbers."""
    made: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return Malformed(text, f"expected a key or a value at character {place + 1:,}")
        place = token.end()
        kind = token.lastgroup
        if kind == "raw":
            made.append(to_json_string(token["raw"]))
        elif kind == "key":
            made.append(to_json_string(token["key"]))
        else:
            made.append(_PYTHON_WORDS.get(token.group(), token.group()))
    arguments = parse_arguments("".join(made))
    return Malformed(text, f"read as JSON, {arguments.why}") if isinstance(arguments, Malformed) else arguments


def _write_value(value: Any) -> str:
    if isinstance(value, Malformed):
        return value.text
    if value is None:
        return "null"
    if isinstance(value, str):
        return _write_string(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_write_key(key)}:{_write_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_write_value, value)) + "]"
    return json_text(value)


def _write_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _write_string(key)


def _write_string(text: str) -> str:
    return to_json_string(text) if _QUOTE in text else f"{_QUOTE}{text}{_QUOTE}"
