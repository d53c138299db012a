"""math_eval: its error messages, and the cost of hostile expressions."""

from __future__ import annotations

import inspect
import math
import sys

import pytest

from pegboard.kinds.builtin.math_eval import math_eval
from pegboard.model.call_errors import ExecutionFailed
from tests.unit.kinds.builtin.math_cases import error, outcome, result


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("2 + x", "Unknown name 'x' at position 5; constants are pi, e and tau; there are no variables"),
        ("2 $ 3", "Unexpected '$' at position 3; write amounts as plain numbers"),
        ("2 ? 3", "Unexpected '?' at position 3; expected an operator"),
        ("2 +", "The expression ends too early at position 4; expected a number, a function or '('"),
        ("", "The expression ends too early at position 1; expected a number, a function or '('"),
        ("   ", "The expression ends too early at position 4; expected a number, a function or '('"),
        ("(1 + 2", "The expression ends too early at position 7; expected an operator or the ')' for position 1"),
        ("1 + 2)", "Unexpected ')' at position 6; expected an operator"),
        ("* 3", "Unexpected '*' at position 1; expected a number, a function or '('"),
        ("2 × × 3", "Unexpected '×' at position 5; expected a number, a function or '('"),
        ("1 / 0", "Division by zero at position 3; change the divisor"),
        ("1 % 0", "Division by zero at position 3; change the divisor"),
        ("0 ^ -1", "Division by zero at position 3; change the divisor"),
        ("1e308 * 10", "The value is too large at position 7; numbers go up to about 1.8e308"),
        ("exp(1000)", "The value is too large at position 1; numbers go up to about 1.8e308"),
        ("sqrt(-1)", "sqrt(-1) has no real value at position 1; complex and infinite numbers are not supported"),
        ("(-8)^0.5", "-8 ^ 0.5 has no real value at position 5; complex and infinite numbers are not supported"),
        ("log(0)", "log(0) has no real value at position 1; complex and infinite numbers are not supported"),
        ("log(5, 1)", "log(5, 1) has no real value at position 1; complex and infinite numbers are not supported"),
        ("2.5!", "factorial(2.5) is not defined at position 4; 'factorial' needs whole numbers"),
        ("3!!", "Unexpected '!' at position 3; write (3!)! for the factorial of a factorial"),
        ("sin 30", "Unexpected '30' at position 5; 'sin' is a function: write sin(…)"),
        ("√16", "Unexpected '16' at position 2; '√' is a function: write √(…)"),
        ("pi(2)", "Unexpected '(' at position 3; 'pi' is a constant: write pi*(…)"),
        ("2e", "Unexpected 'e' at position 2; write 2*e, or 2e3 for 2 thousand"),
        ("max(1,)", "Unexpected ')' at position 7; expected a number, a function or '('"),
        ("5²", "Unexpected '²' at position 2; write ^2"),
    ],
)
def test_an_error_names_the_spot_and_what_to_do(expression: str, message: str) -> None:
    assert error(expression) == message


@pytest.mark.parametrize("expression", ["x = 3", "x := 3", "2+2=", "1 == 1", "1 < 2", "5 != 3", "1 >= 0", "1; 2"])
def test_assignments_comparisons_and_statements_are_refused(expression: str) -> None:
    error(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "'a'",
        '"a" * 9',
        "[1, 2]",
        "max([1, 2])",
        "{1: 2}",
        "lambda: 1",
        "[x for x in (1,)]",
        "__import__('os')",
        "().__class__",
        "math.sqrt(4)",
        "1 if 1 else 2",
        "not 1",
        "1 and 2",
        "1 | 2",
        "~1",
        "0x1F",
        "1j",
        "True",
        "None",
        "inf",
        "nan",
        "eval(1)",
        "print(1)",
    ],
)
def test_code_is_refused(expression: str) -> None:
    error(expression)


