"""Whether calls can be confined on this machine: tried out before the first one, and remembered."""

from __future__ import annotations

import asyncio
import math
import time

from pegboard.core.errors import Misconfigured
from pegboard.sandbox.abilities import Abilities, detect
from pegboard.sandbox.refusals import unavailable

# An administrator may have granted meanwhile what was missing.
_AGAIN_SECONDS = 30.0
# No timer is set for longer; loops differ in what they make of infinity.
_LONGEST_SECONDS = 86_400.0


class Trial:
    """What was found of the kernel's abilities, by a board that runs tools without some of them."""

    def __init__(self, without: tuple[str, ...]) -> None:
        self._without = without
        self._detecting: asyncio.Task[Abilities] | None = None
        self._again_at = math.inf
        self._is_passed = False

    async def abilities(self) -> Abilities:
        """What the kernel can do; it is tried out once, and again where something was missing or could not be tried."""
        task = self._detecting
        if task is None or (task.done() and (time.monotonic() >= self._again_at or _has_failed(task))):
            self._again_at = math.inf
            task = self._detecting = asyncio.create_task(detect())
        found = await asyncio.shield(task)
        if task is self._detecting and self._again_at == math.inf and found.missing(self._without):
            self._again_at = time.monotonic() + (_AGAIN_SECONDS if found.untried is None else 0.0)
        return found

    async def check(self, deadline: float) -> None:
        """Raises Misconfigured where calls cannot be confined, and Unavailable where that was not known in time."""
        if self._is_passed:
            return
        try:
            async with asyncio.timeout(min(deadline - time.monotonic(), _LONGEST_SECONDS)):
                found = await self.abilities()
        except TimeoutError:
            raise unavailable("How this machine confines tools was still being tried at the deadline") from None
        missing = found.missing(self._without)
        if missing and found.untried is not None:
            raise unavailable(f"How this machine confines tools could not be tried: {found.untried}; try again")
        if missing:
            raise Misconfigured("This board cannot confine tools, so it does not run them: " + "; ".join(missing))
        self._is_passed = True

    async def close(self, seconds: float) -> None:
        """Wait for so long that nothing is being tried any more."""
        if self._detecting is not None:
            await asyncio.wait([self._detecting], timeout=seconds)


def _has_failed(task: asyncio.Task[Abilities]) -> bool:
    return task.cancelled() or task.exception() is not None
