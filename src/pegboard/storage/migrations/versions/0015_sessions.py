"""Sessions of the web console as rows of the keys table, when a key was last used, and the last verification."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015_sessions"
down_revision = "0014_upstreams"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the table; all older rows are keys."""
    op.create_table(
        "verifications",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checked", sa.BigInteger, nullable=False),
        sa.Column("findings", sa.Text, nullable=False),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("mac", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verifications")),
        sa.CheckConstraint("id = 1", name=op.f("ck_verifications_single")),
    )
    op.add_column("api_keys", sa.Column("kind", sa.String(20), nullable=False, server_default=sa.text("'key'")))
    op.add_column("api_keys", sa.Column("parent_id", sa.Uuid(as_uuid=False)))
    op.add_column("api_keys", sa.Column("last_used_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Remove the sessions and codes, which an older version would take for keys, and drop the columns."""
    op.drop_table("verifications")
    op.execute("DELETE FROM api_keys WHERE kind <> 'key'")
    for name in ("last_used_at", "parent_id", "kind"):
        op.drop_column("api_keys", name)
