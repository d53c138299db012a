"""calculate_rsi: Wilder's numbers, aligned with the prices they belong to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.builtin.calculate_rsi import calculate_rsi
from pegboard.model.call_errors import ExecutionFailed

# Closing prices of the worked 14-period example that charting sites use, and the RSI they print for it.
PRICES = [
    44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826, 45.8931, 46.0328, 45.6140,
    46.2820, 46.2820, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439, 46.2122, 46.2521, 45.7137, 46.4515, 45.7835, 45.3548,
    44.0288, 44.1783, 44.2181, 44.5672, 43.4205, 42.6628, 43.1314,
]  # fmt: skip
PRINTED = [
    70.53, 66.32, 66.55, 69.41, 66.36, 57.97, 62.93, 63.26, 56.06, 62.38, 54.71, 50.42, 39.99, 41.46, 41.87, 45.46,
    37.30, 33.08, 37.77,
]  # fmt: skip


def error(**arguments: Any) -> str:
    with pytest.raises(ExecutionFailed) as caught:
        calculate_rsi(arguments)
    return caught.value.message


def naive(prices: list[float], period: int, at: int) -> Fraction:
    """Return the RSI at one price, computed from the definition with exact arithmetic."""
    exact = [Fraction(price) for price in prices]
    changes = [exact[day] - exact[day - 1] for day in range(1, at + 1)]
    gains = [change if change > 0 else Fraction(0) for change in changes]
    losses = [-change if change < 0 else Fraction(0) for change in changes]
    gain, loss = sum(gains[:period], Fraction(0)) / period, sum(losses[:period], Fraction(0)) / period
    for day in range(period, at):
        gain = (gain * (period - 1) + gains[day]) / period
        loss = (loss * (period - 1) + losses[day]) / period
    if gain == loss == 0:
        return Fraction(50)
    return 100 * gain / (gain + loss)


def test_the_worked_example_gives_the_printed_numbers() -> None:
    answer = calculate_rsi({"prices": PRICES})
    assert answer["series"][:14] == [None] * 14
    assert answer["series"][14:] == pytest.approx(PRINTED, abs=0.006)
    assert answer["rsi"] == answer["series"][-1]
    assert answer["period"] == 14


def test_nothing_is_rounded() -> None:
    answer = calculate_rsi({"prices": PRICES})
    assert answer["series"][14:] == pytest.approx([float(naive(PRICES, 14, at)) for at in range(14, 33)], rel=1e-12)


@given(st.integers(1, 6), st.lists(st.integers(1, 10_000).map(lambda cents: cents / 100), min_size=7, max_size=30))
def test_any_series_agrees_with_the_definition(period: int, prices: list[float]) -> None:
    answer = calculate_rsi({"prices": prices, "period": period})
    assert len(answer["series"]) == len(prices)
    assert answer["series"][:period] == [None] * period
    expected = [float(naive(prices, period, at)) for at in range(period, len(prices))]
    assert answer["series"][period:] == pytest.approx(expected, abs=1e-6)
    assert all(0 <= value <= 100 for value in answer["series"][period:])


def test_only_rising_is_100_only_falling_is_0_and_flat_is_50() -> None:
    assert calculate_rsi({"prices": [1, 2, 3, 4], "period": 3})["rsi"] == 100
    assert calculate_rsi({"prices": [4, 3, 2, 1], "period": 3})["rsi"] == 0
    assert calculate_rsi({"prices": [2, 2, 2, 2], "period": 3})["rsi"] == 50


def test_thresholds_say_whether_the_last_value_is_overbought_or_oversold() -> None:
    rising, falling = [1, 2, 3, 4], [4, 3, 2, 1]
    assert (calculate_rsi({"prices": rising, "period": 3})["overbought"]) is True
    assert (calculate_rsi({"prices": rising, "period": 3})["oversold"]) is False
    assert (calculate_rsi({"prices": falling, "period": 3})["oversold"]) is True
    worked = calculate_rsi({"prices": PRICES})
    assert (worked["overbought"], worked["oversold"]) == (False, False)
    assert calculate_rsi({"prices": PRICES, "overbought": 37})["overbought"] is True
    assert calculate_rsi({"prices": PRICES, "oversold": 38})["oversold"] is True


def test_the_series_can_be_left_out() -> None:
    assert "series" not in calculate_rsi({"prices": PRICES, "include_series": False})


def test_too_few_prices_are_refused_with_how_many_are_needed_and_how_many_came() -> None:
    assert error(prices=[1, 2, 3]) == (
        "An RSI over 14 periods needs at least 15 prices, but 'prices' holds 3; give more prices or a smaller 'period'"
    )
    assert calculate_rsi({"prices": [1, 2], "period": 1})["rsi"] == 100


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ({"prices": "1,2,3"}, "'prices' must be an array of numbers, oldest first, but is a string"),
        ({}, "but is missing or null"),
        ({"prices": [1, "2", 3], "period": 2}, "the one at index 1 is a string"),
        ({"prices": [1, True, 3], "period": 2}, "the one at index 1 is a boolean"),
        ({"prices": [1, None, 3], "period": 2}, "the one at index 1 is missing or null"),
        ({"prices": [1, float("nan"), 3], "period": 2}, "the one at index 1 is out of range"),
        ({"prices": [1, 10**400, 3], "period": 2}, "the one at index 1 is out of range"),
        ({"prices": [1.0] * 100_001}, "at most 100000 prices, but holds 100001"),
        ({"prices": PRICES, "period": 0}, "'period' must be a whole number of at least 1, but is 0"),
        ({"prices": PRICES, "period": 2.5}, "'period' must be a whole number of at least 1, but is 2.5"),
        ({"prices": PRICES, "period": "14"}, "'period' must be a number, but is a string"),
        ({"prices": PRICES, "period": 10**400}, "'period' must be a finite number"),
        ({"prices": PRICES, "overbought": 20}, "'oversold' must be below 'overbought'"),
        ({"prices": PRICES, "overbought": 101}, "both from 0 to 100"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(arguments: dict[str, Any], received: str) -> None:
    assert received in error(**arguments)


def test_the_largest_series_takes_no_time_and_stays_in_range() -> None:
    prices = [1e300 * (-1) ** day for day in range(100_000)]
    answer = calculate_rsi({"prices": prices, "period": 50_000})
    assert 0 <= answer["rsi"] <= 100
