"""math_eval compared with Python's arithmetic, and with random text."""

from __future__ import annotations

import math

from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.kinds.builtin.math_functions import CONSTANTS, FUNCTIONS
from pegboard.model.call_errors import ExecutionFailed
from tests.unit.kinds.builtin.math_cases import error, outcome, result

words = st.sampled_from([*FUNCTIONS, *CONSTANTS, *"+-*/%^!(),.= ", "**", "//", "1", "2.5", "1e300", "999999999", "of"])


@given(st.text() | st.text("0123456789.+-*/%^!()e ,") | st.lists(words, max_size=40).map("".join))
@example("1\ud800")
@example("2 \u2003 2")
def test_any_text_gives_a_finite_number_or_the_designed_error(text: str) -> None:
    outcome(text)


def extend_expression(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.tuples(inner, st.sampled_from([" + ", " - ", " * ", " / ", " ** ", " // ", "+", "-", "*"]), inner)
    return (
        binary.map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) % ({pair[1]})")
        | inner.map(lambda text: f"({text})")
        | inner.map(lambda text: f"-{text}")
        | inner.map(lambda text: f"+{text}")
    )


floats = st.recursive(
    st.floats(0, 1e6).map(repr) | st.integers(0, 20).map(lambda n: f"{n}.0"), extend_expression, max_leaves=15
)


@given(floats)
def test_floats_agree_with_python(expression: str) -> None:
    try:
        expected = eval(expression)
    except ArithmeticError:
        error(expression)
        return
    if isinstance(expected, complex) or not math.isfinite(expected):
        error(expression)
    else:
        assert result(expression) == expected


def grown_whole(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return (
        st.tuples(inner, st.sampled_from([" + ", " - ", " * ", "*"]), inner).map("".join)
        | st.tuples(inner, st.integers(0, 4)).map(lambda pair: f"({pair[0]}) ** {pair[1]}")
        | inner.map(lambda text: f"({text})")
        | inner.map(lambda text: f"-{text}")
    )


wholes = st.recursive(st.integers(0, 10**20).map(str), grown_whole, max_leaves=12)


@given(wholes)
def test_whole_numbers_agree_with_python_exactly(expression: str) -> None:
    expected = eval(expression)
    try:
        actual = result(expression)
    except ExecutionFailed as refused:
        # An intermediate value was out of range, even if the result is not.
        assert "too large" in refused.message
        assert len(str(eval(expression.replace("-", "+")))) > 300
        return
    assert actual == (expected if -(2**63) <= expected < 2**63 else float(expected))
