"""Forwards the progress that a server reports of a running call."""

from __future__ import annotations

import math

from pegboard.model.call import OnProgress, Progress
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Longer messages are cut.
MAX_MESSAGE_CHARS = 1000


class McpProgress:
    """Forwards the progress of a call while it runs, but nothing after its result.

    Invalid values are dropped: numbers that are not finite, totals that are not positive. Progress never decreases.
    """

    def __init__(self, to: OnProgress) -> None:
        self.to: OnProgress | None = to
        self._max_progress = -math.inf

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self.to is None:
            return
        if math.isfinite(progress):
            self._max_progress = max(self._max_progress, progress)
        number = self._max_progress if math.isfinite(self._max_progress) else None
        of = total if total is not None and math.isfinite(total) and total > 0 and number is not None else None
        cut = message[:MAX_MESSAGE_CHARS] if message is not None else None
        if number is None and cut is None:
            return
        try:
            self.to(Progress(number, of, cut))
        except Exception as error:
            # Drop a subscriber that raised; the upstream is not affected.
            self.to = None
            log.warning("progress_listener_failed", error=type(error).__name__)
