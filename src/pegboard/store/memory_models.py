"""The tables of conversations, and of calls that somebody wants ended."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Dialect, ForeignKey, Index, Integer, String, UniqueConstraint, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from pegboard.store.base_models import Base, Row
from pegboard.store.types import Instant, JsonText, Words


class ExactJson(JsonText):
    """JSON whose numbers come back with every digit: as a Decimal where a float would lose some."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """The value again."""
        return None if value is None else json.loads(value, parse_float=_number)


def _number(text: str) -> float | Decimal:
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
    title: Mapped[str | None] = mapped_column(Words())
    # How many there are, and so the place of the next one: whoever adds one holds this row.
    messages: Mapped[int] = mapped_column(Integer, nullable=False)
    created_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    updated_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    agent_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))


class Message(Base):
    """One message of a conversation; `raw` is how it came, in its dialect."""

    __tablename__ = "messages"
    __table_args__ = (UniqueConstraint("id", name="uq_message_id"), {"sqlite_with_rowid": False})

    thread_id: Mapped[str] = mapped_column(
        Uuid(as_uuid=False), ForeignKey("threads.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), nullable=False)
    role: Mapped[str] = mapped_column(String(20), nullable=False)
    content: Mapped[str | None] = mapped_column(Words())
    timestamp: Mapped[datetime] = mapped_column(Instant, nullable=False)
    # As text: a number keeps its digits, an object the order of its keys.
    tool_calls: Mapped[list[Any]] = mapped_column(ExactJson, nullable=False)
    dialect: Mapped[str | None] = mapped_column(String(64))
    raw: Mapped[Any] = mapped_column(ExactJson, nullable=True)


class Cancellation(Base):
    """A call that somebody wants ended, which may run in another process."""

    __tablename__ = "cancellations"

    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), primary_key=True)
    run_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), nullable=False)
    why: Mapped[str] = mapped_column(Words(), nullable=False)
    # Whose calls may be ended by it, and of which agent's; null for anybody's.
    user_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))
    agent_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))
    asked_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
