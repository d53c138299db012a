"""Runs the migrations on the connection it is given."""

from __future__ import annotations

from alembic import context

from pegboard.store import contract_models, journal_models, memory_models, models  # noqa: F401 -- for their tables
from pegboard.store.base_models import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
