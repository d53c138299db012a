"""Arithmetic as people and models write it, computed while it is read: a tokenizer and a Pratt parser."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from pegboard.builtins.math_functions import CONSTANTS, FUNCTIONS, LARGEST, OPERATORS, Number, factorial, multiply
from pegboard.core.errors import ExecutionFailed

MAX_DEPTH = 100


class Token(NamedTuple):
    """A piece of the expression and where it starts, counted from 0."""

    kind: Literal["number", "name", "sign", "end"]
    text: str
    at: int


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*|[πτ√])"
    r"|(?P<sign>\*\*|//|[=!<>:]=|\S))",
    re.ASCII,
)
# One character for one, so that positions stay those of the text as written.
_PLAIN = str.maketrans("×·⋅∙∗÷∕−–\u00a0\u2009\u202f", "*****//--   ")

# The functions a reader is told about; √ is only another way to write one.
LISTED = tuple(name for name in FUNCTIONS if name.isascii())

# How tightly an operator binds. An implicit product stands between a product and a sign: 2pi^2 is 2*(pi^2).
_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "//": 20, "%": 20, "^": 40, "**": 40, "!": 50}
_IMPLICIT, _SIGN = 25, 30
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
    """The value of the expression; ExecutionFailed says what is wrong with it, and where."""
    try:
        return _Reader(text).evaluate()
    except RecursionError:
        raise ExecutionFailed("The expression is nested too deeply; split it") from None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.index = 0
        self.depth = 0

    def evaluate(self) -> Number:
        value = self.expression(0, "")
        if self.next.kind != "end":
            raise self.unexpected("expected an operator")
        return value

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def advance(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def expression(self, binding: int, after: str) -> Number:
        """The value of what follows, up to the first operator that binds no tighter than `binding`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _fault(f"Nested deeper than {MAX_DEPTH} levels", self.next.at, "split the expression")
        left = self.operand()
        while True:
            token = self.next
            if self.at_implicit_product():
                if after in _AMBIGUOUS_BEFORE:
                    raise self.unexpected(f"after '{after}' write '*' and parentheses, like 1/(2*pi) or (1/2)*pi")
                if binding >= _IMPLICIT:
                    break
                left = _apply("*", token.at, multiply, left, self.expression(_IMPLICIT, "*"))
            elif token.kind == "sign" and _BINDING.get(token.text, 0) > binding:
                left = self.operator(left)
            else:
                break
        self.depth -= 1
        return left

    def at_implicit_product(self) -> bool:
        token, before = self.next, self.tokens[self.index - 1]
        if token.kind != "name" and token.text != "(":
            return False
        if before.kind == "number" and token.text in ("e", "E") and token.at == before.at + len(before.text):
            raise self.unexpected(f"write {before.text}*e, or {before.text}e3 for {before.text} thousand")
        return before.kind == "number" or before.text == ")"

    def operator(self, left: Number) -> Number:
        token = self.advance()
        name = token.text
        if name == "!":
            if self.next.text == "!":
                raise self.unexpected("write (3!)! for the factorial of a factorial")
            return _apply("factorial", token.at, factorial, left)
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
        right = self.expression(_BINDING[name] - power, name)
        return _apply(name, token.at, OPERATORS[name], left, right)

    def operand(self) -> Number:
        token = self.next
        if token.kind == "number":
            return _literal(self.advance())
        if token.kind == "name":
            return self.named(self.advance())
        if token.text in ("-", "+"):
            self.advance()
            value = self.expression(_SIGN, token.text)
            return -value if token.text == "-" else value
        if token.text == "(":
            self.advance()
            value = self.expression(0, "")
            self.close(token)
            return value
        raise self.unexpected("expected a number, a function or '('")

    def close(self, opened: Token) -> None:
        if self.next.text != ")":
            raise self.unexpected(f"expected an operator or the ')' for position {opened.at + 1}")
        self.advance()

    def named(self, token: Token) -> Number:
        name = token.text.lower()
        if name in CONSTANTS:
            if self.next.text == "(":
                raise self.unexpected(f"'{token.text}' is a constant: write {token.text}*(…)")
            return CONSTANTS[name]
        if name not in FUNCTIONS:
            if self.next.text == ".":
                raise self.unexpected("")
            raise _unknown(token, called=self.next.text == "(")
        opened = self.next
        if opened.text != "(":
            raise self.unexpected(f"'{token.text}' is a function: write {token.text}(…)")
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
            raise _fault(f"'{token.text}' takes {wanted} arguments but got {len(arguments)}", token.at, hint)
        return _apply(name, token.at, compute, *arguments)

    def unexpected(self, hint: str) -> ExecutionFailed:
        token = self.next
        if token.kind == "end":
            return _fault("The expression ends too early", token.at, hint)
        if token.kind == "number" and self.tokens[self.index - 1].kind == "number":
            hint = "expected an operator; numbers have no spaces or separators in them"
        written = self.text[token.at : token.at + min(len(token.text), 40)]
        return _fault(f"Unexpected {written!r}", token.at, _HINTS.get(token.text, hint))


def _fault(what: str, at: int, hint: str) -> ExecutionFailed:
    return ExecutionFailed(f"{what} at position {at + 1}; {hint}")


def _unknown(token: Token, called: bool) -> ExecutionFailed:
    word = token.text[:40]
    if word[0] == "_" and word[1:].isdigit():
        return _fault(f"Unexpected '{word}'", token.at, "write numbers without separators, like 1000")
    close = get_close_matches(word.lower(), FUNCTIONS if called else CONSTANTS, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    if called:
        return _fault(f"Unknown function '{word}'", token.at, f"{hint}available: {', '.join(LISTED)}")
    return _fault(f"Unknown name '{word}'", token.at, f"{hint}constants are pi, e and tau; there are no variables")


def _tokens(text: str) -> list[Token]:
    tokens = []
    at, plain = 0, text.translate(_PLAIN)
    while match := _TOKEN.match(plain, at):
        kind: Any = match.lastgroup
        tokens.append(Token(kind, match[kind], match.start(kind)))
        at = match.end()
    tokens.append(Token("end", "", len(text)))
    return tokens


def _literal(token: Token) -> Number:
    text = token.text
    if not text.isdigit():
        value = float(text)
        if math.isinf(value):
            raise _too_large(token.at)
        return value
    if len(text) > 1 and text[0] == "0":
        raise _fault(f"Unexpected '{text[:40]}'", token.at, "write numbers without leading zeros or separators")
    if len(text) > 309:
        raise _too_large(token.at)
    return _settled(int(text), token.at)


def _too_large(at: int) -> ExecutionFailed:
    return _fault("The value is too large", at, "numbers go up to about 1.8e308")


def _apply(name: str, at: int, compute: Callable[..., Number], *values: Number) -> Number:
    try:
        return _settled(compute(*values), at)
    except ZeroDivisionError:
        raise _fault("Division by zero", at, "change the divisor") from None
    except OverflowError:
        raise _too_large(at) from None
    except TypeError:
        raise _fault(f"{_written(name, values)} is not defined", at, f"'{name}' needs whole numbers") from None
    except ValueError:
        raise _fault(
            f"{_written(name, values)} has no real value", at, "complex and infinite numbers are not supported"
        ) from None


def _written(name: str, values: tuple[Number, ...]) -> str:
    shown = [f"{value:.6g}" if isinstance(value, float) else str(value)[:40] for value in values[:4]]
    return f" {name} ".join(shown) if name in OPERATORS else f"{name}({', '.join(shown)})"


def _settled(value: Number, at: int) -> Number:
    if not -LARGEST <= value <= LARGEST:
        raise _too_large(at)
    return value
