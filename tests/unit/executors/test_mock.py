"""Mock and builtin executors, and which runs what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.catalog import build_executors
from pegboard.kinds.confined_call import ConfinedServices
from pegboard.kinds.internal.executor import InternalExecutor
from pegboard.kinds.internal.functions import load_installed_handlers
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mock.executor import contains_json
from pegboard.kinds.outbound_services import OutboundServices
from pegboard.kinds.table.sources import TableSources
from pegboard.model.tool import Kind
from pegboard.sandbox.limits import SandboxLimits
from pegboard.storage.database import Database
from pegboard.testing import memory_board
from pegboard.wiring import ExecutorServices
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
def test_a_condition_fits_where_every_key_has_the_same_value(whole: Any, part: Any, expected: bool) -> None:
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
    reach = OutboundServices.of(
        "",
        resolver=None,
        connect_seconds=1,
        max_bytes=1,
        host_connections=2,
    )
    confinement = ConfinedServices.of(
        SandboxLimits(memory=512 * 2**20, processes=64, disk=256 * 2**20, output=2**20),
        children=1,
        zygotes=1,
        without=(),
        own=(),
        libraries=(),
        max_result_bytes=1,
        outbound=reach.outbound,
    )
    sessions = McpSessionPool(reach.outbound, children=0, child_memory=1, max_bytes=1, connect_seconds=1)
    sources = TableSources(Database.create("memory"))
    found = build_executors(
        ExecutorServices(reach, confinement, internal, sessions, lambda _tool, _found: None, sources)
    )
    assert set(found) == set(Kind)
    assert found[Kind.INTERNAL] is internal
    assert load_installed_handlers() == {}
