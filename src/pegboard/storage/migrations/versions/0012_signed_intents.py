"""MACs of intents and receipts, and a mark for those that do not verify."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012_signed_intents"
down_revision = "0011_key_creators"
branch_labels = None
depends_on = None

_MACS = (("intents", "mac"), ("intents", "claim_mac"), ("receipts", "mac"))
_TABLES = ("intents", "receipts")


def upgrade() -> None:
    """Add the columns, empty; the next start of a board that has the encryption key signs the rows, once."""
    for table, column in _MACS:
        op.add_column(table, sa.Column(column, sa.String(32), nullable=False, server_default=sa.text("''")))
    for table in _TABLES:
        op.add_column(table, sa.Column("set_aside_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Drop them."""
    for table in _TABLES:
        op.drop_column(table, "set_aside_at")
    for table, column in _MACS:
        op.drop_column(table, column)
