"""Runs the migrations on the given connection."""

from __future__ import annotations

from alembic import context

from pegboard.storage import baseline_tables, board_tables, conversation_tables, journal_tables  # noqa: F401 -- for their tables
from pegboard.storage.board_tables import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
