"""The journal's chain, its writers, intents, receipts and counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003_journal"
down_revision = "0002_executions"
branch_labels = None
depends_on = None

_NOT_WELL = sa.text("status <> 'succeeded'")
_WITH_CODE = sa.text("code IS NOT NULL")
_OPEN = sa.text("state = 'open'")


def upgrade() -> None:
    """Add the chain to the journal, and the tables around it."""
    op.add_column("board_state", sa.Column("writers", sa.Integer, nullable=False, server_default="0"))
    signature = sa.Column("writers_signature", sa.String(32), nullable=False, server_default=sa.text("''"))
    op.add_column("board_state", signature)
    op.add_column("tools", sa.Column("keep_result", sa.Boolean, nullable=False, server_default=sa.false()))
    for column in (
        sa.Column("repeat_of", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("writer", sa.Integer),
        sa.Column("seq", sa.BigInteger),
        sa.Column("mac", sa.String(32)),
    ):
        op.add_column("executions", column)
    op.drop_index("idx_execution_tool", "executions")
    op.drop_index("idx_execution_started", "executions")
    op.drop_index("idx_execution_status", "executions")
    _partial("idx_execution_status", "executions", ["status", "id"], _NOT_WELL)
    _partial("idx_execution_name_status", "executions", ["tool_name", "status", "id"], _NOT_WELL)
    _partial("idx_execution_caller_status", "executions", ["caller_id", "status", "id"], _NOT_WELL)
    _partial("idx_execution_code", "executions", ["code", "id"], _WITH_CODE)
    op.create_index("uq_execution_link", "executions", ["writer", "seq"], unique=True)
    op.create_table(
        "writers",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True)),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("mac", sa.String(32), nullable=False),
        sa.Column("signature", sa.String(32), nullable=False),
        sa.Column("pruned_seq", sa.BigInteger, nullable=False),
        sa.Column("pruned_mac", sa.String(32), nullable=False),
        sa.Column("pruned_signature", sa.String(32), nullable=False),
        sa.Column("counted_seq", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_writers"),
        sa.UniqueConstraint("id", name="uq_writer_id"),
    )
    op.create_table(
        "intents",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("writer", sa.Integer, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("execution", sa.Text, nullable=False),
        sa.Column("receipts", sa.Boolean, nullable=False),
        sa.Column("claim", sa.String(64)),
        sa.Column("digest", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_intents"),
        sa.UniqueConstraint("claim", name="uq_intent_claim"),
        sa.CheckConstraint("state IN ('open', 'done', 'in_doubt')", name=op.f("ck_intents_state")),
    )
    _partial("idx_intent_open", "intents", ["writer"], _OPEN)
    op.create_index("idx_intent_expires", "intents", ["expires_at"])
    op.create_table(
        "receipts",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("row_id", sa.Text),
        sa.Column("output", sa.Text),
        sa.Column("is_void", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_receipts"),
    )
    op.create_table(
        "execution_counts",
        sa.Column("hour", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("caller_id", sa.Text, nullable=False),
        sa.Column("tool_name", sa.Text, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("bucket", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "hour", "caller_id", "tool_name", "status", "code", "bucket", name="pk_execution_counts"
        ),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the new columns and tables; rows stay in the journal without their links."""
    for table in ("execution_counts", "receipts", "intents", "writers"):
        op.drop_table(table)
    op.drop_index("uq_execution_link", "executions")
    op.drop_index("idx_execution_code", "executions")
    op.drop_index("idx_execution_caller_status", "executions")
    op.drop_index("idx_execution_name_status", "executions")
    op.drop_index("idx_execution_status", "executions")
    for column in ("mac", "seq", "writer", "result", "repeat_of"):
        op.drop_column("executions", column)
    op.create_index("idx_execution_status", "executions", ["status", "id"])
    op.create_index("idx_execution_started", "executions", ["started_at"])
    op.create_index("idx_execution_tool", "executions", ["tool_id", "id"])
    op.drop_column("tools", "keep_result")
    op.drop_column("board_state", "writers_signature")
    op.drop_column("board_state", "writers")


def _partial(name: str, table: str, columns: list[str], condition: sa.TextClause) -> None:
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
