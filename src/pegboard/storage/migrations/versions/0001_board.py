"""The board: users, keys, tools and their versions, agents, secrets."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001_board"
down_revision = None
branch_labels = None
depends_on = None

_KINDS = "'http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal', 'table'"
_NOT_DELETED = sa.text("is_deleted IS FALSE")


def upgrade() -> None:
    """Create the tables and the one row of board_state."""
    state = op.create_table(
        "board_state",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_board_state"),
        sa.CheckConstraint("id = 1", name=op.f("ck_board_state_single")),
    )
    op.bulk_insert(state, [{"id": 1, "revision": 0}])
    op.create_table(
        "users",
        *_changing(),
        *_soft_deleted(),
        _name(),
        sa.Column("role", sa.String(20), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.CheckConstraint("role IN ('admin', 'member')", name=op.f("ck_users_role")),
    )
    _index("uq_user_name", "users", sa.text("lower(name)"), unique=True)
    op.create_index("idx_user_revision", "users", ["revision"])
    op.create_table(
        "agents",
        *_changing(),
        *_soft_deleted(),
        _uuid("owner_id"),
        _name(),
        sa.Column("description", sa.String(2000)),
        sa.Column("tools", _json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_agents_owner_id"),
    )
    _index("uq_agent_name", "agents", "owner_id", sa.text("lower(name)"), unique=True)
    op.create_index("idx_agent_revision", "agents", ["revision"])
    _create_keys_and_secrets()
    _create_tools()


def downgrade() -> None:
    """Drop everything."""
    for table in ("tool_versions", "tools", "secrets", "api_keys", "agents", "users", "board_state"):
        op.drop_table(table)


def _create_keys_and_secrets() -> None:
    op.create_table(
        "api_keys",
        *_changing(),
        _uuid("user_id"),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("prefix", sa.String(64), nullable=False),
        sa.Column("key_hash", sa.String(255), nullable=False),
        _uuid("agent_id", nullable=True),
        sa.Column("expires_at", _instant()),
        sa.Column("revoked_at", _instant()),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("key_hash", name="uq_key_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_keys_user_id"),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name="fk_api_keys_agent_id"),
    )
    op.create_index("idx_key_user", "api_keys", ["user_id"])
    op.create_index("idx_key_revision", "api_keys", ["revision"])
    op.create_table(
        "secrets",
        *_changing(),
        sa.Column("updated_at", _instant(), nullable=False),
        _uuid("owner_id"),
        _name(),
        sa.Column("sealed", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_secrets"),
        sa.UniqueConstraint("owner_id", "name", name="uq_secret_name"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_secrets_owner_id"),
    )
    op.create_index("idx_secret_revision", "secrets", ["revision"])


def _create_tools() -> None:
    op.create_table(
        "tools",
        *_changing(),
        *_soft_deleted(),
        _uuid("owner_id"),
        _name(),
        sa.Column("description", sa.String(2000)),
        sa.Column("tool_type", sa.String(50), nullable=False),
        sa.Column("config", _json(), nullable=False),
        sa.Column("input_schema", _json(), nullable=False),
        sa.Column("output_schema", _json()),
        sa.Column("auth_config", _json()),
        sa.Column("rate_limit", _json()),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("is_public", sa.Boolean, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("display_name", sa.String(255)),
        sa.Column("tags", _json(), nullable=False),
        sa.Column("timeout", sa.Float),
        sa.Column("unknown_parameters", sa.String(20), nullable=False),
        sa.Column("result_style", sa.String(20), nullable=False),
        sa.Column("retry", _json()),
        sa.Column("fallback", _json()),
        sa.Column("idempotent", sa.Boolean, nullable=False),
        sa.Column("read_only", sa.Boolean, nullable=False),
        sa.Column("destructive", sa.Boolean, nullable=False),
        sa.Column("keep_arguments", sa.Boolean, nullable=False),
        sa.Column("max_result_bytes", sa.Integer),
        sa.Column("drifted", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tools"),
        sa.CheckConstraint(f"tool_type IN ({_KINDS})", name=op.f("ck_tools_tool_type")),
        sa.CheckConstraint("is_active IS NOT NULL", name=op.f("ck_tools_is_active")),
        sa.CheckConstraint("is_public IS NOT NULL", name=op.f("ck_tools_is_public")),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_tools_owner_id"),
    )
    _index("uq_tool_name", "tools", sa.text("lower(name)"), unique=True)
    _index("idx_tool_name", "tools", "name")
    _index("idx_tool_type", "tools", "tool_type")
    _index("idx_tool_active", "tools", "is_active")
    _index("idx_tool_public", "tools", "is_public")
    # Where two indexes serve alike, both databases take the later one: an owner's tools are found by the smaller.
    _index("idx_tool_owner_active", "tools", "owner_id", "is_active")
    _index("idx_tool_owner", "tools", "owner_id")
    op.create_index("idx_tool_revision", "tools", ["revision"])
    op.create_table(
        "tool_versions",
        _uuid("id"),
        _uuid("tool_id"),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("definition", _json(), nullable=False),
        sa.Column("created_at", _instant(), nullable=False),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tool_versions"),
        sa.UniqueConstraint("tool_id", "version", name="uq_tool_version"),
        sa.ForeignKeyConstraint(["tool_id"], ["tools.id"], name="fk_tool_versions_tool_id"),
    )


def _index(name: str, table: str, *columns: Any, unique: bool = False) -> None:
    op.create_index(name, table, list(columns), unique=unique, sqlite_where=_NOT_DELETED, postgresql_where=_NOT_DELETED)


def _uuid(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Uuid(as_uuid=False), nullable=nullable)


def _name() -> sa.Column[Any]:
    return sa.Column("name", sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql"), nullable=False)


def _json() -> sa.JSON:
    return sa.JSON().with_variant(JSONB(), "postgresql")


def _instant() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def _changing() -> list[sa.Column[Any]]:
    return [
        _uuid("id"),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("created_at", _instant(), nullable=False),
    ]


def _soft_deleted() -> list[sa.Column[Any]]:
    return [
        sa.Column("updated_at", _instant(), nullable=False),
        sa.Column("is_deleted", sa.Boolean, nullable=False),
        sa.Column("deleted_at", _instant()),
    ]
