"""Table tools that admins store: their schema is derived from their fields."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.table.generate_tools import build_input_schema
from pegboard.model.api_errors import Forbidden, Invalid
from pegboard.model.tool import Tool
from pegboard.testing import member, memory_board
from tests.unit.kinds.table.make_tools import FIELDS, config

CONFIG = {"tableName": "mood_entries", "fields": FIELDS}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


def table(**more: Any) -> dict[str, Any]:
    return {"name": "log_mood", "tool_type": "table", "config": CONFIG, "input_schema": {}, **more}


async def faults(board: Pegboard, **more: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        await board.add(table(**more))
    return {fault.field: fault.message for fault in refused.value.faults}


class TestSchema:
    @pytest.mark.parametrize("given", [{}, {"type": "object"}, build_input_schema(config())])
    async def test_it_is_made_from_the_fields_if_the_definition_says_nothing_else(
        self, board: Pegboard, given: dict[str, Any]
    ) -> None:
        tool = await board.add(table(input_schema=given))
        assert tool.input_schema == build_input_schema(config())

    async def test_another_one_is_refused(self, board: Pegboard) -> None:
        found = await faults(board, input_schema={"type": "object", "properties": {"a": {}}})
        assert found == {"input_schema": "is made from config.fields; leave it out"}

    async def test_it_follows_the_config_of_a_change(self, board: Pegboard) -> None:
        await board.add(table())
        other = {**CONFIG, "fields": FIELDS[:2], "batch": True}
        changed = await board.tools.update("log_mood", {"config": other}, board.admin)
        assert changed.input_schema == build_input_schema(config(*FIELDS[:2], batch=True))
        assert changed.version == 2

    async def test_applying_the_same_definition_again_changes_nothing(self, board: Pegboard) -> None:
        await board.add(table())
        assert (await board.apply([table()])).unchanged == ["log_mood"]


class TestTheRest:
    async def test_by_default_answers_are_detailed_and_arguments_kept(self, board: Pegboard) -> None:
        def received(tool: Tool) -> tuple[str, str, bool]:
            return tool.result_style, tool.unknown_parameters, tool.keep_arguments

        assert received(await board.add(table(config={**CONFIG, "audit": True}))) == ("detailed", "reject", True)
        assert received(await board.add(table(name="other", result_style="plain"))) == ("plain", "reject", False)

    async def test_the_rules_for_files_hold_here_too(self, board: Pegboard) -> None:
        fields = [{"name": "a", "dataType": "text", "min": 1}, {"name": "b", "dataType": "text", "max_length": 5}]
        assert await faults(board, config={**CONFIG, "fields": fields[:1]}) == {
            "config.fields.0.min": "belongs to integer and numeric, not to text; text takes minLength, maxLength"
        }
        assert await faults(board, config={**CONFIG, "fields": fields}) == {
            "config.fields.1.max_length": "unknown key; did you mean 'maxLength'?"
        }

    async def test_numbers_are_shown_as_they_were_given(self, board: Pegboard) -> None:
        fields = [{"name": "a", "dataType": "numeric", "min": 0.5, "max": 10, "default": 1.5}]
        tool = await board.add(table(config={**CONFIG, "fields": fields}))
        assert tool.config["fields"] == fields

    async def test_members_may_not_register_them(self, board: Pegboard) -> None:
        ada = await member(board)
        with pytest.raises(Forbidden, match="Only admins may register table tools"):
            await board.add(table(), caller=ada)

    async def test_members_may_not_make_one_of_another_tool(self, board: Pegboard) -> None:
        ada = await member(board)
        await board.add(table(tool_type="mock", config={"mock_response": 1}), caller=ada)
        with pytest.raises(Forbidden, match="Only admins may register table tools"):
            await board.tools.update("log_mood", {"tool_type": "table", "config": CONFIG}, ada)
