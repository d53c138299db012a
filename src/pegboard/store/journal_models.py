"""The tables of the journal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Float,
    Index,
    Integer,
    String,
    TextClause,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from pegboard.store.base_models import Base, Row
from pegboard.store.types import Instant, JsonText, Words

NOT_WELL = text("status <> 'succeeded'")
WITH_CODE = text("code IS NOT NULL")
OPEN = text("state = 'open'")


def _partial(name: str, condition: TextClause, *columns: str) -> Index:
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


class Execution(Row, Base):
    """One row of the journal; it refers to no other table, so it takes every call and outlives all of them."""

    __tablename__ = "executions"
    __table_args__ = (
        Index("idx_execution_name", "tool_name", "id"),
        Index("idx_execution_caller", "caller_id", "id"),
        # What went well is most of the journal and is never looked for by its status or code.
        Index("idx_execution_status", "status", "id", sqlite_where=NOT_WELL, postgresql_where=NOT_WELL),
        Index(
            "idx_execution_name_status", "tool_name", "status", "id", sqlite_where=NOT_WELL, postgresql_where=NOT_WELL
        ),
        Index(
            "idx_execution_caller_status", "caller_id", "status", "id", sqlite_where=NOT_WELL, postgresql_where=NOT_WELL
        ),
        Index("idx_execution_code", "code", "id", sqlite_where=WITH_CODE, postgresql_where=WITH_CODE),
        Index("uq_execution_link", "writer", "seq", unique=True),
    )

    tool_name: Mapped[str] = mapped_column(Words(), nullable=False)
    status: Mapped[str] = mapped_column(String(20), nullable=False)
    started_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    finished_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    elapsed_ms: Mapped[float] = mapped_column(Float, nullable=False)
    caller_id: Mapped[str] = mapped_column(Words(), nullable=False)
    caller: Mapped[str] = mapped_column(Words(), nullable=False)
    surface: Mapped[str] = mapped_column(Words(), nullable=False)
    dialect: Mapped[str] = mapped_column(Words(), nullable=False)
    attempts: Mapped[int] = mapped_column(Integer, nullable=False)
    tool_id: Mapped[str | None] = mapped_column(Words())
    tool_version: Mapped[int | None] = mapped_column(Integer)
    kind: Mapped[str | None] = mapped_column(Words())
    key_id: Mapped[str | None] = mapped_column(Words())
    agent_id: Mapped[str | None] = mapped_column(Words())
    request_id: Mapped[str | None] = mapped_column(Words())
    code: Mapped[str | None] = mapped_column(Words())
    error: Mapped[str | None] = mapped_column(Words())
    arguments_digest: Mapped[str | None] = mapped_column(Words())
    # JSON and not JSONB: it keeps what JSONB refuses, and a call must never be missing from the journal.
    arguments: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    row_id: Mapped[str | None] = mapped_column(Words())
    chain_id: Mapped[str | None] = mapped_column(Words())
    thread_id: Mapped[str | None] = mapped_column(Words())
    repeat_of: Mapped[str | None] = mapped_column(Words())
    result: Mapped[Any | None] = mapped_column(JsonText)
    printed: Mapped[str | None] = mapped_column(Words())
    tries: Mapped[Any | None] = mapped_column(JsonText)
    # Its place in the chain; rows from before there was one have none.
    writer: Mapped[int | None] = mapped_column(Integer)
    seq: Mapped[int | None] = mapped_column(BigInteger)
    mac: Mapped[str | None] = mapped_column(String(32))


class Writer(Base):
    """A process that writes to the journal, or did; `seq` and `mac` are the head of its chain."""

    __tablename__ = "writers"
    __table_args__ = (UniqueConstraint("id", name="uq_writer_id"),)

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), nullable=False)
    host: Mapped[str] = mapped_column(Words(), nullable=False)
    pid: Mapped[int] = mapped_column(Integer, nullable=False)
    started_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    closed_at: Mapped[datetime | None] = mapped_column(Instant)
    beat: Mapped[int] = mapped_column(BigInteger, nullable=False)
    seq: Mapped[int] = mapped_column(BigInteger, nullable=False)
    mac: Mapped[str] = mapped_column(String(32), nullable=False)
    signature: Mapped[str] = mapped_column(String(32), nullable=False)
    pruned_seq: Mapped[int] = mapped_column(BigInteger, nullable=False)
    pruned_mac: Mapped[str] = mapped_column(String(32), nullable=False)
    pruned_signature: Mapped[str] = mapped_column(String(32), nullable=False)
    # How far its rows are counted in execution_counts.
    counted_seq: Mapped[int] = mapped_column(BigInteger, nullable=False)


class Intent(Row, Base):
    """A call that was about to run; one with a key stays, with its answer, until it expires."""

    __tablename__ = "intents"
    __table_args__ = (
        CheckConstraint("state IN ('open', 'done', 'in_doubt')", name="state"),
        UniqueConstraint("claim", name="uq_intent_claim"),
        _partial("idx_intent_open", OPEN, "writer"),
        Index("idx_intent_expires", "expires_at"),
    )

    writer: Mapped[int] = mapped_column(Integer, nullable=False)
    state: Mapped[str] = mapped_column(String(20), nullable=False)
    # The execution it becomes if nobody lives to tell how it ended.
    execution: Mapped[str] = mapped_column(Words(), nullable=False)
    receipts: Mapped[bool] = mapped_column(Boolean, nullable=False)
    claim: Mapped[str | None] = mapped_column(String(64))
    digest: Mapped[str | None] = mapped_column(Words())
    answer: Mapped[str | None] = mapped_column(Words())
    expires_at: Mapped[datetime | None] = mapped_column(Instant)
    # Over what was stored when the call began; and over the hold on the key alone, for as long as that lasts.
    mac: Mapped[str] = mapped_column(String(32), nullable=False, default="", server_default=text("''"))
    claim_mac: Mapped[str] = mapped_column(String(32), nullable=False, default="", server_default=text("''"))
    # Set where a MAC did not fit: nothing is made of the row, and it stays for people to look at.
    set_aside_at: Mapped[datetime | None] = mapped_column(Instant)


class Receipt(Row, Base):
    """Proof that a call took effect in this database, written in the same transaction as the effect."""

    __tablename__ = "receipts"

    row_id: Mapped[str | None] = mapped_column(Words())
    output: Mapped[str | None] = mapped_column(Words())
    # Set by recovery: the effect did not happen, and can no longer.
    is_void: Mapped[bool] = mapped_column(Boolean, nullable=False)
    mac: Mapped[str] = mapped_column(String(32), nullable=False, default="", server_default=text("''"))
    set_aside_at: Mapped[datetime | None] = mapped_column(Instant)


class ExecutionCount(Base):
    """How many calls of a tool by a caller ended alike, and about as quickly, in one hour."""

    __tablename__ = "execution_counts"
    # All but one of its columns are the key, and a rowid would keep them twice.
    __table_args__ = {"sqlite_with_rowid": False}

    hour: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    caller_id: Mapped[str] = mapped_column(Words(), primary_key=True)
    tool_name: Mapped[str] = mapped_column(Words(), primary_key=True)
    status: Mapped[str] = mapped_column(String(20), primary_key=True)
    code: Mapped[str] = mapped_column(Words(), primary_key=True)
    bucket: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    calls: Mapped[int] = mapped_column(BigInteger, nullable=False)
