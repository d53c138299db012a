"""What the databases say of many tables, asked without waiting for the same silence twice."""

from __future__ import annotations

import asyncio
import time

from pegboard.core.errors import ToolError
from pegboard.core.table_config import TableConfig
from pegboard.executors.table.facts import Facts
from pegboard.executors.table.planning import Finding
from pegboard.executors.table.source import Fault, Source
from pegboard.executors.table.sources import Sources

# How long a database may take to say what a table is, and how many tables are asked for at once.
_PATIENCE = 5.0
_AT_ONCE = 10
_UNREACHABLE = "P1001"


class Look:
    """One look at many tables; of a database that cannot be reached, the rest is not asked for."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._heard: dict[Source, float] = {}
        self._away: dict[Source, Finding] = {}

    async def facts(self, source: Source, table: TableConfig) -> Facts | Finding | None:
        """What the source says of the table now, or why it does not."""
        async with self._turn:
            if source in self._away:
                return self._away[source]
            asked = time.monotonic()
            try:
                async with asyncio.timeout(_PATIENCE):
                    read = await self._sources.read(source, table.schema_, table.tableName)
            except (Fault, ToolError) as error:
                found = Finding(error.code, f"{source.shown_url}: {error.message}")
            except TimeoutError:
                message = f"{source.shown_url}: the database did not answer within {_PATIENCE:g} seconds"
                found = Finding(_UNREACHABLE, message)
            else:
                self._heard[source] = time.monotonic()
                return read.facts
            # One that has answered meanwhile may be slow to speak of this table alone, which somebody may have locked.
            if found.code == _UNREACHABLE and self._heard.get(source, 0) < asked:
                self._away[source] = found
            return found
