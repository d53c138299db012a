"""The agent whose key began a thread."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008_thread_agents"
down_revision = "0007_tries"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; threads from before belong to their user, and no agent sees them."""
    op.add_column("threads", sa.Column("agent_id", sa.Uuid(as_uuid=False)))
    op.create_index("idx_thread_agent", "threads", ["agent_id", "updated_at", "id"])


def downgrade() -> None:
    """Drop the column; keys of agents then use all threads of their user again."""
    op.drop_index("idx_thread_agent", "threads")
    op.drop_column("threads", "agent_id")
