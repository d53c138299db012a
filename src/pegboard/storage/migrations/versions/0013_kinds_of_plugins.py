"""Tools of kinds that installed packages add: no CHECK on `tools.tool_type`."""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0013_kinds_of_plugins"
down_revision = "0012_signed_intents"
branch_labels = None
depends_on = None

_NAME = "ck_tools_tool_type"
_RULE = "tool_type IN ('http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal', 'table')"
_CHECK = re.compile(rf"\s*CONSTRAINT {_NAME} CHECK \(tool_type IN \([^)]*\)\),")
_KEY = "CONSTRAINT pk_tools PRIMARY KEY (id),"


def upgrade() -> None:
    """Drop the CHECK."""
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(lambda table: _CHECK.sub("", table, count=1))
    else:
        op.drop_constraint(op.f(_NAME), "tools", type_="check")


def downgrade() -> None:
    """Add it again; this fails as long as there are tools of other kinds."""
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(lambda table: table.replace(_KEY, f"{_KEY} \n\tCONSTRAINT {_NAME} CHECK ({_RULE}),", 1))
    else:
        op.create_check_constraint(op.f(_NAME), "tools", _RULE)


def _rebuild(change: Callable[[str], str]) -> None:
    """Create the table `tools` of SQLite again with a changed statement, with all its rows, indexes and triggers."""
    connection = op.get_bind()
    # The references to the rows are checked at the end of the transaction, when the rows are back. With a renamed copy
    # SQLite would count the rows as lost.
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    described = sa.text("SELECT sql FROM sqlite_master WHERE tbl_name = 'tools' AND type = :type AND sql IS NOT NULL")
    table = connection.execute(described, {"type": "table"}).scalar_one()
    changed = change(table)
    if changed == table:
        raise RuntimeError(f"The table tools is not as migrations make it: {table}")
    others = [
        statement
        for kind in ("index", "trigger")
        for statement in connection.execute(described, {"type": kind}).scalars()
    ]
    connection.exec_driver_sql("CREATE TEMPORARY TABLE tools_before AS SELECT * FROM tools")
    connection.exec_driver_sql("DROP TABLE tools")
    connection.exec_driver_sql(changed)
    connection.exec_driver_sql("INSERT INTO tools SELECT * FROM temp.tools_before")
    connection.exec_driver_sql("DROP TABLE temp.tools_before")
    for statement in others:
        connection.exec_driver_sql(statement)
