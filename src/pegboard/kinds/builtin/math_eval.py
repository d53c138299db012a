"""`math_eval`: a calculator that runs no code.

Integers stay exact in + - * ^ and in divisions without remainder, up to the largest float; all other values are
floats. A result beyond 64 bits is returned as a float, because JSON parsers cannot read it otherwise.
"""

from __future__ import annotations

from typing import Any

from pegboard.kinds.builtin.base import Builtin, read_text_argument
from pegboard.kinds.builtin.math_parser import LISTED_FUNCTIONS, evaluate

MAX_EXPRESSION_LENGTH = 10_000
# Up to this limit, every integer is exact as a float and every integral float is exact.
MAX_EXACT_INTEGER = 2**53


def math_eval(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the value of the expression under `result`, as an integer if it is integral."""
    expression = read_text_argument(arguments, "expression", MAX_EXPRESSION_LENGTH)
    value = evaluate(expression)
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT_INTEGER:
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
        "^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: "
        f"{', '.join(LISTED_FUNCTIONS)}. Angles are in "
        "radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and "
        "numbers are written without thousands separators."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_EXPRESSION_LENGTH,
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
