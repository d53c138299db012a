"""Executor of mock tools: fixed outputs, to test an agent before the real tool exists."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pegboard.kinds.base import OpenTool, Prepared
from pegboard.kinds.mock.config import MockConfig
from pegboard.model.call import ReadyCall
from pegboard.model.json_text import is_json_equal
from pegboard.telemetry.logs import get_logger, redact_secrets

log = get_logger(__name__)
logger = logging.getLogger(__name__)


class MockExecutor:
    """Returns the first response whose condition matches, else the tool's `mock_response`."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """Read the responses once."""
        config = MockConfig.model_validate(tool.config)
        name = tool.tool.name

        async def run(call: ReadyCall) -> Any:
            log.info("mock_called", tool=name, run_id=call.run_id)
            if logger.isEnabledFor(logging.DEBUG):
                log.debug("mock_arguments", tool=name, run_id=call.run_id, arguments=redact_secrets(call.arguments))
            for answer in config.mock_responses:
                if contains_json(call.arguments, answer.when):
                    return answer.respond
            return config.mock_response

        return Prepared(run, instant=True)

    async def close(self) -> None:
        """Do nothing: this executor holds no resources."""


def contains_json(whole: Any, part: Any) -> bool:
    """True if every key of `part`, at any depth, is in `whole` with the same value."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and contains_json(whole[key], part[key]) for key in part)
    return is_json_equal(whole, part)
