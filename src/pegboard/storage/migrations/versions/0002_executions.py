"""The journal of calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002_executions"
down_revision = "0001_board"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the journal's table."""
    op.create_table(
        "executions",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tool_name", sa.Text, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("elapsed_ms", sa.Float, nullable=False),
        sa.Column("caller_id", sa.Text, nullable=False),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("surface", sa.Text, nullable=False),
        sa.Column("dialect", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("tool_id", sa.Text),
        sa.Column("tool_version", sa.Integer),
        sa.Column("kind", sa.Text),
        sa.Column("key_id", sa.Text),
        sa.Column("agent_id", sa.Text),
        sa.Column("request_id", sa.Text),
        sa.Column("code", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("arguments_digest", sa.Text),
        sa.Column("arguments", sa.JSON),
        sa.Column("row_id", sa.Text),
        sa.Column("chain_id", sa.Text),
        sa.Column("thread_id", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_executions"),
    )
    op.create_index("idx_execution_tool", "executions", ["tool_id", "id"])
    op.create_index("idx_execution_name", "executions", ["tool_name", "id"])
    op.create_index("idx_execution_caller", "executions", ["caller_id", "id"])
    op.create_index("idx_execution_status", "executions", ["status", "id"])
    op.create_index("idx_execution_started", "executions", ["started_at"])


def downgrade() -> None:
    """Drop the journal."""
    op.drop_table("executions")
