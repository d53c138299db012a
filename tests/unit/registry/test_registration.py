"""Definitions that no call could use are refused at registration."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.shell.command_template import find_shell_operator
from pegboard.model.api_errors import Conflict, Invalid, NotFound
from pegboard.storage import tool_rows
from pegboard.testing import member, memory_board
from tests.surfaces.rest.clients import mock

ID = {"type": "object", "properties": {"id": {"type": "string"}}}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board in memory."""
    async with memory_board() as fresh:
        yield fresh


def http(url: str, schema: dict[str, Any]) -> dict[str, Any]:
    return mock("pet", tool_type="http", config={"url": url, "method": "GET"}, input_schema=schema)


class TestUrl:
    @pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {"pet": {}}}])
    async def test_a_parameter_that_the_schema_lacks_is_refused(self, board: Pegboard, schema: Any) -> None:
        for url in ("https://example.com/pet/{id}", "https://example.com/pets?one={id}"):
            with pytest.raises(Invalid, match=r"config\.url: \{id\} is not among the properties of input_schema"):
                await board.add(http(url, schema))
        await board.add(http("https://example.com/pet/{id}", ID))
        with pytest.raises(Invalid, match=r"\{id\} is not among"):
            await board.tools.update("pet", {"input_schema": schema}, board.admin)

    @pytest.mark.parametrize(
        "schema",
        [
            ID,
            {"allOf": [{"$ref": "#/definitions/one"}], "definitions": {"one": ID}},
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "patternProperties": {"^i": {"type": "string"}}},
        ],
    )
    async def test_one_that_a_call_can_give_is_not(self, board: Pegboard, schema: Any) -> None:
        await board.add(http("https://example.com/{{secret:PATH}}/pet/{id}", schema))

    async def test_a_tool_from_before_can_still_be_switched_off(self, board: Pegboard) -> None:
        made = await board.add(http("https://example.com/pet/{id}", ID))
        async with board.database.change() as change:
            fields: dict[str, Any] = {name: getattr(made, name) for name in made.__dataclass_fields__}
            older = type(made)(**{**fields, "input_schema": {}})
            await tool_rows.save_tool(change.conn, older, revision=change.revision, by=made.owner_id)
        await board.tools.update("pet", {"is_active": False}, board.admin)


async def test_a_misspelt_operation_is_refused_with_the_nearest(board: Pegboard) -> None:
    with pytest.raises(Invalid, match=r"config\.operation: .*'math_evl' not found; did you mean 'math_eval'\?"):
        await board.add(mock(tool_type="builtin", config={"operation": "math_evl"}))


@pytest.mark.parametrize(
    "command",
    [
        "cat a.csv | wc -l",
        "make && make test",
        "sort a > b",
        "sort a >b",
        "ls 2>&1",
        "ls 2>/dev/null",
        "cat < a",
        "sleep 1 &",
    ],
)
async def test_a_pipe_or_redirection_needs_a_shell(board: Pegboard, command: str) -> None:
    definition = mock("it", tool_type="shell", config={"command": command})
    with pytest.raises(Invalid, match=r"config\.command: .* is an argument here.*shell: true"):
        await board.add(definition)
    await board.add({**definition, "config": {"command": command, "shell": True}})


@pytest.mark.parametrize(
    "command",
    [
        "grep '|' a",
        'grep "|" a',
        "grep \\| a",
        "grep -E a|b c",
        "awk '{print $1 > 2}' a",
        "find . -exec ls {} ;",
        "a 'b\n| c'",
    ],
)
def test_what_is_quoted_or_part_of_a_word_is_an_argument(command: str) -> None:
    assert find_shell_operator(command) is None


class TestRestore:
    async def test_a_deleted_tool_is_restored_by_its_name(self, board: Pegboard) -> None:
        ada = await member(board)
        made = await board.add(mock("quote"), caller=ada)
        with pytest.raises(NotFound):
            await board.tools.restore("quote", ada)
        await board.tools.delete("quote", ada)
        with pytest.raises(NotFound, match="No deleted tool has the name or id 'quote'"):
            await board.tools.restore("quote", await member(board, "bob"))
        assert (await board.tools.restore("QUOTE", ada)).id == made.id

    async def test_of_several_one_is_named_by_its_id(self, board: Pegboard) -> None:
        ids = []
        for _ in range(2):
            ids.append((await board.add(mock("quote"))).id)
            await board.tools.delete("quote", board.admin)
        with pytest.raises(Conflict, match="2 deleted tools were named 'quote'; restore one by its id") as refused:
            await board.tools.restore("quote", board.admin)
        assert all(tool_id in refused.value.message for tool_id in ids)
        assert (await board.tools.restore(ids[0], board.admin)).id == ids[0]
