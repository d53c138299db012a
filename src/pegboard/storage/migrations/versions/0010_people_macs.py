"""MACs of users and API keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010_people_macs"
down_revision = "0009_bound_tools"
branch_labels = None
depends_on = None

_TABLES = ("users", "api_keys")


def upgrade() -> None:
    """Add the columns, empty; the next start of a board that has the encryption key signs the rows, once."""
    for table in _TABLES:
        op.add_column(table, sa.Column("mac", sa.String(64), nullable=False, server_default=sa.text("''")))


def downgrade() -> None:
    """Drop them; keys are stored as keyed hashes by then, which an older version does not recognise."""
    for table in _TABLES:
        op.drop_column(table, "mac")
