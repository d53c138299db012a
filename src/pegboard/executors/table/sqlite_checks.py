"""What SQLite tells only as the text of a CREATE statement: CHECKs, and the expressions of an index."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    |(?P<string>'(?:[^']|'')*')
    |(?P<word>[^\W\d][\w$]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def checks_of(statement: str) -> dict[str, str]:
    """The text of each CHECK, by the name that a violation of it is told with."""
    found: dict[str, str] = {}
    depth, name, opened, is_check = 0, "", -1, False
    tokens = list(_tokens(statement))
    for place, token in enumerate(tokens):
        if token.text == "(":
            depth += 1
            if is_check:
                opened = token.start
        elif token.text == ")":
            depth -= 1
            if opened >= 0 and depth == 1:
                text = statement[opened + 1 : token.start].strip()
                key = name or _dequoted(text)
                found[key] = f"({found[key]}) AND ({text})" if key in found else text
                opened = -1
        elif depth == 1 and token.text == ",":
            name = ""
        elif depth == 1 and _is_word(token, "CONSTRAINT") and place + 1 < len(tokens):
            name = _dequoted(tokens[place + 1].text)
        is_check = depth == 1 and _is_word(token, "CHECK")
    return found


def columns_in(text: str, columns: Container[str]) -> tuple[str, ...]:
    """Which of these columns an expression speaks of, in its order."""
    names = (_dequoted(token.text) for token in _tokens(text) if token.kind in {"word", "quoted"})
    return tuple(dict.fromkeys(name for name in names if name in columns))


def indexed_in(statement: str, columns: Container[str]) -> tuple[str, ...]:
    """Which of these columns an index is made of, the expressions of it included, and its WHERE not."""
    depth, start = 0, 0
    for token in _tokens(statement):
        if token.text == "(":
            depth += 1
            start = start or token.start
        elif token.text == ")":
            depth -= 1
            if depth == 0:
                return columns_in(statement[start : token.start], columns)
    return ()


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        if (kind := str(match.lastgroup)) != "space":
            yield _Token(kind, match.group(), match.start())


def _is_word(token: _Token, word: str) -> bool:
    return token.kind == "word" and token.text.upper() == word


def _dequoted(text: str) -> str:
    """What SQLite makes a name of: where the text begins with something in quotes, that alone."""
    match = _TOKEN.match(text)
    if match is None or match.lastgroup not in {"quoted", "string"}:
        return text
    token = match.group()
    return token[1:-1].replace(token[-1] * 2, token[-1])
