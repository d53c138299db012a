"""The operations on every board, as one list."""

from __future__ import annotations

from datetime import UTC, datetime

from pegboard.builtins.base import Builtin
from pegboard.builtins.calculate_rsi import CALCULATE_RSI
from pegboard.builtins.current_time import current_time
from pegboard.builtins.echo import ECHO
from pegboard.builtins.json_query import JSON_QUERY
from pegboard.builtins.math_eval import MATH_EVAL

BUILTINS: tuple[Builtin, ...] = (
    MATH_EVAL,
    ECHO,
    CALCULATE_RSI,
    current_time(lambda: datetime.now(UTC)),
    JSON_QUERY,
)
