"""Tools with fixed outputs."""

from __future__ import annotations

from pegboard.kinds.base import Executor, KindSpec
from pegboard.kinds.mock.config import MockConfig


def _make_executor(_services: object) -> Executor:
    from pegboard.kinds.mock.executor import MockExecutor  # noqa: PLC0415 -- start-up time

    return MockExecutor()


KIND = KindSpec(
    "mock",
    MockConfig,
    _make_executor,
    is_instant=True,
    has_effects=False,
    purpose="A fixed output, or one that depends on the arguments; for tests",
    example={
        "name": "fake_weather",
        "description": "Weather that is always the same.",
        "tool_type": "mock",
        "config": {"mock_response": {"temperature": 21, "condition": "sunny"}},
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
)
