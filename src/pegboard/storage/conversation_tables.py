"""The tables of conversations and of requested cancellations."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Dialect, ForeignKey, Index, Integer, String, UniqueConstraint, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from pegboard.storage.board_tables import Base, Row
from pegboard.storage.column_types import Instant, JsonText, StorableText


class ExactJson(JsonText):
    """JSON whose numbers keep every digit: a Decimal if a float would lose some."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the parsed value."""
        return None if value is None else json.loads(value, parse_float=_read_exact_number)


def _read_exact_number(text: str) -> float | Decimal:
    number = float(text)
    return number if len(text) < 16 or Decimal(repr(number)) == Decimal(text) else Decimal(text)


class Thread(Row, Base):
    """One conversation of a user, or of one of the user's agents."""

    __tablename__ = "threads"
    __table_args__ = (
        Index("idx_thread_owner", "owner_id", "updated_at", "id"),
        Index("idx_thread_agent", "agent_id", "updated_at", "id"),
    )

    owner_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), ForeignKey("users.id"), nullable=False)
    title: Mapped[str | None] = mapped_column(StorableText())
    # The number of messages, and so the position of the next one: a writer locks this row.
    messages: Mapped[int] = mapped_column(Integer, nullable=False)
    created_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    updated_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    agent_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))


class Message(Base):
    """One message of a conversation; `raw` is the message as received, in its dialect."""

    __tablename__ = "messages"
    __table_args__ = (UniqueConstraint("id", name="uq_message_id"), {"sqlite_with_rowid": False})

    thread_id: Mapped[str] = mapped_column(
        Uuid(as_uuid=False), ForeignKey("threads.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), nullable=False)
    role: Mapped[str] = mapped_column(String(20), nullable=False)
    content: Mapped[str | None] = mapped_column(StorableText())
    timestamp: Mapped[datetime] = mapped_column(Instant, nullable=False)
    # As text: numbers keep their digits, objects the order of their keys.
    tool_calls: Mapped[list[Any]] = mapped_column(ExactJson, nullable=False)
    dialect: Mapped[str | None] = mapped_column(String(64))
    raw: Mapped[Any] = mapped_column(ExactJson, nullable=True)


class Cancellation(Base):
    """A requested cancellation of a call, which may run in another process."""

    __tablename__ = "cancellations"

    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), primary_key=True)
    run_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), nullable=False)
    why: Mapped[str] = mapped_column(StorableText(), nullable=False)
    # The user and the agent whose calls it may cancel; null for any.
    user_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))
    agent_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))
    asked_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
