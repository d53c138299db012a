"""What a list of tools or executions is filtered by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pegboard.model.call import Status


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Selects executions; None matches any. A `tool_id` alone has no index: also give the tool's name."""

    caller_id: str | None = None
    tool: str | None = None
    status: Status | None = None
    code: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool_id: str | None = None


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
