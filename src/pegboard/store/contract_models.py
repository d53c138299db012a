"""The table of the baseline of findings."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from pegboard.store.base_models import Base
from pegboard.store.types import Instant, Words, name_type

RESOLVED = text("resolved_at IS NOT NULL")


class Finding(Base):
    """A finding that somebody recorded; of nobody, which is the nil UUID, are those that all share."""

    __tablename__ = "findings"
    __table_args__ = (
        # Resolved ones are few among many, and are looked for to be removed.
        Index("idx_finding_resolved", "owner_id", "composite_hash", sqlite_where=RESOLVED, postgresql_where=RESOLVED),
        {"sqlite_with_rowid": False},
    )

    owner_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), primary_key=True)
    composite_hash: Mapped[str] = mapped_column(name_type(64), primary_key=True)
    finding_id: Mapped[str] = mapped_column(Words(), nullable=False)
    seen_count: Mapped[int] = mapped_column(BigInteger, nullable=False)
    first_seen_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    last_seen_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    resolved_at: Mapped[datetime | None] = mapped_column(Instant)