@pytest.mark.parametrize("expression", ["1,000", "1,000.50 + 2", "(1,000)", "1 000", "1_000", "1'000", "1.000.000"])
def test_thousands_separators_are_refused_with_a_hint(expression: str) -> None:
    assert "separators" in error(expression)


@pytest.mark.parametrize("expression", ["max(1,000)", "sqrt(1,024)", "sqrt(2,500)"])
def test_thousands_separators_inside_a_function_are_refused_if_they_are_visible(expression: str) -> None:
    assert "separators" in error(expression)


@pytest.mark.parametrize("expression", ["50%", "50% of 200", "200 * 10% * 5", "100 + 10% + 5", "(50%)", "50% - 1"])
def test_a_percentage_is_refused_with_a_hint(expression: str) -> None:
    assert "is modulo and needs a number after it; for a percentage write 50/100" in error(expression)


@pytest.mark.parametrize("expression", ["1/2pi", "6/2(1+2)", "2^3pi", "2^-3pi", "7 % 2(3)", "1/(2)(3)"])
def test_an_implicit_product_that_can_be_read_two_ways_is_refused(expression: str) -> None:
    assert "write '*' and parentheses" in error(expression)


def test_an_unknown_function_is_answered_with_the_nearest_and_the_list() -> None:
    message = error("1 + squrt(4)")
    assert message.startswith("Unknown function 'squrt' at position 5; did you mean 'sqrt'? available: sqrt, cbrt, abs")


@pytest.mark.parametrize(
    ("expression", "wanted"), [("sqrt()", "1 arguments but got 0"), ("log(1, 2, 3)", "1 to 2"), ("max()", "1 or more")]
)
def test_a_wrong_number_of_arguments_is_reported(expression: str, wanted: str) -> None:
    assert wanted in error(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9**9",
        "9^9^9",
        "2^(10^300)",
        "10^308 * 10^308",
        "factorial(10**9)",
        "171!",
        "((170!)!)!",
        "2^1023 + (2^1023 - 1)",
        "(" * 10_000,
        "(" * 5_000 + "1" + ")" * 4_999,
        "-" * 9_999 + "1",
        "2^" * 4_999 + "2",
        "sqrt(" * 1_666,
        "2(" * 4_999,
        "9" * 10_000,
        "9" * 5_000 + "*" + "9" * 4_999,
        "1e999999999",
        "a" * 10_000,
        "lcm(" + ",".join(str(10**300 + number) for number in range(30)) + ")",
        "\x00",
        "1 + \x00",
        "\ud800",
    ],
)
def test_hostile_text_ends_in_an_error(expression: str) -> None:
    assert len(error(expression)) < 500


@pytest.mark.parametrize("expression", ["+".join(["1"] * 5_000), "150!+" * 1_999 + "1", "-".join(["2(3)"] * 1_999)])
def test_long_but_flat_expressions_are_computed(expression: str) -> None:
    assert math.isfinite(result(expression))


def test_the_power_of_one_may_have_any_exponent() -> None:
    assert result("1^(10^300)") == 1
    assert result("(-1)^(10^300 + 1)") == -1
    assert result("0^(10^300)") == 0


def test_an_expression_that_is_too_long_or_no_text_is_refused() -> None:
    assert error("1" * 10_001) == "'expression' may have at most 10000 characters, but has 10001"
    assert error(5) == "'expression' must be a string, but is a number"
    with pytest.raises(ExecutionFailed, match="'expression' must be a string, but is missing or null"):
        math_eval({})


def test_a_caller_deep_in_the_stack_gets_the_designed_error() -> None:
    def at_depth(levels: int) -> str:
        return at_depth(levels - 1) if levels else outcome("(" * 90 + "1" + ")" * 90)

    assert outcome("(" * 90 + "1" + ")" * 90) == "value"
    used = len(inspect.stack(0))
    assert at_depth(sys.getrecursionlimit() - used - 100) == "error"
