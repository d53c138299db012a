"""The table of the baseline of findings."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from pegboard.storage.board_tables import Base
from pegboard.storage.column_types import Instant, StorableText, make_name_type

IS_RESOLVED = text("resolved_at IS NOT NULL")


class Finding(Base):
    """A recorded finding; shared findings have the nil UUID as their owner."""

    __tablename__ = "findings"
    __table_args__ = (
        # Resolved findings are few, and are searched for removal.
        Index(
            "idx_finding_resolved", "owner_id", "composite_hash", sqlite_where=IS_RESOLVED, postgresql_where=IS_RESOLVED
        ),
        {"sqlite_with_rowid": False},
    )

    owner_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), primary_key=True)
    composite_hash: Mapped[str] = mapped_column(make_name_type(64), primary_key=True)
    finding_id: Mapped[str] = mapped_column(StorableText(), nullable=False)
    seen_count: Mapped[int] = mapped_column(BigInteger, nullable=False)
    first_seen_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    last_seen_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    resolved_at: Mapped[datetime | None] = mapped_column(Instant)
