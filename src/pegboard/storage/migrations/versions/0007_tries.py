"""The attempts of a call that failed, in its row of the journal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007_tries"
down_revision = "0006_findings"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty; the rows that are there keep their MACs."""
    op.add_column("executions", sa.Column("tries", sa.Text))


def downgrade() -> None:
    """Drop it; rows of calls that were tried more than once no longer verify."""
    op.drop_column("executions", "tries")
