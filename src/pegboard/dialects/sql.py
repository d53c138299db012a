"""SQL as people read it: nothing of it hidden but secrets, in one line or with a line for each clause."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import NamedTuple

from pegboard.core.tool import MASK
from pegboard.dialects.readable import hides, in_one_line, masked

_LONGEST = 4000
_LONGEST_LITERAL = 60
_DEEPEST = 10
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*+|/\*.*?(?:\*/|\Z))
    |(?P<literal>[A-Za-z]?'(?:[^']|'')*+'?|(?P<dollar>\$\w*\$).*?(?:(?P=dollar)|\Z))
    |(?P<word>"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\]]{0,200}+\]|[^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*+)
    |(?P<space>\s++)
    |(?P<other>\d[\w.]*+|[<>=!|&:*/+%^~@\#-]|.)""",
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = frozenset(
    {"select", "from", "where", "group", "order", "having", "limit", "offset", "fetch", "union", "intersect", "except"}
    | {"values", "set", "returning", "insert", "update", "delete", "merge", "with", "window", "qualify", "when"}
    | {"join", "left", "right", "inner", "full", "cross", "natural"}
)
# Words that go on with the clause that the one before them began.
_GOES_ON = {
    "join": frozenset({"left", "right", "inner", "full", "cross", "natural", "outer"}),
    "from": frozenset({"delete"}),
    "update": frozenset({"for", "do", "on"}),
    "delete": frozenset({"on"}),
    "set": frozenset({"update", "null"}),
    "select": frozenset({"all", "distinct"}),
    "with": frozenset({"start"}),
    "left": frozenset({"natural"}),
    "right": frozenset({"natural"}),
    "inner": frozenset({"natural"}),
    "full": frozenset({"natural"}),
    "order": frozenset({"within"}),
}
_GOES_FURTHER = frozenset({"and", "or", "on"})
_SECRET_AFTER = re.compile(r"\b(?:password|identified\s+(?:with\s+\S+\s+)?(?:by|as))\s*$", re.IGNORECASE)
_COLUMNS = re.compile(r"\binto\b[^()]{0,200}\(([^()]{0,5000})\)", re.IGNORECASE)
_NAME_BEFORE = re.compile(r"([\w$]+)[\"`\]]?\s*(?:=|<>|!=|:=|like|in\s*\()\s*$", re.IGNORECASE)


class _Token(NamedTuple):
    kind: str
    text: str
    spaced: bool


def sql_in_one_line(text: str) -> str:
    """The statement in one line: comments closed, so that they hide nothing, and long literals cut."""
    return "".join((" " if token.spaced else "") + token.text for token in _tokens(text))


def sql_indented(text: str) -> str:
    """The statement with a line for each clause, those of inner queries further in."""
    tokens = _tokens(text)
    # For each open bracket whether a query is in it.
    queries: list[bool] = []
    shown, before, is_range = "", "", False
    for token, after in zip_longest(tokens, tokens[1:]):
        word = token.text.lower()
        in_query = all(queries[-1:])
        begins = word in _CLAUSES and before not in _GOES_ON.get(word, ())
        goes_on = word in _GOES_FURTHER and not is_range
        if shown and (before in ("(select", ";") or (in_query and (begins or goes_on))):
            shown += "\n" + "    " * min(sum(queries), _DEEPEST) + ("  " if goes_on else "")
        elif token.spaced and shown:
            shown += " "
        shown += token.text
        is_range = word == "between" or (is_range and word != "and")
        if token.kind != "comment":
            before = word
        if word == "(":
            queries.append(after is not None and after.text.lower() in ("select", "with"))
            before = "(select" if queries[-1] else word
        elif word == ")" and queries:
            queries.pop()
    return shown


def _tokens(text: str) -> list[_Token]:
    text = masked(text)[:_LONGEST].strip()
    columns = [name.strip(' \t\r\n"`[]') for found in _COLUMNS.finditer(text) for name in found[1].split(",")]
    hidden = any(hides(name, "x") for name in columns)
    tokens: list[_Token] = []
    spaced = False
    in_values = False
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup if found.lastgroup != "dollar" else "literal"
        word = found[0]
        if kind == "space":
            spaced = bool(tokens)
            continue
        if kind == "comment":
            said = word.removeprefix("--") if word.startswith("--") else word[2:].removesuffix("*/")
            tokens.append(_Token("comment", f"/* {in_one_line(said.replace('*/', '* /'))} */", True))
            spaced = True
            continue
        if kind == "literal":
            word = _literal(word, text[max(0, found.start() - 100) : found.start()], hidden=hidden and in_values)
        in_values = in_values or word.lower() == "values"
        tokens.append(_Token(kind or "other", in_one_line(word), spaced))
        spaced = False
    return tokens


def _literal(text: str, before: str, *, hidden: bool) -> str:
    named = _NAME_BEFORE.search(before)
    if hidden or _SECRET_AFTER.search(before) or (named is not None and hides(named[1], "x")):
        return f"'{MASK}'"
    if len(text) <= _LONGEST_LITERAL:
        return text
    return f"{text[: _LONGEST_LITERAL - 10]}…{text[-1] if text[-1] in chr(39) + '$' else ''}"
