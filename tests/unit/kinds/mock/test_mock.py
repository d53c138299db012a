"""Mock and builtin executors, and which tools they run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.catalog import build_executors
from pegboard.kinds.internal.executor import InternalExecutor
from pegboard.kinds.internal.functions import load_installed_handlers
from pegboard.kinds.mock.executor import contains_json
from pegboard.kinds.table.sources import TableSources
from pegboard.model.tool import Kind
from pegboard.storage.database import Database
from pegboard.testing import NoSettings, memory_board
from pegboard.wiring import ExecutorServices, create_confinement, create_mcp_sessions, create_outbound_services
from tests.surfaces.rest.clients import mock


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {}, True),
        ({}, {"a": None}, False),
        ({"a": None}, {"a": None}, True),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": 1}, {"a": {"b": 1}}, False),
        ({"a": [1, 2]}, {"a": [1, 2]}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1.0}, {"a": 1}, True),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": [True]}, {"a": [1]}, False),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, False),
        ({"a": [{"b": [1]}]}, {"a": [{"b": [1]}]}, True),
    ],
)
def test_a_condition_fits_if_every_key_has_the_same_value(whole: Any, part: Any, expected: bool) -> None:
    assert contains_json(whole, part) is expected


async def test_the_first_response_that_fits_answers_else_the_general_one(board: Pegboard) -> None:
    responses = [{"when": {"n": 1}, "respond": "one"}, {"when": {}, "respond": None}]
    await board.add(mock(config={"mock_responses": responses}))
    assert (await board.call("quote", {"n": 1})).output == "one"
    assert (await board.call("quote", {"n": 2})).output is None
    await board.add(mock("bare", config={"mock_responses": responses[:1]}))
    assert (await board.call("bare", {"n": 2})).output is None


async def test_what_a_caller_does_to_an_answer_does_not_change_the_next(board: Pegboard) -> None:
    await board.add(mock(config={"mock_response": {"list": [1]}}))
    first = await board.call("quote")
    first.output["list"].append(2)
    assert (await board.call("quote")).output == {"list": [1]}


async def test_parameters_are_logged_without_what_looks_secret(
    board: Pegboard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "pegboard")
    await board.add(mock())
    await board.call("quote", {"city": "Oslo", "api_key": "hush", "deep": {"password": "hush"}, "long": "x" * 5000})
    assert "'city': 'Oslo'" in caplog.text
    assert "hush" not in caplog.text
    assert "x" * 300 not in caplog.text


async def test_every_kind_has_an_executor() -> None:
    internal = InternalExecutor()
    settings, database = NoSettings(), Database.create("memory")
    reach = create_outbound_services(settings, None)
    confinement = create_confinement(settings, database, reach)
    sessions = create_mcp_sessions(settings, reach.outbound)
    sources = TableSources(database)
    found = build_executors(
        ExecutorServices(reach, confinement, internal, sessions, lambda _tool, _found: None, sources)
    )
    assert set(found) == set(Kind)
    assert found[Kind.INTERNAL] is internal
    assert load_installed_handlers() == {}
