"""Ending calls that run, wherever they run."""

from __future__ import annotations

from pegboard.core.call import Caller
from pegboard.core.refusals import NotFound
from pegboard.following.following import Following
from pegboard.pipeline import Pipeline
from pegboard.registry.executions import Executions
from pegboard.store.database import Database


class Cancelling:
    """Ends calls for those who may."""

    def __init__(self, pipeline: Pipeline, following: Following, database: Database, executions: Executions) -> None:
        self._pipeline = pipeline
        self._following = following
        self._database = database
        self._executions = executions

    async def cancel(self, run_id: str, caller: Caller) -> None:
        """End a running call."""
        if not self._pipeline.cancel(run_id, "Cancelled"):
            raise NotFound(f"No call '{run_id}' is running")

    async def look(self) -> None:
        """End what others have asked for."""
