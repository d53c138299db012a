"""Tools with fixed outputs."""

from __future__ import annotations

from pegboard.kinds.base import Executor, KindSpec
from pegboard.kinds.mock.config import MockConfig


def _make_executor(_services: object) -> Executor:
    from pegboard.kinds.mock.executor import MockExecutor  # noqa: PLC0415 -- start-up time

    return MockExecutor()


KIND = KindSpec("mock", MockConfig, _make_executor, is_instant=True, has_effects=False)
