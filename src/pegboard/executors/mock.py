"""Mock tools: fixed answers, for trying an agent before the real tool exists."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pegboard.core.call import ReadyCall
from pegboard.core.configs import MockConfig
from pegboard.executors.base import OpenTool, Prepared
from pegboard.telemetry.logs import get_logger, redacted

log = get_logger(__name__)
logger = logging.getLogger(__name__)


class MockExecutor:
    """Answers with the first response whose condition fits, else with the tool's `mock_response`."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """The answers, read once."""
        config = MockConfig.model_validate(tool.config)
        name = tool.tool.name

        async def run(call: ReadyCall) -> Any:
            log.info("mock_called", tool=name, run_id=call.run_id)
            if logger.isEnabledFor(logging.DEBUG):
                log.debug("mock_arguments", tool=name, run_id=call.run_id, arguments=redacted(call.arguments))
            for answer in config.mock_responses:
                if contains(call.arguments, answer.when):
                    return answer.respond
            return config.mock_response

        return Prepared(run, instant=True)

    async def close(self) -> None:
        """Nothing is held."""


def contains(whole: Any, part: Any) -> bool:
    """Whether every key of `part`, at any depth, is in `whole` with the same value."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and contains(whole[key], part[key]) for key in part)
    return _same(whole, part)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    # True equals 1 in Python, never in JSON.
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
