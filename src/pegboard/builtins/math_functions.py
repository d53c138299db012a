"""What `math_eval` can compute: operators, functions and constants over real numbers.

They raise ValueError where there is no real value, TypeError where whole numbers are needed, OverflowError and
ZeroDivisionError as Python does. None of them takes long, whatever it is given up to LARGEST.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

Number = int | float
# As far as whole numbers go: then every number converts to a float.
LARGEST = int(sys.float_info.max)
MAX_FACTORIAL = 170
# No number here has digits further from its decimal point.
MAX_PLACES = 400


class Function(NamedTuple):
    """A function and how many arguments it takes; any number from `least` on where `most` is None."""

    compute: Callable[..., Number]
    least: int = 1
    most: int | None = 1


def multiply(a: Number, b: Number) -> Number:
    """a times b."""
    return a * b


def divide(a: Number, b: Number) -> Number:
    """a by b, exact where both are whole and nothing remains."""
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return a / b


def power(a: Number, b: Number) -> Number:
    """a to the power of b, refused before it is computed where it would be huge."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and (a.bit_length() - 1) * b >= LARGEST.bit_length():
        raise OverflowError
    result = a**b
    if isinstance(result, complex):
        raise ValueError
    return result


def cube_root(x: Number) -> Number:
    """The number whose cube is x, exact for the cubes of whole numbers."""
    root = math.cbrt(x)
    nearest = round(root)
    return nearest if nearest**3 == x else root


def factorial(n: Number) -> Number:
    """The product of the whole numbers up to n."""
    n = _whole(n)
    if n > MAX_FACTORIAL:
        raise OverflowError
    return math.factorial(n)


def log(x: Number, base: Number = math.e) -> Number:
    """The logarithm, natural unless a base is given; exact for powers of 2 and 10."""
    if base == 1:
        raise ValueError
    exact = {math.e: math.log, 2: math.log2, 10: math.log10}.get(base)
    return exact(x) if exact else math.log(x) / math.log(base)


def round_half_up(x: Number, digits: Number = 0) -> Number:
    """x to that many decimal digits, halves away from zero, as its digits read: 2.675 gives 2.68."""
    places = max(-MAX_PLACES, min(_whole(digits), MAX_PLACES))
    exact = Decimal(x) if isinstance(x, int) else Decimal(repr(x))
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=3 * MAX_PLACES))
    return int(rounded) if places <= 0 else float(rounded)


def _whole(x: Number) -> int:
    if isinstance(x, float) and not x.is_integer():
        raise TypeError
    return int(x)


def _of_whole(compute: Callable[..., int]) -> Callable[..., Number]:
    return lambda *values: compute(*map(_whole, values))


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

FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function(math.sqrt),
    "√": Function(math.sqrt),
    "cbrt": Function(cube_root),
    "abs": Function(abs),
    "round": Function(round_half_up, 1, 2),
    "floor": Function(math.floor),
    "ceil": Function(math.ceil),
    "trunc": Function(math.trunc),
    "sign": Function(lambda x: (x > 0) - (x < 0)),
    "exp": Function(math.exp),
    "log": Function(log, 1, 2),
    "ln": Function(math.log),
    "log2": Function(math.log2),
    "log10": Function(math.log10),
    "sin": Function(math.sin),
    "cos": Function(math.cos),
    "tan": Function(math.tan),
    "asin": Function(math.asin),
    "acos": Function(math.acos),
    "atan": Function(math.atan),
    "atan2": Function(math.atan2, 2, 2),
    "sinh": Function(math.sinh),
    "cosh": Function(math.cosh),
    "tanh": Function(math.tanh),
    "asinh": Function(math.asinh),
    "acosh": Function(math.acosh),
    "atanh": Function(math.atanh),
    "min": Function(lambda *values: min(values), 1, None),
    "max": Function(lambda *values: max(values), 1, None),
    "sum": Function(lambda *values: sum(values), 1, None),
    "mean": Function(lambda *values: divide(sum(values), len(values)), 1, None),
    "pow": Function(power, 2, 2),
    "mod": Function(OPERATORS["%"], 2, 2),
    "gcd": Function(_of_whole(math.gcd), 1, None),
    "lcm": Function(_of_whole(math.lcm), 1, None),
    "factorial": Function(factorial),
    "hypot": Function(math.hypot, 1, None),
    "degrees": Function(math.degrees),
    "radians": Function(math.radians),
}
