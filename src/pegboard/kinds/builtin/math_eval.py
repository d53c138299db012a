"""`math_eval`: a calculator that runs no code.

Integers stay exact in + - * ^ and in divisions without remainder, up to the largest float; all other values are
floats. A result beyond 64 bits is returned as a float, because JSON parsers cannot read it otherwise. Expressions are
parsed and evaluated in one pass, by a tokenizer and a Pratt parser. Not simpleeval: it reads Python, so not `2pi` or
`5!`, and its errors do not say where the fault is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from pegboard.kinds.builtin.base import Builtin, read_text_argument
from pegboard.kinds.builtin.math_functions import (
    CONSTANTS,
    FUNCTIONS,
    MAX_NUMBER,
    OPERATORS,
    Number,
    factorial,
    multiply,
)
from pegboard.model.call_errors import ExecutionFailed

MAX_DEPTH = 100


class MathToken(NamedTuple):
    """A token of the expression and its position, counted from 0."""

    kind: Literal["number", "name", "sign", "end"]
    text: str
    at: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*|[πτ√])"
    r"|(?P<sign>\*\*|//|[=!<>:]=|\S))",
    re.ASCII,
)
# One character replaces one, so that positions stay valid for the original text.
_SIGN_REPLACEMENTS = str.maketrans("×·⋅∙∗÷∕−–\u00a0\u2009\u202f", "*****//--   ")

# The functions in the tool's description; √ is only an alias.
LISTED_FUNCTIONS = tuple(name for name in FUNCTIONS if name.isascii())

# Binding powers. An implicit product is between a product and a sign: 2pi^2 is 2*(pi^2).
_PRECEDENCE = {"+": 10, "-": 10, "*": 20, "/": 20, "//": 20, "%": 20, "^": 40, "**": 40, "!": 50}
_IMPLICIT_PRECEDENCE, _SIGN_PRECEDENCE = 25, 30
_AMBIGUOUS_BEFORE = {"/", "//", "%", "^", "**"}

_HINTS = {
    ",": "write numbers like 1000 or 3.14, without separators; commas only separate the arguments of a function",
    "=": "give one expression to evaluate, without assignment",
    ":=": "give one expression to evaluate, without assignment",
    ".": "write functions and constants by their own name, like sqrt(2) or pi",
    "[": "lists are not supported; give the numbers as arguments, like max(1, 2, 3)",
    ";": "give one expression at a time",
    "²": "write ^2",
    "³": "write ^3",
    "'": "text is not supported, and numbers have no separators",
    '"': "text is not supported",
    "$": "write amounts as plain numbers",
    "€": "write amounts as plain numbers",
} | dict.fromkeys(("<", ">", "==", "!=", "<=", ">="), "comparisons are not supported")


def evaluate(text: str) -> Number:
    """Return the value of the expression; raise ExecutionFailed with the cause and the position."""
    try:
        return _ExpressionReader(text).evaluate()
    except RecursionError:
        raise ExecutionFailed("The expression is nested too deeply; split it") from None


class _ExpressionReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokenize(text)
        self.index = 0
        self.depth = 0

    def evaluate(self) -> Number:
        value = self.expression(0, "")
        if self.next.kind != "end":
            raise self.build_unexpected_error("expected an operator")
        return value

    @property
    def next(self) -> MathToken:
        return self.tokens[self.index]

    def advance(self) -> MathToken:
        self.index += 1
        return self.tokens[self.index - 1]

    def expression(self, binding: int, after: str) -> Number:
        """Evaluate up to the first operator that binds no tighter than `binding`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _build_error(f"Nested deeper than {MAX_DEPTH} levels", self.next.at, "split the expression")
        left = self.operand()
        while True:
            token = self.next
            if self.is_at_implicit_product():
                if after in _AMBIGUOUS_BEFORE:
                    raise self.build_unexpected_error(
                        f"after '{after}' write '*' and parentheses, like 1/(2*pi) or (1/2)*pi"
                    )
                if binding >= _IMPLICIT_PRECEDENCE:
                    break
                left = _apply_function("*", token.at, multiply, left, self.expression(_IMPLICIT_PRECEDENCE, "*"))
            elif token.kind == "sign" and _PRECEDENCE.get(token.text, 0) > binding:
                left = self.operator(left)
            else:
                break
        self.depth -= 1
        return left

    def is_at_implicit_product(self) -> bool:
        token, before = self.next, self.tokens[self.index - 1]
        if token.kind != "name" and token.text != "(":
            return False
        if before.kind == "number" and token.text in ("e", "E") and token.at == before.at + len(before.text):
            raise self.build_unexpected_error(f"write {before.text}*e, or {before.text}e3 for {before.text} thousand")
        return before.kind == "number" or before.text == ")"

    def operator(self, left: Number) -> Number:
        token = self.advance()
        name = token.text
        if name == "!":
            if self.next.text == "!":
                raise self.build_unexpected_error("write (3!)! for the factorial of a factorial")
            return _apply_function("factorial", token.at, factorial, left)
        following = self.next
        if name == "%" and (
            following.kind == "end"
            or (following.kind == "sign" and following.text != "(")
            or following.text.lower() == "of"
        ):
            raise ExecutionFailed(
                f"'%' at position {token.at + 1} is modulo and needs a number after it; "
                "for a percentage write 50/100, for a signed divisor 7 % (-3)"
            )
        power = name in ("^", "**")
        right = self.expression(_PRECEDENCE[name] - power, name)
        return _apply_function(name, token.at, OPERATORS[name], left, right)

    def operand(self) -> Number:
        token = self.next
        if token.kind == "number":
            return _read_number_literal(self.advance())
        if token.kind == "name":
            return self.evaluate_name(self.advance())
        if token.text in ("-", "+"):
            self.advance()
            value = self.expression(_SIGN_PRECEDENCE, token.text)
            return -value if token.text == "-" else value
        if token.text == "(":
            self.advance()
            value = self.expression(0, "")
            self.close(token)
            return value
        raise self.build_unexpected_error("expected a number, a function or '('")

    def close(self, opened: MathToken) -> None:
        if self.next.text != ")":
            raise self.build_unexpected_error(f"expected an operator or the ')' for position {opened.at + 1}")
        self.advance()

    def evaluate_name(self, token: MathToken) -> Number:
        name = token.text.lower()
        if name in CONSTANTS:
            if self.next.text == "(":
                raise self.build_unexpected_error(f"'{token.text}' is a constant: write {token.text}*(…)")
            return CONSTANTS[name]
        if name not in FUNCTIONS:
            if self.next.text == ".":
                raise self.build_unexpected_error("")
            raise _build_unknown_name_error(token, called=self.next.text == "(")
        opened = self.next
        if opened.text != "(":
            raise self.build_unexpected_error(f"'{token.text}' is a function: write {token.text}(…)")
        self.advance()
        arguments: list[Number] = []
        while self.next.text != ")" or arguments:
            arguments.append(self.expression(0, ""))
            if self.next.text != ",":
                break
            self.advance()
        self.close(opened)
        compute, least, most = FUNCTIONS[name]
        if len(arguments) < least or (most is not None and len(arguments) > most):
            wanted = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
            hint = "separate them with commas, and write numbers without thousands separators"
            raise _build_error(f"'{token.text}' takes {wanted} arguments but got {len(arguments)}", token.at, hint)
        return _apply_function(name, token.at, compute, *arguments)

    def build_unexpected_error(self, hint: str) -> ExecutionFailed:
        token = self.next
        if token.kind == "end":
            return _build_error("The expression ends too early", token.at, hint)
        if token.kind == "number" and self.tokens[self.index - 1].kind == "number":
            hint = "expected an operator; numbers have no spaces or separators in them"
        written = self.text[token.at : token.at + min(len(token.text), 40)]
        return _build_error(f"Unexpected {written!r}", token.at, _HINTS.get(token.text, hint))


