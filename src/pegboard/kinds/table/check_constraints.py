"""Reads simple CHECK constraints on single columns: ranges, lengths and lists of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import ceil, floor
from typing import NamedTuple

from pegboard.kinds.table.config import MAX_DIGITS

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
    | (?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<sign>::|<=|>=|<>|!=|==|\[\]|[^\s])
    )""",
    re.VERBOSE,
)
_LENGTH_FUNCTIONS = frozenset({"length", "char_length", "character_length"})
# Words that may follow the first word of a type name.
_TYPE_WORDS = frozenset({"varying", "precision", "with", "without", "time", "zone"})
_MIRRORED_OPERATORS = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "==": "=="}


class SqlToken(NamedTuple):
    """An SQL token: a name, a text, a number or a sign; names and texts without their quotes."""

    kind: str
    value: str

    def says(self, *words: str) -> bool:
        """True if it is one of these words or signs."""
        return self.kind in ("word", "sign") and self.value in words


@dataclass(slots=True)
class ColumnBounds:
    """The bounds of a column's values; `above` and `below` are exclusive."""

    low: Decimal | None = None
    high: Decimal | None = None
    above: Decimal | None = None
    below: Decimal | None = None
    shortest: int | None = None
    longest: int | None = None
    among: tuple[str, ...] | None = None


def read_bounds(checks: Iterable[str], columns: Iterable[str]) -> dict[str, ColumnBounds]:
    """Return the bounds of each column in the checks; conditions that are not simple are ignored."""
    # Unquoted names are case-insensitive; the exact name wins if two columns differ only in case.
    known = {column.lower(): column for column in columns} | {column: column for column in columns}
    found: dict[str, ColumnBounds] = {}
    for check in checks:
        for part in _iterate_conditions(_remove_casts(_tokenize(check))):
            _apply_condition(part, known, found)
    return found


def _tokenize(text: str) -> list[SqlToken]:
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "text":
            tokens.append(SqlToken("text", value[1:-1].replace("''", "'")))
        elif kind == "quoted":
            tokens.append(SqlToken("name", value[1:-1].replace(value[0] * 2, value[0])))
        else:
            tokens.append(SqlToken(kind, value.lower()))
    return tokens[1:] if tokens[:1] == [SqlToken("word", "check")] else tokens


def _remove_casts(tokens: list[SqlToken]) -> list[SqlToken]:
    """Return the tokens without `::type` and without parentheses around a single token."""
    kept: list[SqlToken] = []
    place = 0
    while place < len(tokens):
        if tokens[place].says("::"):
            place = _skip_type(tokens, place + 1)
            continue
        kept.append(tokens[place])
        if tokens[place].says(")") and len(kept) > 2 and kept[-3].says("(") and not _is_call(kept[:-3]):
            kept[-3:] = [kept[-2]]
        place += 1
    return kept


def _skip_type(tokens: list[SqlToken], place: int) -> int:
    place += 1
    while place < len(tokens):
        if tokens[place].says("[]", *_TYPE_WORDS):
            place += 1
        elif tokens[place].says("."):
            place += 2
        elif tokens[place].says("(") and place + 1 < len(tokens) and tokens[place + 1].kind == "number":
            place = next((at for at in range(place, len(tokens)) if tokens[at].says(")")), place) + 1
        else:
            break
    return place


def _is_call(before: list[SqlToken]) -> bool:
    """True if the following parentheses belong to the word before them."""
    return (
        bool(before)
        and before[-1].kind == "word"
        and (before[-1].value in _LENGTH_FUNCTIONS or before[-1].says("in", "any"))
    )


def _iterate_conditions(tokens: list[SqlToken]) -> Iterator[list[SqlToken]]:
    """Yield the conditions joined by AND; none if there is an OR or a CASE."""
    tokens = _strip_parentheses(tokens)
    parts: list[list[SqlToken]] = [[]]
    depth, between = 0, False
    for token in tokens:
        depth += token.says("(", "[") - token.says(")", "]")
        if depth == 0 and token.says("or", "case"):
            return
        between = between or (depth == 0 and token.says("between"))
        if depth == 0 and token.says("and"):
            if not between:
                parts.append([])
                continue
            between = False
        parts[-1].append(token)
    if len(parts) == 1:
        yield parts[0]
        return
    for part in parts:
        yield from _iterate_conditions(part)


