"""Operators, functions and constants of `math_eval` over real numbers.

They raise ValueError if there is no real value, TypeError if integers are required, and OverflowError and
ZeroDivisionError like Python. All are fast for any arguments up to MAX_NUMBER.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

Number = int | float
# The limit for integers, so that every number converts to a float.
MAX_NUMBER = int(sys.float_info.max)
MAX_FACTORIAL = 170
# No number here has digits further from its decimal point.
MAX_DECIMAL_PLACES = 400


class MathFunction(NamedTuple):
    """A function and the number of its arguments; unlimited if `most` is None."""

    compute: Callable[..., Number]
    least: int = 1
    most: int | None = 1


def multiply(a: Number, b: Number) -> Number:
    """Return a times b."""
    return a * b


def divide(a: Number, b: Number) -> Number:
    """Return a divided by b, exact if both are integers and the remainder is zero."""
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return a / b


def power(a: Number, b: Number) -> Number:
    """Return a to the power of b; raise OverflowError before computing a huge result."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and (a.bit_length() - 1) * b >= MAX_NUMBER.bit_length():
        raise OverflowError
    result = a**b
    if isinstance(result, complex):
        raise ValueError
    return result


def cube_root(x: Number) -> Number:
    """Return the cube root of x, exact for cubes of integers."""
    root = math.cbrt(x)
    nearest = round(root)
    return nearest if nearest**3 == x else root


def factorial(n: Number) -> Number:
    """Return the factorial of n."""
    n = _to_integer(n)
    if n > MAX_FACTORIAL:
        raise OverflowError
    return math.factorial(n)


def log(x: Number, base: Number = math.e) -> Number:
    """Return the logarithm, natural if no base is given; exact for powers of 2 and 10."""
    if base == 1:
        raise ValueError
    exact = {math.e: math.log, 2: math.log2, 10: math.log10}.get(base)
    return exact(x) if exact else math.log(x) / math.log(base)


def round_half_up(x: Number, digits: Number = 0) -> Number:
    """Round x to this many decimal places, halves away from zero, by its decimal digits: 2.675 gives 2.68."""
    places = max(-MAX_DECIMAL_PLACES, min(_to_integer(digits), MAX_DECIMAL_PLACES))
    exact = Decimal(x) if isinstance(x, int) else Decimal(repr(x))
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=3 * MAX_DECIMAL_PLACES))
    return int(rounded) if places <= 0 else float(rounded)


def _to_integer(x: Number) -> int:
    if isinstance(x, float) and not x.is_integer():
        raise TypeError
    return int(x)


def _wrap_integer_function(compute: Callable[..., int]) -> Callable[..., Number]:
    return lambda *values: compute(*map(_to_integer, values))


OPERATORS: Mapping[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": multiply,
    "/": divide,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "^": power,
    "**": power,
}

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "π": math.pi, "e": math.e, "tau": math.tau, "τ": math.tau}

FUNCTIONS: Mapping[str, MathFunction] = {
    "sqrt": MathFunction(math.sqrt),
    "√": MathFunction(math.sqrt),
    "cbrt": MathFunction(cube_root),
    "abs": MathFunction(abs),
    "round": MathFunction(round_half_up, 1, 2),
    "floor": MathFunction(math.floor),
    "ceil": MathFunction(math.ceil),
    "trunc": MathFunction(math.trunc),
    "sign": MathFunction(lambda x: (x > 0) - (x < 0)),
    "exp": MathFunction(math.exp),
    "log": MathFunction(log, 1, 2),
    "ln": MathFunction(math.log),
    "log2": MathFunction(math.log2),
    "log10": MathFunction(math.log10),
    "sin": MathFunction(math.sin),
    "cos": MathFunction(math.cos),
    "tan": MathFunction(math.tan),
    "asin": MathFunction(math.asin),
    "acos": MathFunction(math.acos),
    "atan": MathFunction(math.atan),
    "atan2": MathFunction(math.atan2, 2, 2),
    "sinh": MathFunction(math.sinh),
    "cosh": MathFunction(math.cosh),
    "tanh": MathFunction(math.tanh),
    "asinh": MathFunction(math.asinh),
    "acosh": MathFunction(math.acosh),
    "atanh": MathFunction(math.atanh),
    "min": MathFunction(lambda *values: min(values), 1, None),
    "max": MathFunction(lambda *values: max(values), 1, None),
    "sum": MathFunction(lambda *values: sum(values), 1, None),
    "mean": MathFunction(lambda *values: divide(sum(values), len(values)), 1, None),
    "pow": MathFunction(power, 2, 2),
    "mod": MathFunction(OPERATORS["%"], 2, 2),
    "gcd": MathFunction(_wrap_integer_function(math.gcd), 1, None),
    "lcm": MathFunction(_wrap_integer_function(math.lcm), 1, None),
    "factorial": MathFunction(factorial),
    "hypot": MathFunction(math.hypot, 1, None),
    "degrees": MathFunction(math.degrees),
    "radians": MathFunction(math.radians),
}
