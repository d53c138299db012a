"""Reads simple CHECK constraints on single columns: ranges, lengths and lists of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from math import ceil, floor
from typing import Any

from sqlglot import Dialect, TokenType, exp

from pegboard.kinds.table.column_values import DatabaseKind
from pegboard.kinds.table.config import MAX_DIGITS

# The parser needs up to 25 µs per character, and twice the time for each level of nested arrays.
_MAX_CHECK_CHARS = 50_000
_MAX_BRACKET_DEPTH = 12
_BRACKET_STEPS = {TokenType.L_PAREN: 1, TokenType.L_BRACKET: 1, TokenType.R_PAREN: -1, TokenType.R_BRACKET: -1}
_OPERATORS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
_MIRRORED_OPERATORS = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# The bound that a comparison of a column's value sets, and which of two such bounds is the stricter one.
_BOUND_FIELDS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    ">=": ("low", max),
    "<=": ("high", min),
    ">": ("above", max),
    "<": ("below", min),
}
# Casts to these types do not change a value, unless they have a size.
_LOSSLESS_TYPES = frozenset({exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.DECIMAL, exp.DType.DOUBLE})


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


def read_bounds(checks: Iterable[str], columns: Iterable[str], kind: DatabaseKind) -> dict[str, ColumnBounds]:
    """Return the bounds of each column in the checks; conditions that are not simple are ignored."""
    # Unquoted names are case-insensitive; the exact name wins if two columns differ only in case.
    known = {column.lower(): column for column in columns} | {column: column for column in columns}
    found: dict[str, ColumnBounds] = {}
    for check in checks:
        for condition in _iterate_conditions(_parse_check(check, kind)):
            _apply_condition(condition, known, found)
    return found


def _parse_check(text: str, kind: DatabaseKind) -> exp.Expr | None:
    """Return the syntax tree of a CHECK; None if it is too long, too deep or not understood."""
    if len(text) > _MAX_CHECK_CHARS:
        return None
    dialect = Dialect.get_or_raise("postgres" if kind == "postgresql" else kind)
    try:
        tokens = dialect.tokenize(text)
        depths = accumulate(_BRACKET_STEPS.get(token.token_type, 0) for token in tokens)
        if max(depths, default=0) > _MAX_BRACKET_DEPTH:
            return None
        return dialect.parser().parse_into(exp.Condition, tokens, text)[0]
    except Exception:  # for some invalid texts also IndexError, ValueError or RecursionError
        return None


def _iterate_conditions(check: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the conditions joined by AND."""
    waiting = [check] if check is not None else []
    while waiting:
        condition = waiting.pop().unnest()
        if isinstance(condition, exp.And):
            waiting += [condition.right, condition.left]
        elif isinstance(condition, exp.Anonymous) and condition.name.upper() == "CHECK":
            waiting += condition.expressions
        else:
            yield condition


def _apply_condition(condition: exp.Expr, known: dict[str, str], found: dict[str, ColumnBounds]) -> None:
    """Add a condition to the bounds if it is simple."""
    operator = _OPERATORS.get(type(condition))
    subject = _find_column(condition.this, known)
    if subject is None and operator is not None:
        operator, subject = _MIRRORED_OPERATORS[operator], _find_column(condition.expression, known)
        value = condition.this
    else:
        value = condition.args.get("expression")
    if subject is None:
        return
    column, is_length = subject
    bounds = found.setdefault(column, ColumnBounds())
    if operator is not None:
        _apply_bound(bounds, operator, _read_number(value), is_length=is_length)
    elif isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
        _apply_bound(bounds, ">=", _read_number(condition.args["low"]), is_length=is_length)
        _apply_bound(bounds, "<=", _read_number(condition.args["high"]), is_length=is_length)
    elif (values := _read_text_list(condition)) and not is_length:
        bounds.among = values if bounds.among is None else tuple(one for one in bounds.among if one in values)


def _find_column(node: object, known: dict[str, str]) -> tuple[str, bool] | None:
    """Return the column on this side of a comparison, and whether it is its length; None if it is neither."""
    node = _remove_lossless_casts(node)
    is_length = isinstance(node, exp.Length)
    if isinstance(node, exp.Length):
        node = _remove_lossless_casts(node.this)
    if not isinstance(node, exp.Column) or len(node.parts) != 1:
        return None
    name = node.name if node.this.args.get("quoted") else node.name.lower()
    return (known[name], is_length) if name in known else None


def _remove_lossless_casts(node: object) -> object:
    while isinstance(node, exp.Paren) or (
        isinstance(node, exp.Cast) and node.to.this in _LOSSLESS_TYPES and not node.to.expressions
    ):
        node = node.this
    return node


def _remove_casts(node: object) -> object:
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return node


def _read_number(node: object) -> Decimal | None:
    """Return the number on this side of a comparison, or None; PostgreSQL writes negative numbers as texts."""
    node = _remove_casts(node)
    sign = ""
    if isinstance(node, exp.Neg):
        sign, node = "-", _remove_casts(node.this)
    if not isinstance(node, exp.Literal):
        return None
    try:
        number = Decimal(sign + node.name)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < MAX_DIGITS else None


def _read_text_list(condition: exp.Expr) -> tuple[str, ...]:
    """Return the texts of `IN (…)` or `= ANY (ARRAY[…])`; empty if there is anything else."""
    values: object = condition
    if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Any):
        values = _remove_casts(condition.expression.this)
    if not isinstance(values, exp.In | exp.Array):
        return ()
    texts = [_remove_casts(value) for value in values.expressions]
    literals = [text for text in texts if isinstance(text, exp.Literal) and text.is_string]
    return tuple(dict.fromkeys(literal.name for literal in literals)) if len(literals) == len(texts) else ()


def _apply_bound(bounds: ColumnBounds, sign: str, number: Decimal | None, *, is_length: bool) -> None:
    """Narrow the bounds by one comparison; lengths are whole numbers, so that their bounds are inclusive."""
    if number is None or sign not in _BOUND_FIELDS:
        return
    field, stricter = _BOUND_FIELDS[sign]
    bound: Decimal | int = number
    if is_length:
        field = "shortest" if stricter is max else "longest"
        bound = {">": floor(number) + 1, ">=": ceil(number), "<": ceil(number) - 1, "<=": floor(number)}[sign]
    known = getattr(bounds, field)
    setattr(bounds, field, bound if known is None else stricter(known, bound))
