"""`calculate_rsi`: the relative strength index of a price series, with Wilder's smoothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pegboard.kinds.builtin.base import Builtin, describe_type, is_number, read_number_argument
from pegboard.model.call_errors import ExecutionFailed

MAX_PRICES = 100_000
# Far above any price, and small enough that no difference or sum of prices overflows.
MAX_PRICE = 1e300


def compute_rsi_series(prices: Sequence[float], period: int) -> list[float | None]:
    """Return one RSI per price; None for the first `period` prices, which only initialise the averages."""
    changes = [after - before for before, after in pairwise(prices)]
    gain = sum(max(change, 0.0) for change in changes[:period]) / period
    loss = sum(max(-change, 0.0) for change in changes[:period]) / period
    series = [*[None] * period, _compute_rsi(gain, loss)]
    for change in changes[period:]:
        gain = (gain * (period - 1) + max(change, 0.0)) / period
        loss = (loss * (period - 1) + max(-change, 0.0)) / period
        series.append(_compute_rsi(gain, loss))
    return series


def _compute_rsi(gain: float, loss: float) -> float:
    if loss == 0:
        return 100.0 if gain else 50.0
    return 100 - 100 / (1 + gain / loss)


def calculate_rsi(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the last RSI, whether it is past a threshold, and the series."""
    period = _read_period(arguments)
    overbought = read_number_argument(arguments, "overbought", 70)
    oversold = read_number_argument(arguments, "oversold", 30)
    if not 0 <= oversold < overbought <= 100:
        raise ExecutionFailed(
            "'oversold' must be below 'overbought', both from 0 to 100, "
            f"but they are {oversold:g} and {overbought:g}; the usual values are 30 and 70"
        )
    prices = _read_prices(arguments, period)
    series = compute_rsi_series(prices, period)
    last = series[-1]
    assert last is not None
    result: dict[str, Any] = {
        "rsi": last,
        "overbought": last >= overbought,
        "oversold": last <= oversold,
        "period": period,
    }
    if arguments.get("include_series", True):
        result["series"] = series
    return result


def _read_period(arguments: dict[str, Any]) -> int:
    period = read_number_argument(arguments, "period", 14)
    if not period.is_integer() or period < 1:
        raise ExecutionFailed(f"'period' must be a whole number of at least 1, but is {period:g}; 14 is usual")
    return int(period)


def _read_prices(arguments: dict[str, Any], period: int) -> list[float]:
    prices = arguments.get("prices")
    if not isinstance(prices, list):
        raise ExecutionFailed(f"'prices' must be an array of numbers, oldest first, but is {describe_type(prices)}")
    if len(prices) > MAX_PRICES:
        raise ExecutionFailed(f"'prices' may hold at most {MAX_PRICES} prices, but holds {len(prices)}")
    if len(prices) <= period:
        raise ExecutionFailed(
            f"An RSI over {period} periods needs at least {period + 1} prices, but 'prices' holds {len(prices)}; "
            "give more prices or a smaller 'period'"
        )
    for index, price in enumerate(prices):
        if not is_number(price) or not -MAX_PRICE <= price <= MAX_PRICE:
            what = describe_type(price) if not is_number(price) else "out of range"
            raise ExecutionFailed(f"'prices' must hold numbers only, but the one at index {index} is {what}")
    return [float(price) for price in prices]


CALCULATE_RSI = Builtin(
    name="calculate_rsi",
    display_name="Calculate RSI",
    description=(
        "Calculates the relative strength index (RSI) of a series of prices, with Wilder's smoothing, and says whether "
        "the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; "
        "around 100 or more make the smoothing settle. It fetches no prices: you must have them already."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "prices": {
                "type": "array",
                "items": {"type": "number", "minimum": -MAX_PRICE, "maximum": MAX_PRICE},
                "minItems": 2,
                "maxItems": MAX_PRICES,
                "description": "Closing prices, oldest first; at least period + 1.",
                "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]],
            },
            "period": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_PRICES - 1,
                "default": 14,
                "description": "How many price changes are averaged; 14 is usual.",
            },
            "overbought": {
                "type": "number",
                "minimum": 0,
                "maximum": 100,
                "default": 70,
                "description": "The RSI from which on the answer's `overbought` is true.",
            },
            "oversold": {
                "type": "number",
                "minimum": 0,
                "maximum": 100,
                "default": 30,
                "description": "The RSI down from which the answer's `oversold` is true.",
            },
            "include_series": {
                "type": "boolean",
                "default": True,
                "description": "false leaves `series` out of the answer: shorter when only the last value matters.",
            },
        },
        "required": ["prices"],
        "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}],
    },
    output_schema={
        "type": "object",
        "properties": {
            "rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."},
            "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."},
            "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."},
            "period": {"type": "integer", "description": "The period that was used."},
            "series": {
                "type": "array",
                "items": {"type": ["number", "null"]},
                "description": "The RSI at every price, as many as `prices`; null for the first `period` of them.",
            },
        },
        "required": ["rsi", "overbought", "oversold", "period"],
    },
    run=calculate_rsi,
)
