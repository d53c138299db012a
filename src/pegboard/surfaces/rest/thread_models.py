"""Bodies of requests and answers about conversations."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from pegboard.core.definitions import JsonObject
from pegboard.core.model import Model
from pegboard.surfaces.rest.models import Shown


class ThreadCreate(Model):
    """A new conversation."""

    title: str | None = Field(
        None, min_length=1, max_length=200, description="Without one it is called after what its user says first"
    )


class ThreadUpdate(Model):
    """A change to a conversation."""

    title: str | None = Field(min_length=1, max_length=200, description="null: call it after what its user says next")


class ThreadResponse(Shown):
    """A conversation of the caller or of one of their agents."""

    id: str
    title: str | None
    agent_id: str | None = Field(description="The agent whose key began it; null if its user did")
    messages: int = Field(description="How many there are")
    created_at: datetime
    updated_at: datetime


class ThreadPage(Shown):
    """Some conversations, the one that changed last first."""

    items: list[ThreadResponse]
    next_cursor: str | None = None


class MessageResponse(Shown):
    """One message in memory form."""

    id: str
    role: Literal["user", "assistant", "system"]
    content: str | None
    timestamp: datetime
    tool_calls: list[JsonObject] = Field(
        description="Each `{id, name, arguments, result | error, code?, duration_ms?, attempts?, run_id?, "
        "result_valid?, …}`; without a result or an error where no answer is known"
    )


class MessageList(Shown):
    """Messages that were added, or whose calls got answers."""

    items: list[MessageResponse]


class HistoryPage(Shown):
    """Some messages of a conversation, oldest first."""

    items: list[Any] = Field(description="In memory form, or as messages of the provider that was asked for")
    next_cursor: str | None = None
    system: Any = Field(None, description="The system text, where that provider takes it apart from the messages")
