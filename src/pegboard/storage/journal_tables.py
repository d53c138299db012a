"""The tables of the journal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeEngine

from pegboard.model import journal_row
from pegboard.model.journal_row import ColumnType
from pegboard.storage.board_tables import Base, Id, Row, build_partial_index
from pegboard.storage.column_types import Instant, JsonText, StorableText

IS_NOT_SUCCEEDED = text("status <> 'succeeded'")
HAS_CODE = text("code IS NOT NULL")
IS_OPEN = text("state = 'open'")


_SQL_TYPES: dict[ColumnType, TypeEngine[Any]] = {
    ColumnType.UUID: Uuid(as_uuid=False),
    ColumnType.TEXT: StorableText(),
    ColumnType.KEYWORD: String(20),
    ColumnType.INTEGER: Integer(),
    ColumnType.FLOAT: Float(),
    ColumnType.MOMENT: Instant(),
    ColumnType.JSON: JsonText(),
    # JSON and not JSONB: it accepts values that JSONB rejects, and a call must never be missing from the journal.
    ColumnType.NATIVE_JSON: JSON(none_as_null=True),
}


def _build_column(column: journal_row.JournalColumn) -> Column[Any]:
    is_key = column.type is ColumnType.UUID
    return Column(column.name, _SQL_TYPES[column.type], primary_key=is_key, nullable=not column.required)


# The journal; it has no foreign keys, so it accepts every call and outlives the rows it refers to.
executions = Table(
    "executions",
    Base.metadata,
    *map(_build_column, journal_row.STORED_COLUMNS),
    # The position in the hash chain; rows from before the hash chain existed have none.
    Column("writer", Integer),
    Column("seq", BigInteger),
    Column("mac", String(32)),
    Index("idx_execution_name", "tool_name", "id"),
    Index("idx_execution_caller", "caller_id", "id"),
    # Successful calls are most of the journal and are never searched by status or code.
    build_partial_index("idx_execution_status", IS_NOT_SUCCEEDED, "status", "id"),
    build_partial_index("idx_execution_name_status", IS_NOT_SUCCEEDED, "tool_name", "status", "id"),
    build_partial_index("idx_execution_caller_status", IS_NOT_SUCCEEDED, "caller_id", "status", "id"),
    build_partial_index("idx_execution_code", HAS_CODE, "code", "id"),
    Index("uq_execution_link", "writer", "seq", unique=True),
)


class Writer(Base):
    """A process that writes or wrote to the journal; `seq` and `mac` are the head of its hash chain."""

    __tablename__ = "writers"
    __table_args__ = (UniqueConstraint("id", name="uq_writer_id"),)

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[Id]
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    beat: Mapped[int] = mapped_column(BigInteger)
    seq: Mapped[int] = mapped_column(BigInteger)
    mac: Mapped[str] = mapped_column(String(32))
    signature: Mapped[str] = mapped_column(String(32))
    pruned_seq: Mapped[int] = mapped_column(BigInteger)
    pruned_mac: Mapped[str] = mapped_column(String(32))
    pruned_signature: Mapped[str] = mapped_column(String(32))
    # The last row that is counted in execution_counts.
    counted_seq: Mapped[int] = mapped_column(BigInteger)


class Intent(Row, Base):
    """A call that was about to run; an intent with a key stays, with its answer, until it expires."""

    __tablename__ = "intents"
    __table_args__ = (
        CheckConstraint("state IN ('open', 'done', 'in_doubt')", name="state"),
        UniqueConstraint("claim", name="uq_intent_claim"),
        build_partial_index("idx_intent_open", IS_OPEN, "writer"),
        Index("idx_intent_expires", "expires_at"),
    )

    writer: Mapped[int]
    state: Mapped[str] = mapped_column(String(20))
    # The row that is recorded if the process ends before the call does.
    execution: Mapped[str]
    receipts: Mapped[bool]
    claim: Mapped[str | None] = mapped_column(String(64))
    digest: Mapped[str | None]
    answer: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    # Over the content stored when the call began; and over the claim alone, as long as it exists.
    mac: Mapped[str] = mapped_column(String(32), default="", server_default=text("''"))
    claim_mac: Mapped[str] = mapped_column(String(32), default="", server_default=text("''"))
    # Set if a MAC was invalid: the row is ignored, and stays for inspection.
    set_aside_at: Mapped[datetime | None]


class Receipt(Row, Base):
    """Written by older versions: proof that a call took effect in this database, in the same transaction."""

    __tablename__ = "receipts"

    row_id: Mapped[str | None]
    output: Mapped[str | None]
    # Set by recovery: the effect did not happen, and can no longer.
    is_void: Mapped[bool]
    mac: Mapped[str] = mapped_column(String(32), default="", server_default=text("''"))
    set_aside_at: Mapped[datetime | None]


class Verification(Base):
    """One row: the last verification of the whole journal; `findings` is the number of each kind, as JSON."""

    __tablename__ = "verifications"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime]
    checked: Mapped[int] = mapped_column(BigInteger)
    findings: Mapped[str]
    caller: Mapped[str]
    mac: Mapped[str] = mapped_column(String(32))


class ExecutionCount(Base):
    """The number of calls of a tool by a caller with the same status, code and latency bucket in one hour."""

    __tablename__ = "execution_counts"
    # All columns but one are the key, and a rowid table would store them twice.
    __table_args__ = {"sqlite_with_rowid": False}

    hour: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    caller_id: Mapped[str] = mapped_column(StorableText(), primary_key=True)
    tool_name: Mapped[str] = mapped_column(StorableText(), primary_key=True)
    status: Mapped[str] = mapped_column(String(20), primary_key=True)
    code: Mapped[str] = mapped_column(StorableText(), primary_key=True)
    bucket: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    calls: Mapped[int] = mapped_column(BigInteger)
