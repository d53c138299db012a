"""Sessions of the web console as rows of the keys table, and when a key was last used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015_sessions"
down_revision = "0014_upstreams"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; all older rows are keys."""
    op.add_column("api_keys", sa.Column("kind", sa.String(20), nullable=False, server_default=sa.text("'key'")))
    op.add_column("api_keys", sa.Column("parent_id", sa.Uuid(as_uuid=False)))
    op.add_column("api_keys", sa.Column("last_used_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Remove the sessions and codes, which an older version would take for keys, and drop the columns."""
    op.execute("DELETE FROM api_keys WHERE kind <> 'key'")
    for name in ("last_used_at", "parent_id", "kind"):
        op.drop_column("api_keys", name)
