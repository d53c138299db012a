"""The baseline of findings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006_findings"
down_revision = "0005_conversations"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of findings."""
    as_hash = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
    op.create_table(
        "findings",
        sa.Column("owner_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("composite_hash", as_hash, nullable=False),
        sa.Column("finding_id", sa.Text, nullable=False),
        sa.Column("seen_count", sa.BigInteger, nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("owner_id", "composite_hash", name="pk_findings"),
        sqlite_with_rowid=False,
    )
    resolved = sa.text("resolved_at IS NOT NULL")
    columns = ["owner_id", "composite_hash"]
    op.create_index("idx_finding_resolved", "findings", columns, sqlite_where=resolved, postgresql_where=resolved)


def downgrade() -> None:
    """Drop the table with all findings."""
    op.drop_table("findings")
