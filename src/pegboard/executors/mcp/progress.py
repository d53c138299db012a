"""How far an upstream's tool has come, passed on to whoever called it."""

from __future__ import annotations

from pegboard.core.call import Progress
from pegboard.executors.mcp.upstream import OnProgress


class Telling:
    """Passes progress on for as long as the call runs, and nothing that comes after its answer."""

    def __init__(self, to: OnProgress) -> None:
        self.to: OnProgress | None = to

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self.to is not None:
            self.to(Progress(progress, total, message))
