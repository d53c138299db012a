"""The printed output of a call, in its row of the journal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004_printed"
down_revision = "0003_journal"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty; the rows that are there keep their MACs."""
    op.add_column("executions", sa.Column("printed", sa.Text))


def downgrade() -> None:
    """Drop it; rows of calls that printed something no longer verify."""
    op.drop_column("executions", "printed")
