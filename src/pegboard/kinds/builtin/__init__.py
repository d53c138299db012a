"""Tools that are operations shipped with Pegboard."""

from __future__ import annotations

from pegboard.kinds.base import Executor, KindSpec, Registration
from pegboard.kinds.builtin.config import BuiltinConfig
from pegboard.model.api_errors import Fault


def _check(registration: Registration) -> list[Fault]:
    from pegboard.kinds.builtin.catalog import find_operation_faults  # noqa: PLC0415 -- start-up time

    return find_operation_faults(registration.config)


def _make_executor(_services: object) -> Executor:
    from pegboard.kinds.builtin.catalog import BUILTINS  # noqa: PLC0415 -- start-up time
    from pegboard.kinds.builtin.executor import BuiltinExecutor  # noqa: PLC0415 -- start-up time

    return BuiltinExecutor({builtin.name: builtin for builtin in BUILTINS})


KIND = KindSpec(
    "builtin",
    BuiltinConfig,
    _make_executor,
    is_instant=True,
    has_effects=False,
    presets_field="parameters",
    check=_check,
    purpose="An operation that ships with the board",
    example={
        "name": "short_math",
        "description": "Evaluate an arithmetic expression.",
        "tool_type": "builtin",
        "config": {"operation": "math_eval"},
        "input_schema": {
            "type": "object",
            "properties": {"expression": {"type": "string", "minLength": 1}},
            "required": ["expression"],
        },
    },
)
