"""Mock tools: fixed answers, for trying an agent before the real tool exists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.call import ReadyCall
from pegboard.core.configs import MockConfig
from pegboard.executors.base import OpenTool, Prepared
from pegboard.telemetry.logs import get_logger, redacted

log = get_logger(__name__)


class MockExecutor:
    """Answers with the first response whose condition fits, else with the tool's `mock_response`."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """The answers, read once."""
        config = MockConfig.model_validate(tool.config)
        name = tool.tool.name

        async def run(call: ReadyCall) -> Any:
            log.info("mock_called", tool=name, run_id=call.run_id, arguments=redacted(call.arguments))
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
    # True equals 1 in Python, never in JSON.
    return bool(whole == part) and isinstance(whole, bool) == isinstance(part, bool)
