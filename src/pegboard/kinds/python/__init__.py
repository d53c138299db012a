"""Tools that are Python functions in the sandbox."""

from __future__ import annotations

from pegboard.kinds.base import Executor, KindSpec, Services
from pegboard.kinds.python.checks import derive_schema, find_code_faults
from pegboard.kinds.python.config import PythonConfig


def _make_executor(services: Services) -> Executor:
    from pegboard.kinds.python.executor import PythonExecutor  # noqa: PLC0415 -- start-up time

    confinement = services.confinement
    return PythonExecutor(confinement.sandbox, confinement.libraries, max_result_bytes=confinement.max_result_bytes)


KIND = KindSpec(
    "python",
    PythonConfig,
    _make_executor,
    default_timeout=10.0,
    warms_up=True,
    runs_own_code=True,
    derive_schema=derive_schema,
    check=find_code_faults,
    purpose="A Python function that runs in the sandbox",
    example={
        "name": "add_tax",
        "description": "Add a tax rate, in per cent, to a price.",
        "tool_type": "python",
        "config": {
            "code": "def add_tax(price: float, rate: float = 19) -> float:\n    return price * (1 + rate / 100)\n"
        },
    },
)
