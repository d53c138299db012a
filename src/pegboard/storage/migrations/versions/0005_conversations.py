"""Conversations, how tools read to people, and the setting for calls whose caller disconnects."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005_conversations"
down_revision = "0004_printed"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of conversations and of calls to be ended, and two columns of tools."""
    as_json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("tools", sa.Column("display", as_json))
    how = sa.Column("on_disconnect", sa.String(20), nullable=False, server_default=sa.text("'cancel'"))
    op.add_column("tools", how)
    op.create_table(
        "threads",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("owner_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("messages", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_threads_owner_id"),
    )
    op.create_index("idx_thread_owner", "threads", ["owner_id", "updated_at", "id"])
    op.create_table(
        "messages",
        sa.Column("thread_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("position", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("content", sa.Text),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tool_calls", sa.Text, nullable=False),
        sa.Column("dialect", sa.String(64)),
        sa.Column("raw", sa.Text),
        sa.PrimaryKeyConstraint("thread_id", "position", name="pk_messages"),
        sa.UniqueConstraint("id", name="uq_message_id"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_messages_thread_id", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cancellations",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("run_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("user_id", sa.Uuid(as_uuid=False)),
        sa.Column("agent_id", sa.Uuid(as_uuid=False)),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_cancellations"),
    )


def downgrade() -> None:
    """Drop the tables with all messages."""
    for table in ("cancellations", "messages", "threads"):
        op.drop_table(table)
    for column in ("on_disconnect", "display"):
        op.drop_column("tools", column)
