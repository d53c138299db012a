"""Calls in the manner of Python, `name(key='text', other=[1, True])`, read without ever being evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from typing import Any

import orjson

from pegboard.core.call import Malformed
from pegboard.core.refusals import Invalid
from pegboard.dialects.reading import arguments_of
from pegboard.dialects.text.parts import CUT
from pegboard.dialects.text.scanning import Text
from pegboard.store.types import json_text

_WORDS = {"None": "null", "True": "true", "False": "false"}
_KEY = re.compile(r"""[^\s='"()\[\]{},:]++""")
_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+")"""
    r"""|(?P<key>[^\s='"()\[\]{},:]++)\s*+=|(?P<word>[^\s='"()\[\]{},:]++)|(?P<mark>[\[\]{},:])|\s++""",
    re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL
)
_ESCAPED = {
    "\n": "", "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def parenthesised(text: Text, end: str) -> Generator[None, None, Any]:
    """The arguments up to the parenthesis that closes them; Malformed where they are cut off, or cannot be read.

    The opening parenthesis has been read. The end mark is found outside of strings only, and left to be read again.
    """
    taken: list[str] = []
    depth = 1
    while True:
        before, mark = yield from text.until("'", '"', "(", "[", "{", ")", "]", "}", end)
        taken.append(before)
        if mark in ("", end):
            text.back(mark)
            return Malformed("".join(taken), CUT)
        if mark in "'\"":
            taken.append(mark)
            is_open = True
            while is_open:
                before, found = yield from text.until("\\\\", "\\" + mark, mark)
                taken += before, found
                is_open = found not in (mark, "")
        else:
            depth += 1 if mark in "([{" else -1
            if depth == 0 and mark == ")":
                return arguments_in("".join(taken))
            taken.append(mark)
            if depth == 0:
                return Malformed("".join(taken), f"there is a '{mark}' that closes nothing")


def arguments_in(text: str) -> Any:
    """The keyword arguments between the parentheses, or Malformed where they are anything but literals.

    They are read by way of JSON, which bounds their depth and knows which numbers there are.
    """
    made = ["{"]
    depth = place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        kind = token.lastgroup if token else None
        said = token.group() if token else ""
        if token is None or (depth == 0 and said == ":") or (depth > 0 and kind == "key"):
            return Malformed(text, f"expected key=value with a literal as the value, at character {place + 1:,}")
        place = token.end()
        if kind == "string":
            said = json_string(_unquoted(said))
        elif kind == "key":
            said = json_string(token["key"]) + ":"
        elif kind == "word":
            said = _WORDS.get(said, said)
        elif kind == "mark":
            depth += (said in "[{") - (said in "]}")
        made.append(said)
    arguments = arguments_of("".join([*made, "}"]))
    return Malformed(text, f"read as JSON, {arguments.why}") if isinstance(arguments, Malformed) else arguments


def written(arguments: Mapping[str, Any]) -> str:
    """The arguments as keyword arguments; raises Invalid where a key cannot be a keyword."""
    for key in arguments:
        if not _KEY.fullmatch(key):
            raise Invalid(f"A call in the manner of Python cannot carry the key '{key[:100]}'")
    return ", ".join(f"{key}={_literal(value)}" for key, value in arguments.items())


def json_string(text: str) -> str:
    """The text as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _literal(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
        return f"'{escaped}'"
    if value is None or isinstance(value, bool):
        return str(value)
    return json_text(value)


def _unquoted(literal: str) -> str:
    """What a string says; in double quotes it may be Python or JSON, which differ in what they escape."""
    if "\\" not in literal:
        return literal[1:-1]
    if literal[0] == '"':
        try:
            said: str = orjson.loads(literal)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            pass
        else:
            return said
    return _ESCAPE.sub(_meant, literal[1:-1])


def _meant(escape: re.Match[str]) -> str:
    code = escape[1]
    if code[0] in "01234567":
        return chr(int(code, 8))
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, escape.group())
