"""Imported MCP servers, with the prompts, resources and templates that their owners accepted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014_upstreams"
down_revision = "0013_kinds_of_plugins"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; servers that were imported before are in it after their next import."""
    op.create_table(
        "upstreams",
        sa.Column("owner_id", _id(), sa.ForeignKey("users.id", name="fk_upstreams_owner_id"), nullable=False),
        sa.Column("name", _name(), nullable=False),
        sa.Column("prefix", sa.String(64), nullable=False),
        sa.Column("config", _json(), nullable=False),
        sa.Column("auth_config", _json()),
        sa.Column("include", _json(), nullable=False),
        sa.Column("is_public", sa.Boolean),
        sa.Column("follow", sa.Boolean, nullable=False),
        sa.Column("tools", _json(), nullable=False),
        sa.Column("entries", sa.Text, nullable=False),
        sa.Column("is_deleted", sa.Boolean, nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("id", _id(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_upstreams"),
    )
    op.create_index("idx_upstream_owner", "upstreams", ["owner_id", "id"])
    op.create_index("idx_upstream_revision", "upstreams", ["revision"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("upstreams")


def _id() -> sa.Uuid[str]:
    return sa.Uuid(as_uuid=False)


def _name() -> sa.String:
    return sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")


def _json() -> sa.JSON:
    return sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