def _strip_parentheses(tokens: list[SqlToken]) -> list[SqlToken]:
    """Return the tokens without parentheses around all of them."""
    while len(tokens) > 1 and tokens[0].says("("):
        depth, ends = 0, []
        for place, token in enumerate(tokens):
            depth += token.says("(") - token.says(")")
            ends += [place] if depth == 0 else []
        if ends[:1] != [len(tokens) - 1]:
            break
        tokens = tokens[1:-1]
    return tokens


def _apply_condition(part: list[SqlToken], known: dict[str, str], found: dict[str, ColumnBounds]) -> None:
    """Add a condition to the bounds if it is simple."""
    places = [at for at, token in enumerate(part) if token.says("between", "in", *_MIRRORED_OPERATORS)]
    if not places or any(token.says("not") for token in part):
        return
    left, sign, right = part[: places[0]], part[places[0]].value, part[places[0] + 1 :]
    if sign in _MIRRORED_OPERATORS and _find_column(left, known) is None:
        left, sign, right = right, _MIRRORED_OPERATORS[sign], left
    subject = _find_column(left, known)
    if subject is None:
        return
    column, is_length = subject
    bounds = found.setdefault(column, ColumnBounds())
    if sign in ("in", "=", "==") and not is_length:
        values = _read_text_list(right)
        if values and (sign == "in" or right[0].says("any")):
            bounds.among = values if bounds.among is None else tuple(one for one in bounds.among if one in values)
    elif sign == "between":
        middle = next((at for at, each in enumerate(right) if each.says("and")), len(right))
        _apply_bound(bounds, ">=", _read_number(right[:middle]), is_length=is_length)
        _apply_bound(bounds, "<=", _read_number(right[middle + 1 :]), is_length=is_length)
    else:
        _apply_bound(bounds, sign, _read_number(right), is_length=is_length)


def _find_column(tokens: list[SqlToken], known: dict[str, str]) -> tuple[str, bool] | None:
    """Return the column on this side of a comparison, and whether it is its length; None if it is neither."""
    tokens = _strip_parentheses(tokens)
    is_length = (
        len(tokens) == 4 and tokens[0].value in _LENGTH_FUNCTIONS and tokens[1].says("(") and tokens[3].says(")")
    )
    if is_length:
        tokens = tokens[2:3]
    if len(tokens) != 1 or tokens[0].kind not in ("word", "name") or tokens[0].value not in known:
        return None
    return known[tokens[0].value], is_length


def _read_number(tokens: list[SqlToken]) -> Decimal | None:
    """Return the number on this side of a comparison, or None; PostgreSQL writes negative numbers as texts."""
    text = "".join(
        token.value for token in _strip_parentheses(tokens) if token.kind in ("number", "text") or token.says("-")
    )
    if len(text) != sum(len(token.value) for token in _strip_parentheses(tokens)):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < MAX_DIGITS else None


def _read_text_list(tokens: list[SqlToken]) -> tuple[str, ...]:
    """Return the texts of a list; empty if it contains anything else."""
    others = [
        token for token in tokens if token.kind != "text" and not token.says("any", "array", "(", ")", "[", "]", ",")
    ]
    return () if others else tuple(dict.fromkeys(token.value for token in tokens if token.kind == "text"))


def _apply_bound(bounds: ColumnBounds, sign: str, number: Decimal | None, *, is_length: bool) -> None:
    if number is None:
        return
    if is_length:
        if sign in (">=", ">"):
            least = floor(number) + 1 if sign == ">" else ceil(number)
            bounds.shortest = least if bounds.shortest is None else max(bounds.shortest, least)
        elif sign in ("<=", "<"):
            most = ceil(number) - 1 if sign == "<" else floor(number)
            bounds.longest = most if bounds.longest is None else min(bounds.longest, most)
    elif sign == ">=":
        bounds.low = number if bounds.low is None else max(bounds.low, number)
    elif sign == "<=":
        bounds.high = number if bounds.high is None else min(bounds.high, number)
    elif sign == ">":
        bounds.above = number if bounds.above is None else max(bounds.above, number)
    elif sign == "<":
        bounds.below = number if bounds.below is None else min(bounds.below, number)
