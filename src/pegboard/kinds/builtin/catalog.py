"""The list of all builtin operations."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime

from pegboard.json_schema.value_text import shorten
from pegboard.kinds.builtin.base import Builtin
from pegboard.kinds.builtin.calculate_rsi import CALCULATE_RSI
from pegboard.kinds.builtin.config import BuiltinConfig
from pegboard.kinds.builtin.current_time import make_current_time
from pegboard.kinds.builtin.echo import ECHO
from pegboard.kinds.builtin.json_query import JSON_QUERY
from pegboard.kinds.builtin.math_eval import MATH_EVAL
from pegboard.model.api_errors import Fault

BUILTINS: tuple[Builtin, ...] = (
    MATH_EVAL,
    ECHO,
    CALCULATE_RSI,
    make_current_time(lambda: datetime.now(UTC)),
    JSON_QUERY,
)


def find_operation_faults(config: BuiltinConfig) -> list[Fault]:
    """Return a fault if the operation looks like a misspelt builtin.

    Other unknown operations are accepted: an installed executor may provide them, and otherwise the call fails.
    """
    known = [builtin.name for builtin in BUILTINS]
    near = difflib.get_close_matches(config.operation, known, 1)
    if config.operation in known or not near:
        return []
    return [
        Fault("config.operation", f"Builtin handler '{shorten(config.operation)}' not found; did you mean '{near[0]}'?")
    ]
