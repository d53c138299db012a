"""Shared helpers of tests of math_eval."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pegboard.kinds.builtin.math_eval import math_eval
from pegboard.model.call_errors import ExecutionFailed


def result(expression: str) -> Any:
    return math_eval({"expression": expression})["result"]


def error(expression: Any) -> str:
    with pytest.raises(ExecutionFailed) as caught:
        math_eval({"expression": expression})
    return caught.value.message


def outcome(expression: str) -> str:
    try:
        value = result(expression)
    except ExecutionFailed:
        return "error"
    assert type(value) in (int, float)
    assert math.isfinite(value)
    return "value"
