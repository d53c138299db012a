"""table tools: insert rows into the tables of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pegboard.kinds.base import ArgumentCheck, Executor, KindSpec, RegistrationRules
from pegboard.kinds.table.checks import complete_definition, find_definition_faults
from pegboard.kinds.table.config import TableConfig
from pegboard.model.call import Caller
from pegboard.model.tool import Tool

if TYPE_CHECKING:
    from pegboard.kinds.table.sources import TableSources


class _Services(Protocol):
    @property
    def sources(self) -> TableSources: ...


def _make_executor(services: _Services) -> Executor:
    from pegboard.kinds.table.executor import TableExecutor  # noqa: PLC0415 -- start-up time

    return TableExecutor(services.sources)


def _may_register(_tool: Tool, caller: Caller, _rules: RegistrationRules) -> str | None:
    if caller.is_admin:
        return None
    return "Only admins may register table tools, which write to the databases of this board"


def _make_argument_check(tool: Tool) -> ArgumentCheck:
    from pegboard.kinds.table.arguments import TableArgumentChecker  # noqa: PLC0415 -- start-up time

    return TableArgumentChecker(tool)


KIND = KindSpec(
    "table",
    TableConfig,
    _make_executor,
    exact_numbers=True,
    # `complete_definition` makes the schema, when the config has been read.
    derive_schema=lambda _config: {},
    complete=complete_definition,
    check=find_definition_faults,
    may_register=_may_register,
    arguments=_make_argument_check,
    local_origin="comes from the file of tables (PEGBOARD_TABLES); change it there",
    purpose="Inserts rows into a database table",
    example={
        "name": "log_mood",
        "description": "Log how a person feels.",
        "tool_type": "table",
        "config": {
            "tableName": "mood_entries",
            "fields": [
                {"name": "mood", "dataType": "enum", "required": True, "enumValues": ["happy", "neutral", "sad"]},
                {"name": "notes", "dataType": "text", "maxLength": 500},
            ],
        },
    },
)
