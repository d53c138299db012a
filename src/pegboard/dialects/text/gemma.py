"""Calls as Gemma 4 writes them, in a grammar of its own."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from pegboard.core.call import Malformed
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.reading import arguments_of
from pegboard.dialects.text.base import THINK, THOUGHT, TextDialect, told
from pegboard.dialects.text.literals import json_string
from pegboard.dialects.text.parts import CUT, is_name
from pegboard.dialects.text.scanning import Scan, Text
from pegboard.store.types import json_text

_CALL, _CALL_END, _QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'
_ESCAPED = ("\\\\", '\\"', '"')
_TOKEN = re.compile(
    r'<\|"\|>(?P<raw>.*?)<\|"\|>|(?P<string>"(?:[^"\\]++|\\.)*+")'
    r'|(?P<key>[^\s{}\[\],:"<]++)(?=\s*+:)|(?P<word>[^\s{}\[\],:"<]++)|[{}\[\],:]|\s++',
    re.DOTALL,
)
_WORDS = {"None": "null", "True": "true", "False": "false"}
_BARE = re.compile(r'[^\s{}\[\],:"<]+')


class Gemma4(TextDialect):
    """`<|tool_call>call:NAME{key:<|"|>text<|"|>,other:[1,true]}<tool_call|>`; a call without its end mark is cut off.

    A string between its marks has no escapes, so that it cannot hold the mark; one in double quotes is read as JSON.
    """

    name: ClassVar[str] = "text_gemma4"
    marks: ClassVar[tuple[str, ...]] = (_CALL,)
    openers: ClassVar[tuple[str, ...]] = (_CALL,)
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType({THINK: THOUGHT, "<|channel>": "<channel|>"})
    is_templated: ClassVar[bool] = True

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the calls."""
        while (yield from self.calls_begin(text, into)):
            if not (yield from text.ahead("call:")):
                continue
            name, mark = yield from text.until("{", _CALL, _CALL_END)
            text.back(mark)
            if mark == "{" and is_name(name.strip()):
                found, is_whole = yield from _braces(text)
                if is_whole:
                    rest, mark = yield from text.until(_CALL_END, _CALL)
                    text.back(mark if mark == _CALL else "")
                    found, is_whole = found + rest, mark == _CALL_END
                into.call(name.strip(), _read(found) if is_whole else Malformed(found, CUT))

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls, one after the other; a string that holds the mark for strings is written as JSON."""
        return "".join(f"{_CALL}call:{call.name}{_composed(call.arguments)}{_CALL_END}" for call in calls)

    def answer(self, answer: Answer) -> str:
        """The output as the value of a response."""
        return f"<|tool_response>response:{answer.call.name}{{value:{_string(told(answer))}}}<tool_response|>"


def _braces(text: Text) -> Generator[None, None, tuple[str, bool]]:
    """The object that comes next, and whether it is whole."""
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
                before, end = yield from text.until(*([_QUOTE] if mark == _QUOTE else _ESCAPED))
                taken += before, end
                is_open = end not in (mark, "")
        else:
            depth += 1 if mark in "{[" else -1
            if depth == 0:
                return "".join(taken), True


def _read(text: str) -> Any:
    """The arguments, by way of JSON: it bounds depth, and knows which numbers there are."""
    made: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return Malformed(text, f"there is something at character {place + 1:,} that is no key and no value")
        place = token.end()
        kind = token.lastgroup
        if kind == "raw":
            made.append(json_string(token["raw"]))
        elif kind == "key":
            made.append(json_string(token["key"]))
        else:
            made.append(_WORDS.get(token.group(), token.group()))
    arguments = arguments_of("".join(made))
    return Malformed(text, f"read as JSON, {arguments.why}") if isinstance(arguments, Malformed) else arguments


def _composed(value: Any) -> str:
    if isinstance(value, Malformed):
        return value.text
    if value is None:
        return "null"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_key(key)}:{_composed(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_composed, value)) + "]"
    return json_text(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return json_string(text) if _QUOTE in text else f"{_QUOTE}{text}{_QUOTE}"
