"""The ids of the tools that chains and fallbacks name."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0009_bound_tools"
down_revision = "0008_thread_agents"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and bind the names in saved definitions to the tools that have these names now."""
    op.add_column("tools", sa.Column("bound_tools", _json()))
    tools = sa.table(
        "tools",
        *(sa.column(name, sa.Uuid(as_uuid=False)) for name in ("id", "owner_id")),
        *(sa.column(name, sa.Boolean) for name in ("is_deleted", "is_public")),
        *(sa.column(name, _json()) for name in ("config", "fallback", "bound_tools")),
        sa.column("name", sa.String),
    )
    users = sa.table("users", sa.column("id", sa.Uuid(as_uuid=False)), sa.column("role", sa.String))
    connection = op.get_bind()
    admins = set(connection.execute(sa.select(users.c.id).where(users.c.role == "admin")).scalars())
    listed = sa.select(tools.c.id, tools.c.owner_id, tools.c.is_public, tools.c.name, tools.c.is_deleted)
    names = {row.name.lower(): row for row in connection.execute(listed) if not row.is_deleted}
    defined = sa.select(tools.c.id, tools.c.owner_id, tools.c.config, tools.c.fallback)
    for row in connection.execute(defined).all():
        bound = {
            name: names[name].id
            for name in _names_in(row.config, row.fallback)
            if name in names
            and (names[name].is_public or names[name].owner_id == row.owner_id or row.owner_id in admins)
        }
        if bound:
            connection.execute(sa.update(tools).where(tools.c.id == row.id).values(bound_tools=bound))


def downgrade() -> None:
    """Drop the column; names alone then decide which tools are called."""
    op.drop_column("tools", "bound_tools")


def _names_in(config: Any, fallback: Any) -> set[str]:
    chain = config.get("chain") if isinstance(config, dict) else None
    steps = chain.get("steps") or () if isinstance(chain, dict) else ()
    named = [step.get("tool") for step in steps if isinstance(step, dict)]
    if isinstance(fallback, dict):
        named.append(fallback.get("tool"))
    return {name.lower() for name in named if isinstance(name, str)}


def _json() -> sa.JSON:
    return sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
