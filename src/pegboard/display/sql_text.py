"""Format SQL for display, on one line or with one line per clause; only secrets and long literals are shortened.

sqlglot would rewrite the statement and refuse broken ones: docs/decisions/0031-sql.md.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import NamedTuple

from pegboard.display.readable import is_secret_field, mask_credentials, to_one_line
from pegboard.model.secrets import MASK

_MAX_SQL_CHARS = 4000
_MAX_LITERAL_CHARS = 60
_MAX_INDENT_LEVELS = 10
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*+|/\*.*?(?:\*/|\Z))
    |(?P<literal>[A-Za-z]?'(?:[^']|'')*+'?|(?P<dollar>\$\w*\$).*?(?:(?P=dollar)|\Z))
    |(?P<word>"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\]]{0,200}+\]|[^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*+)
    |(?P<space>\s++)
    |(?P<other>\d[\w.]*+|[<>=!|&:*/+%^~@\#-]|.)""",
    re.VERBOSE | re.DOTALL,
)
_CLAUSE_WORDS = frozenset(
    {"select", "from", "where", "group", "order", "having", "limit", "offset", "fetch", "union", "intersect", "except"}
    | {"values", "set", "returning", "insert", "update", "delete", "merge", "with", "window", "qualify", "when"}
    | {"join", "left", "right", "inner", "full", "cross", "natural"}
)
# By word, the preceding words after which it continues a clause instead of starting one.
_CONTINUES_AFTER = {
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
_CONDITION_WORDS = frozenset({"and", "or", "on"})
_SECRET_AFTER = re.compile(r"\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s*$", re.IGNORECASE)
_INSERT_COLUMNS = re.compile(r"\binto\b[^()]{0,200}\(([^()]{0,5000})\)", re.IGNORECASE)
_NAME_BEFORE = re.compile(r"([\w$]+)[\"`\]]?\s*(?:=|<>|!=|:=|like|in\s*\()?\s*$", re.IGNORECASE)


class _Token(NamedTuple):
    kind: str
    text: str
    has_space_before: bool


def format_sql_line(text: str) -> str:
    """Return the statement on one line, with line comments turned into block comments and long literals cut."""
    return "".join((" " if token.has_space_before else "") + token.text for token in _tokenize(text))


def format_sql_indented(text: str) -> str:
    """Return the statement with one line per clause; subqueries are indented."""
    tokens = _tokenize(text)
    # For each open bracket, whether it contains a subquery.
    queries: list[bool] = []
    shown, before, is_range = "", "", False
    for token, after in zip_longest(tokens, tokens[1:]):
        word = token.text.lower()
        in_query = all(queries[-1:])
        begins = word in _CLAUSE_WORDS and before not in _CONTINUES_AFTER.get(word, ())
        goes_on = word in _CONDITION_WORDS and not is_range
        if shown and (before in ("(select", ";") or (in_query and (begins or goes_on))):
            shown += "\n" + "    " * min(sum(queries), _MAX_INDENT_LEVELS) + ("  " if goes_on else "")
        elif token.has_space_before and shown:
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


def _tokenize(text: str) -> list[_Token]:
    text = mask_credentials(text)[:_MAX_SQL_CHARS].strip()
    columns = [name.strip(' \t\r\n"`[]') for found in _INSERT_COLUMNS.finditer(text) for name in found[1].split(",")]
    hidden = any(is_secret_field(name, "x") for name in columns)
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
            comment = word.removeprefix("--") if word.startswith("--") else word[2:].removesuffix("*/")
            tokens.append(_Token("comment", f"/* {to_one_line(comment.replace('*/', '* /'))} */", True))
            spaced = True
            continue
        if kind == "literal":
            word = _format_literal(word, text[max(0, found.start() - 100) : found.start()], hidden=hidden and in_values)
        in_values = in_values or word.lower() == "values"
        tokens.append(_Token(kind or "other", to_one_line(word), spaced))
        spaced = False
    return tokens


def _format_literal(text: str, before: str, *, hidden: bool) -> str:
    named = _NAME_BEFORE.search(before)
    if hidden or _SECRET_AFTER.search(before) or (named is not None and is_secret_field(named[1], "x")):
        return f"'{MASK}'"
    if len(text) <= _MAX_LITERAL_CHARS:
        return text
    return f"{text[: _MAX_LITERAL_CHARS - 10]}…{text[-1] if text[-1] in chr(39) + '$' else ''}"
