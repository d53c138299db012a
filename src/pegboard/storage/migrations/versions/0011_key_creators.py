"""The user who made a key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011_key_creators"
down_revision = "0010_people_macs"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of older keys it is not known."""
    op.add_column("api_keys", sa.Column("created_by", sa.Uuid(as_uuid=False)))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("api_keys", "created_by")
