"""Numbers as columns keep them: every digit of the JSON text, or a refusal that says how many there may be."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from pegboard.executors.table.facts import Column
from pegboard.executors.table.refusing import Refused

LOWEST, HIGHEST = -(2**63), 2**63 - 1
# What PostgreSQL's numeric holds at most; a number of more digits would take long to write down anywhere.
_MOST_WHOLE, _MOST_PLACES = 131_072, 16_383
_LONG = 30


class _Digits(NamedTuple):
    number: Decimal
    significant: int
    places: int


class _Float(NamedTuple):
    """How many digits every such number keeps, and between which sizes."""

    digits: int
    smallest: Decimal
    largest: Decimal


_DOUBLE = _Float(15, Decimal("2.23E-308"), Decimal("1.79E+308"))
_REAL = _Float(6, Decimal("1.18E-38"), Decimal("3.4E+38"))


def integer(column: Column) -> Callable[[Any], int]:
    """Whole numbers within the column's range."""
    low = LOWEST if column.low is None else column.low
    high = HIGHEST if column.high is None else column.high
    words = f"between {low} and {high}"

    def bind(value: Any) -> int:
        if low <= value <= high:
            return int(value)
        code = "too_big" if value > high else "too_small"
        raise Refused(code, f"must be an integer {words}", f"integer {words}")

    return bind


def exact(column: Column) -> Callable[[Any], Decimal]:
    """Decimals that the column's precision and scale hold without rounding."""
    scale = column.scale
    limit = None
    if column.precision is not None:
        limit = Decimal(1).scaleb(column.precision - (scale or 0))
    shown = f"{limit:f}" if limit is not None and -_LONG < limit.adjusted() < _LONG else str(limit)

    def bind(value: Any) -> Decimal:
        number, _, places = _digits(value)
        if scale is not None and places > scale:
            raise _too_many_places(scale)
        # abs() would round.
        if limit is not None and number.copy_abs() >= limit:
            code, words = ("too_big", f"less than {shown}") if number > 0 else ("too_small", f"more than -{shown}")
            raise Refused(code, f"must be {words}", f"number {words}")
        return number

    return bind


def floating(column: Column) -> Callable[[Any], float]:
    """Floats, where all digits of the number survive in one."""
    is_real = column.type.lower() in {"real", "float4"}
    return lambda value: _float(_digits(value), _REAL if is_real else _DOUBLE, keeps=not is_real)


def sqlite_number(column: Column) -> Callable[[Any], int | float]:
    """What SQLite keeps whole: integers of 64 bits, and fractions of 15 digits."""
    check = exact(column)

    def bind(value: Any) -> int | float:
        digits = _digits(check(value))
        if digits.places <= 0 and LOWEST <= digits.number <= HIGHEST:
            return int(digits.number)
        return _float(digits, _DOUBLE)

    return bind


def sqlite_float(_column: Column) -> Callable[[Any], float]:
    """Floats of 15 digits; what SQLite calls REAL has as many bits as any."""
    return lambda value: _float(_digits(value), _DOUBLE)


def sqlite_digits(_column: Column) -> Callable[[Any], str]:
    """The digits themselves, for a column of text."""
    return lambda value: f"{_digits(value).number:f}"


def _digits(value: Any) -> _Digits:
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or number.adjusted() >= _MOST_WHOLE or -exponent > _MOST_PLACES:
        words = f"number of at most {_MOST_WHOLE} digits before the point and {_MOST_PLACES} after it"
        raise Refused("too_big", f"must be a {words}", words)
    if not number:
        return _Digits(number, 0, -_MOST_WHOLE)
    significant = len(digits)
    while digits[significant - 1] == 0:
        significant -= 1
    return _Digits(number, significant, significant - len(digits) - exponent)


def _float(digits: _Digits, kind: _Float, *, keeps: bool = False) -> float:
    size = digits.number.copy_abs()
    if size > kind.largest:
        raise Refused("too_big", f"must be a number up to {kind.largest}", f"number up to {kind.largest}")
    if 0 < size < kind.smallest:
        words = f"number of at least {kind.smallest}, or 0"
        raise Refused("too_small", f"must be a {words}", words)
    number = float(digits.number)
    if digits.significant <= kind.digits or (keeps and Decimal(repr(number)) == digits.number):
        return number
    words = f"number of at most {kind.digits} significant digits"
    raise Refused("custom", f"must be a {words}, since its column keeps no more", words)


def _too_many_places(scale: int) -> Refused:
    if scale <= 0:
        step = f"{Decimal(1).scaleb(-scale):f}"
        words = "whole number" if scale == 0 else f"multiple of {step}"
        return Refused("not_multiple_of", f"must be a {words}", words)
    places = f"{scale} decimal place{'s' if scale > 1 else ''}"
    return Refused("not_multiple_of", f"must be a number with max {places}", f"number with at most {places}")
