"""Conversations of their owners: begun, added to, read, named and deleted."""

from __future__ import annotations

from pegboard.core.call import Caller
from pegboard.payloads import Answered, Payloads
from pegboard.store.database import Database


class Threads:
    """The conversations on this board."""

    def __init__(self, database: Database, payloads: Payloads) -> None:
        self._database = database
        self._payloads = payloads

    async def remember(self, thread_id: str, caller: Caller, answered: Answered, text: str | None) -> None:
        """Add what a model said, the calls that it made, and how they ended; raises NotFound where it is gone."""
        raise NotImplementedError