def _build_error(what: str, at: int, hint: str) -> ExecutionFailed:
    return ExecutionFailed(f"{what} at position {at + 1}; {hint}")


def _build_unknown_name_error(token: MathToken, called: bool) -> ExecutionFailed:
    word = token.text[:40]
    if word[0] == "_" and word[1:].isdigit():
        return _build_error(f"Unexpected '{word}'", token.at, "write numbers without separators, like 1000")
    close = get_close_matches(word.lower(), FUNCTIONS if called else CONSTANTS, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    if called:
        return _build_error(f"Unknown function '{word}'", token.at, f"{hint}available: {', '.join(LISTED_FUNCTIONS)}")
    return _build_error(
        f"Unknown name '{word}'", token.at, f"{hint}constants are pi, e and tau; there are no variables"
    )


def _tokenize(text: str) -> list[MathToken]:
    tokens = []
    at, plain = 0, text.translate(_SIGN_REPLACEMENTS)
    while match := _TOKEN.match(plain, at):
        kind: Any = match.lastgroup
        tokens.append(MathToken(kind, match[kind], match.start(kind)))
        at = match.end()
    tokens.append(MathToken("end", "", len(text)))
    return tokens


def _read_number_literal(token: MathToken) -> Number:
    text = token.text
    if not text.isdigit():
        value = float(text)
        if math.isinf(value):
            raise _build_too_large_error(token.at)
        return value
    if len(text) > 1 and text[0] == "0":
        raise _build_error(f"Unexpected '{text[:40]}'", token.at, "write numbers without leading zeros or separators")
    if len(text) > 309:
        raise _build_too_large_error(token.at)
    return _check_range(int(text), token.at)


def _build_too_large_error(at: int) -> ExecutionFailed:
    return _build_error("The value is too large", at, "numbers go up to about 1.8e308")


def _apply_function(name: str, at: int, compute: Callable[..., Number], *values: Number) -> Number:
    try:
        return _check_range(compute(*values), at)
    except ZeroDivisionError:
        raise _build_error("Division by zero", at, "change the divisor") from None
    except OverflowError:
        raise _build_too_large_error(at) from None
    except TypeError:
        raise _build_error(
            f"{_format_call(name, values)} is not defined", at, f"'{name}' needs whole numbers"
        ) from None
    except ValueError:
        raise _build_error(
            f"{_format_call(name, values)} has no real value", at, "complex and infinite numbers are not supported"
        ) from None


def _format_call(name: str, values: tuple[Number, ...]) -> str:
    shown = [f"{value:.6g}" if isinstance(value, float) else str(value)[:40] for value in values[:4]]
    return f" {name} ".join(shown) if name in OPERATORS else f"{name}({', '.join(shown)})"


def _check_range(value: Number, at: int) -> Number:
    if not -MAX_NUMBER <= value <= MAX_NUMBER:
        raise _build_too_large_error(at)
    return value


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
