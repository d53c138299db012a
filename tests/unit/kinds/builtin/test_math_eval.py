"""math_eval: expressions that people and models write."""

from __future__ import annotations

import math

import pytest

from pegboard.kinds.builtin.math_eval import MATH_EVAL
from pegboard.kinds.builtin.math_functions import CONSTANTS, FUNCTIONS
from tests.unit.kinds.builtin.math_cases import result


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+2", 4),
        ("2 + 3 * 4", 14),
        ("10 - 4 - 3", 3),
        ("100 / 10 / 5", 2),
        ("(2 + 3) * 4", 20),
        ("7 / 2", 3.5),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 % 3", 1),
        ("-7 % 3", 2),
        ("7 % (-3)", -2),
        ("+5", 5),
        ("--5", 5),
        ("2 - -3", 5),
        ("1.5e3 + .5 + 5.", 1505.5),
        ("1\n+\t2", 3),
    ],
)
def test_arithmetic(expression: str, value: float) -> None:
    assert result(expression) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2^10", 1024),
        ("2**10", 1024),
        ("-2^2", -4),
        ("(-2)^2", 4),
        ("2^-1", 0.5),
        ("2^3^2", 512),
        ("2**3**2", 512),
        ("2*3^2", 18),
        ("2+3^2", 11),
        ("2^-2^2", 2**-4),
        ("0^0", 1),
        ("4^0.5", 2),
        ("5!", 120),
        ("-3!", -6),
        ("2^3!", 64),
        ("(3!)!", 720),
        ("0!", 1),
    ],
)
def test_powers_and_factorials_bind_as_in_mathematics(expression: str, value: float) -> None:
    assert result(expression) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2pi", 2 * math.pi),
        ("2 PI", 2 * math.pi),
        ("2π", 2 * math.pi),
        ("2(3+4)", 14),
        ("(1+2)(3+4)", 21),
        ("2(3)(4)", 24),
        ("2pi^2", 2 * math.pi**2),
        ("-2pi", -2 * math.pi),
        ("3*2pi", 6 * math.pi),
        ("2sqrt(16)", 8),
        ("2exp(0)", 2),
        ("2pi/4", math.pi / 2),
        ("6 × 7 ÷ 2 − 1", 20),
        ("√(16) · 2", 8),
        ("τ", math.tau),
        ("1\u00a0+\u00a01", 2),
    ],
)
def test_products_without_a_sign_and_typographic_signs_are_understood(expression: str, value: float) -> None:
    assert result(expression) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sqrt(2)", math.sqrt(2)),
        ("SQRT(4)", 2),
        ("cbrt(27)", 3),
        ("cbrt(-2)", math.cbrt(-2)),
        ("abs(-3)", 3),
        ("floor(-1.5)", -2),
        ("ceil(1.2)", 2),
        ("trunc(-1.7)", -1),
        ("sign(-0.5)", -1),
        ("sign(0)", 0),
        ("exp(1)", math.e),
        ("log(e)", 1),
        ("ln(e)", 1),
        ("log(8, 2)", 3),
        ("log(1000, 10)", 3),
        ("log(81, 3)", 4),
        ("log2(8)", 3),
        ("log10(1000)", 3),
        ("sin(pi/2)", 1),
        ("cos(0)", 1),
        ("tan(0)", 0),
        ("asin(1)", math.pi / 2),
        ("acos(1)", 0),
        ("atan(1)", math.pi / 4),
        ("atan2(1, 1)", math.pi / 4),
        ("sinh(0)", 0),
        ("cosh(0)", 1),
        ("tanh(0)", 0),
        ("asinh(0)", 0),
        ("acosh(1)", 0),
        ("atanh(0)", 0),
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 2)", 3),
        ("sum(1, 2, 3)", 6),
        ("mean(1, 2)", 1.5),
        ("pow(2, 10)", 1024),
        ("mod(7, 3)", 1),
        ("gcd(12, 18)", 6),
        ("gcd(12.0, 18)", 6),
        ("lcm(4, 6)", 12),
        ("factorial(5)", 120),
        ("hypot(3, 4)", 5),
        ("degrees(pi)", 180),
        ("radians(180)", math.pi),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(2.4)", 2),
        ("round(2.675, 2)", 2.68),
        ("round(1250, -2)", 1300),
        ("round(1e300)", 1e300),
        ("round(pi, 99)", math.pi),
        ("round(5, -999)", 0),
    ],
)
def test_functions(expression: str, value: float) -> None:
    assert result(expression) == value


def test_every_function_is_named_in_the_description() -> None:
    assert all(name in MATH_EVAL.description for name in [*FUNCTIONS, *CONSTANTS] if name.isascii())


def test_a_whole_result_is_an_integer() -> None:
    for expression in ("2+2", "8/2", "1.5*2", "sqrt(16)", "1e15", "-0.0"):
        assert type(result(expression)) is int
    assert math.copysign(1, result("-0.0")) == 1


def test_a_result_with_a_fraction_is_the_float_that_was_computed() -> None:
    assert result("0.1+0.2") == 0.1 + 0.2


def test_whole_numbers_stay_exact_to_the_last_digit_of_64_bits() -> None:
    assert result("2**53 + 1") == 2**53 + 1
    assert result("9007199254740993") == 9007199254740993
    assert result("2^63 - 1") == 2**63 - 1
    assert result("-2^63") == -(2**63)
    assert result("(2^60 + 2) / 2") == 2**59 + 1
    assert result("100! / 98!") == 9900
    assert result("10^300 + 1 - 10^300") == 1


def test_a_whole_result_beyond_64_bits_is_a_float() -> None:
    assert result("10^20") == 1e20
    assert type(result("2^63")) is float
    assert type(result("-2^63 - 1")) is float
    assert result("170!") == float(math.factorial(170))
