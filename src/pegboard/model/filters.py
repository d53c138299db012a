"""The filters for lists of tools and executions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pegboard.model.call import Status, Surface


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Selects executions; None matches any. A `tool_id` alone has no index: also give the tool's name.

    From `agent_id` on, the fields have no index; a search by them reads a bounded number of rows (`is_search`).
    """

    caller_id: str | None = None
    tool: str | None = None
    status: Status | None = None
    code: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool_id: str | None = None
    agent_id: str | None = None
    kind: str | None = None
    surface: Surface | None = None
    dialect: str | None = None
    thread_id: str | None = None
    chain_id: str | None = None
    request_id: str | None = None
    min_ms: float | None = None

    @property
    def is_search(self) -> bool:
        """True if a field without an index is given."""
        return self.min_ms is not None or any(getattr(self, name) is not None for name in SEARCHED_FIELDS)


# The fields of an ExecutionFilter that a column of the same name, without an index, must be equal to.
SEARCHED_FIELDS = ("agent_id", "kind", "surface", "dialect", "thread_id", "chain_id", "request_id")


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Selects tools; None matches any."""

    visible_to: str | None = None
    owner_id: str | None = None
    tool_type: str | None = None
    is_active: bool | None = None
    is_public: bool | None = None
    tag: str | None = None
    q: str | None = None
    deleted: bool = False
    drifted: bool | None = None
    # The ids of the tools to select from, such as those of an agent.
    among: frozenset[str] | None = None


ToolSort = Literal["name", "updated_at"]
