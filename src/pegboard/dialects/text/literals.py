"""Parse calls in Python syntax, `name(key='text', other=[1, True])`, without evaluating them."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from typing import Any

import orjson

from pegboard.dialects.text.base_text import TRUNCATED_MESSAGE
from pegboard.dialects.text.scanner import Text
from pegboard.json_schema.arguments_text import parse_arguments
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed
from pegboard.model.json_text import json_text

_PYTHON_WORDS = {"None": "null", "True": "true", "False": "false"}
_KEYWORD_PATTERN = re.compile(r"""[^\s='"()\[\]{},:]++""")
_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+")"""
    r"""|(?P<key>[^\s='"()\[\]{},:]++)\s*+=|(?P<word>[^\s='"()\[\]{},:]++)|(?P<mark>[\[\]{},:])|\s++""",
    re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL
)
_ESCAPE_VALUES = {
    "\n": "", "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def read_parenthesised(text: Text, end: str) -> Generator[None, None, Any]:
    """Return the arguments up to the closing parenthesis; Malformed if they are cut off or cannot be parsed.

    The opening parenthesis has been read. The end mark is searched outside of strings only, and put back.
    """
    taken: list[str] = []
    depth = 1
    while True:
        before, mark = yield from text.until("'", '"', "(", "[", "{", ")", "]", "}", end)
        taken.append(before)
        if mark in ("", end):
            text.back(mark)
            return Malformed("".join(taken), TRUNCATED_MESSAGE)
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
                return parse_keyword_arguments("".join(taken))
            taken.append(mark)
            if depth == 0:
                return Malformed("".join(taken), f"unmatched '{mark}'")


def parse_keyword_arguments(text: str) -> Any:
    """Return the keyword arguments between the parentheses, or Malformed if they are not literals.

    They are converted to JSON first: the JSON parser limits depth and validates numbers.
    """
    made = ["{"]
    depth = place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        kind = token.lastgroup if token else None
        piece = token.group() if token else ""
        if token is None or (depth == 0 and piece == ":") or (depth > 0 and kind == "key"):
            return Malformed(text, f"expected key=value with a literal as the value, at character {place + 1:,}")
        place = token.end()
        if kind == "string":
            piece = to_json_string(_unquote(piece))
        elif kind == "key":
            piece = to_json_string(token["key"]) + ":"
        elif kind == "word":
            piece = _PYTHON_WORDS.get(piece, piece)
        elif kind == "mark":
            depth += (piece in "[{") - (piece in "]}")
        made.append(piece)
    arguments = parse_arguments("".join([*made, "}"]))
    return Malformed(text, f"read as JSON, {arguments.why}") if isinstance(arguments, Malformed) else arguments


def write_keyword_arguments(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as keyword arguments; raise Invalid if a key cannot be a keyword."""
    for key in arguments:
        if not _KEYWORD_PATTERN.fullmatch(key):
            raise Invalid(f"'{key[:100]}' cannot be a keyword argument of a call in Python syntax")
    return ", ".join(f"{key}={_write_literal(value)}" for key, value in arguments.items())


def to_json_string(text: str) -> str:
    """Return the text as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _write_literal(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
        return f"'{escaped}'"
    if value is None or isinstance(value, bool):
        return str(value)
    return json_text(value)


def _unquote(literal: str) -> str:
    """Return the value of a string literal; in double quotes it may be Python or JSON, whose escapes differ."""
    if "\\" not in literal:
        return literal[1:-1]
    if literal[0] == '"':
        try:
            piece: str = orjson.loads(literal)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            pass
        else:
            return piece
    return _ESCAPE.sub(_decode_escape, literal[1:-1])


def _decode_escape(escape: re.Match[str]) -> str:
    code = escape[1]
    if code[0] in "01234567":
        return chr(int(code, 8))
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPE_VALUES.get(code, escape.group())
