"""What a table's CHECK constraints say of single columns, as far as it is simple: ranges, lengths and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import ceil, floor
from typing import NamedTuple

from pegboard.core.table_config import MOST_DIGITS

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
_LENGTHS = frozenset({"length", "char_length", "character_length"})
# What may follow the first word of a type's name.
_TYPE_WORDS = frozenset({"varying", "precision", "with", "without", "time", "zone"})
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "==": "=="}


class Token(NamedTuple):
    """A piece of SQL: a name, a text, a number or a sign, the first two without their quotes."""

    kind: str
    value: str

    def says(self, *words: str) -> bool:
        """Whether it is one of these words or signs."""
        return self.kind in ("word", "sign") and self.value in words


@dataclass(slots=True)
class Bounds:
    """What is known of a column's values; `above` and `below` are bounds that they may not reach."""

    low: Decimal | None = None
    high: Decimal | None = None
    above: Decimal | None = None
    below: Decimal | None = None
    shortest: int | None = None
    longest: int | None = None
    among: tuple[str, ...] | None = None


def bounds_of(checks: Iterable[str], columns: Iterable[str]) -> dict[str, Bounds]:
    """The bounds of each column that the checks speak of; what is not simple in them is passed over."""
    # Names without quotes are the same in any case; two that differ in nothing else are told apart by it.
    known = {column.lower(): column for column in columns} | {column: column for column in columns}
    found: dict[str, Bounds] = {}
    for check in checks:
        for part in _conditions(_without_casts(_tokens(check))):
            _note(part, known, found)
    return found


def _tokens(text: str) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "text":
            tokens.append(Token("text", value[1:-1].replace("''", "'")))
        elif kind == "quoted":
            tokens.append(Token("name", value[1:-1].replace(value[0] * 2, value[0])))
        else:
            tokens.append(Token(kind, value.lower()))
    return tokens[1:] if tokens[:1] == [Token("word", "check")] else tokens


def _without_casts(tokens: list[Token]) -> list[Token]:
    """The tokens without `::type`, and without parentheses around one of them alone."""
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        if tokens[place].says("::"):
            place = _after_type(tokens, place + 1)
            continue
        kept.append(tokens[place])
        if tokens[place].says(")") and len(kept) > 2 and kept[-3].says("(") and not _is_call(kept[:-3]):
            kept[-3:] = [kept[-2]]
        place += 1
    return kept


def _after_type(tokens: list[Token], place: int) -> int:
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


def _is_call(before: list[Token]) -> bool:
    """Whether what comes in parentheses now belongs to the word before."""
    return bool(before) and before[-1].kind == "word" and (before[-1].value in _LENGTHS or before[-1].says("in", "any"))


def _conditions(tokens: list[Token]) -> Iterator[list[Token]]:
    """The conditions that must all hold; of alternatives and cases none."""
    tokens = _bare(tokens)
    parts: list[list[Token]] = [[]]
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
        yield from _conditions(part)


def _bare(tokens: list[Token]) -> list[Token]:
    """The tokens without parentheses around all of them."""
    while len(tokens) > 1 and tokens[0].says("("):
        depth, ends = 0, []
        for place, token in enumerate(tokens):
            depth += token.says("(") - token.says(")")
            ends += [place] if depth == 0 else []
        if ends[:1] != [len(tokens) - 1]:
            break
        tokens = tokens[1:-1]
    return tokens


def _note(part: list[Token], known: dict[str, str], found: dict[str, Bounds]) -> None:
    """Take in one condition, if it is a simple one."""
    places = [at for at, token in enumerate(part) if token.says("between", "in", *_MIRRORED)]
    if not places or any(token.says("not") for token in part):
        return
    left, sign, right = part[: places[0]], part[places[0]].value, part[places[0] + 1 :]
    if sign in _MIRRORED and _subject(left, known) is None:
        left, sign, right = right, _MIRRORED[sign], left
    subject = _subject(left, known)
    if subject is None:
        return
    column, is_length = subject
    bounds = found.setdefault(column, Bounds())
    if sign in ("in", "=", "==") and not is_length:
        values = _listed(right)
        if values and (sign == "in" or right[0].says("any")):
            bounds.among = values if bounds.among is None else tuple(one for one in bounds.among if one in values)
    elif sign == "between":
        middle = next((at for at, each in enumerate(right) if each.says("and")), len(right))
        _bound(bounds, ">=", _number(right[:middle]), is_length=is_length)
        _bound(bounds, "<=", _number(right[middle + 1 :]), is_length=is_length)
    else:
        _bound(bounds, sign, _number(right), is_length=is_length)


def _subject(tokens: list[Token], known: dict[str, str]) -> tuple[str, bool] | None:
    """The column that a side of a comparison is, and whether it is its length."""
    tokens = _bare(tokens)
    is_length = len(tokens) == 4 and tokens[0].value in _LENGTHS and tokens[1].says("(") and tokens[3].says(")")
    if is_length:
        tokens = tokens[2:3]
    if len(tokens) != 1 or tokens[0].kind not in ("word", "name") or tokens[0].value not in known:
        return None
    return known[tokens[0].value], is_length


def _number(tokens: list[Token]) -> Decimal | None:
    """The number that a side of a comparison is, if a field may have it; PostgreSQL writes those below 0 as texts."""
    text = "".join(token.value for token in _bare(tokens) if token.kind in ("number", "text") or token.says("-"))
    if len(text) != sum(len(token.value) for token in _bare(tokens)):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < MOST_DIGITS else None


def _listed(tokens: list[Token]) -> tuple[str, ...]:
    """The texts of a list, if there is nothing else in it."""
    others = [
        token for token in tokens if token.kind != "text" and not token.says("any", "array", "(", ")", "[", "]", ",")
    ]
    return () if others else tuple(dict.fromkeys(token.value for token in tokens if token.kind == "text"))


def _bound(bounds: Bounds, sign: str, number: Decimal | None, *, is_length: bool) -> None:
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
