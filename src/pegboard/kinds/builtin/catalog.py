"""The list of all builtin operations."""

from __future__ import annotations

from datetime import UTC, datetime

from pegboard.kinds.builtin.base import Builtin
from pegboard.kinds.builtin.calculate_rsi import CALCULATE_RSI
from pegboard.kinds.builtin.current_time import make_current_time
from pegboard.kinds.builtin.echo import ECHO
from pegboard.kinds.builtin.json_query import JSON_QUERY
from pegboard.kinds.builtin.math_eval import MATH_EVAL

BUILTINS: tuple[Builtin, ...] = (
    MATH_EVAL,
    ECHO,
    CALCULATE_RSI,
    make_current_time(lambda: datetime.now(UTC)),
    JSON_QUERY,
)
