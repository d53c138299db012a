"""How far an upstream's tool has come, passed on to whoever called it."""

from __future__ import annotations

import math

from pegboard.core.call import OnProgress, Progress
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# A longer message is cut.
LONGEST_MESSAGE = 1000


class Telling:
    """Passes progress on for as long as the call runs, and nothing that comes after its answer.

    What makes no sense is left out: a number that is none, a total of nothing. Progress does not go back.
    """

    def __init__(self, to: OnProgress) -> None:
        self.to: OnProgress | None = to
        self._so_far = -math.inf

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self.to is None:
            return
        if math.isfinite(progress):
            self._so_far = max(self._so_far, progress)
        number = self._so_far if math.isfinite(self._so_far) else None
        of = total if total is not None and math.isfinite(total) and total > 0 and number is not None else None
        cut = message[:LONGEST_MESSAGE] if message is not None else None
        if number is None and cut is None:
            return
        try:
            self.to(Progress(number, of, cut))
        except Exception as error:
            # A listener that fails hears no more, and the upstream is none the wiser.
            self.to = None
            log.warning("progress_listener_failed", error=type(error).__name__)
