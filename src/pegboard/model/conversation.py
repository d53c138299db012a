"""Conversations: threads, and the messages in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

MessageRole = Literal["user", "assistant", "system"]


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation of a user; `messages` is their number, `agent_id` the agent whose key created it."""

    id: str
    owner_id: str
    title: str | None
    messages: int
    created_at: datetime
    updated_at: datetime
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `raw` is its original form in `dialect`, if it has more than the other fields."""

    id: str
    thread_id: str
    position: int
    role: MessageRole
    content: str | None
    timestamp: datetime
    # In memory form: `{id, name, arguments, result | error, …}`.
    tool_calls: tuple[dict[str, Any], ...] = ()
    dialect: str | None = None
    raw: Any = None
