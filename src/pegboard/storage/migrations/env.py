"""Runs the migrations on the given connection."""

from __future__ import annotations

from alembic import context

from pegboard.storage import journal_tables  # noqa: F401 -- for its tables
from pegboard.storage.board_tables import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
