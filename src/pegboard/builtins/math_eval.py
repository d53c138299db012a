"""`math_eval`: a calculator that runs no code.

Whole numbers stay exact through + - * ^ and divisions without remainder, up to the largest float; everything else is a
float. An answer beyond 64 bits is given as a float, since JSON's readers cannot take it otherwise.
"""

from __future__ import annotations

from typing import Any

from pegboard.builtins.base import Builtin, text_of
from pegboard.builtins.math_parser import LISTED, evaluate

MAX_LENGTH = 10_000
# Up to here every whole number is a float, and every float without a fraction is that whole number.
EXACT = 2**53


def math_eval(arguments: dict[str, Any]) -> dict[str, Any]:
    """The value of the expression under `result`, an integer where it is one."""
    expression = text_of(arguments, "expression", MAX_LENGTH)
    value = evaluate(expression)
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return {"result": int(value)}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return {"result": float(value)}
    return {"result": value}


MATH_EVAL = Builtin(
    name="math_eval",
    display_name="Calculator",
    description=(
        "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental "
        "arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) "
        f"^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: {', '.join(LISTED)}. Angles are in "
        "radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and "
        "numbers are written without thousands separators."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_LENGTH,
                "description": "The expression to evaluate.",
                "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"],
            }
        },
        "required": ["expression"],
        "examples": [{"expression": "(1 + 0.05)^10 * 1000"}],
    },
    output_schema={
        "type": "object",
        "properties": {
            "result": {
                "type": "number",
                "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number.",
            }
        },
        "required": ["result"],
    },
    run=math_eval,
)
