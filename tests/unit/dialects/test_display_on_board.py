"""A tool's display settings affect summaries and events for people, never what a model receives."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.dialects.base import Answer
from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.call import CallRequest, ToolResult
from pegboard.model.call_errors import ErrorType, Problem
from pegboard.surfaces.cli.edit_commands import to_definition
from pegboard.testing import member, memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import bearer, client, good, new_user

MONEY = {"style": "money", "currency": "XTS", "scale": 2}
DISPLAY = {"arguments": {"query": "sql", "order.total": MONEY}, "result": "table", "fields": {"[].price": MONEY}}
ROWS = [{"name": "tea", "price": 1250}, {"name": "cake", "price": 5}]
TOOL = {
    "name": "report",
    "tool_type": "mock",
    "config": {"mock_response": ROWS},
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}, "order": {"type": "object"}}},
    "is_public": True,
    "display": DISPLAY,
}
CALL = {"name": "report", "arguments": {"query": "SELECT 1 -- x\n FROM t", "order": {"total": 250, "id": 7}}}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board with one tool that has display settings."""
    async with memory_board([TOOL], admin_key=KEY) as fresh:
        yield fresh


async def answer_of(board: Pegboard, call: dict[str, Any]) -> Answer:
    asked = board.payloads.read(call, None, board.admin)
    return (await board.payloads.run(asked, CallRequest(board.admin))).answers[0]


async def test_a_summary_has_arguments_as_the_tool_says(board: Pegboard) -> None:
    (shown,) = board.normalize(CALL)["calls"]
    assert shown["summary"] == ('Report (query: SELECT 1 /* x */ FROM t, order: {"total":"XTS 2.50","id":7})')
    assert shown["arguments"] == CALL["arguments"]
    asked = board.payloads.read(CALL, None, board.admin)
    assert board.payloads.summary(asked.calls[0], board.admin) == shown["summary"]


async def test_an_outcome_is_one_line_and_a_display_as_many_as_it_needs(board: Pegboard) -> None:
    answer = await answer_of(board, CALL)
    assert board.payloads.outcome(answer, board.admin) == "2 rows (name, price)"
    assert board.payloads.display(answer, board.admin) == (
        "name      price\n────  ─────────\ntea   XTS 12.50\ncake   XTS 0.05"
    )


async def test_without_a_display_the_type_of_the_result_says_how_it_reads(board: Pegboard) -> None:
    answer = await answer_of(board, {"name": "echo", "arguments": {"text": "hi", "token": "t"}})
    assert board.payloads.outcome(answer, board.admin) == "echo: {…}"
    assert board.payloads.display(answer, board.admin) is None


async def test_an_error_is_reported_by_its_message(board: Pegboard) -> None:
    answer = await answer_of(board, {"name": "nope", "arguments": {}})
    assert board.payloads.outcome(answer, board.admin) == "Tool 'nope' not found"
    problem = Problem(ErrorType.UNKNOWN, "tool_failed", "a\n" * 900)
    long = Answer(AskedCall("report", {}), ToolResult("report", False, problem=problem))
    assert len(board.payloads.outcome(long, board.admin)) == 200
    assert board.payloads.display(long, board.admin) is None


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"[" + b"1," * 600_000 + b"1]", "a list, 1.14 MiB of JSON"),
        (b'{"a":"' + b"x" * 2**20 + b'"}', "an object, 1 MiB of JSON"),
        (b'"' + b"x" * 2**20 + b'"', "a text, 1 MiB of JSON"),
    ],
)
async def test_a_large_result_is_reported_by_its_size_and_not_read(board: Pegboard, output: bytes, text: str) -> None:
    answer = Answer(AskedCall("report", {}), ToolResult("report", True, output))
    assert board.payloads.outcome(answer, board.admin) == text
    assert board.payloads.display(answer, board.admin) is None
    assert "output" not in vars(answer.result)


async def test_users_who_may_not_call_a_tool_do_not_see_its_display(board: Pegboard) -> None:
    await board.add({**TOOL, "name": "own", "is_public": False})
    stranger = await member(board)
    asked = board.payloads.read({**CALL, "name": "own"}, None, stranger)
    assert "XTS" in board.payloads.summary(asked.calls[0], board.admin)
    assert "XTS" not in board.payloads.summary(asked.calls[0], stranger)


@pytest.mark.parametrize("dialect", list(load_dialects()))
async def test_no_model_gets_any_of_it(board: Pegboard, dialect: str) -> None:
    bare = {key: value for key, value in TOOL.items() if key != "display"}
    async with memory_board([bare]) as without:
        if "define" in board.dialects[dialect].abilities:
            assert await board.definitions(dialect) == await without.definitions(dialect)
    asked = board.payloads.read(CALL, None, board.admin)
    answered = await board.payloads.run(asked, CallRequest(board.admin))
    texts = [json.dumps(board.payloads.render(answered, dialect), default=str)]
    texts.append(board.dialects[dialect].render_json(answered.answers[0]).decode())
    for text in texts:
        assert "1250" in text
        assert "XTS" not in text
        assert '"display"' not in text


async def test_owner_and_others_are_shown_it_and_may_send_it_back(board: Pegboard) -> None:
    async with client(board) as admin:
        _, key = await new_user(admin, "bob")
        own = good(await admin.get("/v1/tools/report"))
        theirs = good(await admin.get("/v1/tools/report", headers=bearer(key)))
        assert own["display"] == theirs["display"]
        assert own["display"]["result"]["style"] == "table"
        changed = good(await admin.patch("/v1/tools/report", json={"display": own["display"]}))
        assert changed["version"] == 1
        refused = await admin.patch("/v1/tools/report", json={"display": {"result": "sqll"}})
        assert refused.json()["errors"] == [
            {"field": "display.result.style", "message": "unknown style; did you mean 'sql'?"}
        ]


async def test_a_change_of_it_is_a_version_and_null_clears_it(board: Pegboard) -> None:
    async with client(board) as admin:
        assert good(await admin.patch("/v1/tools/report", json={"display": {"result": "json"}}))["version"] == 2
        assert good(await admin.patch("/v1/tools/report", json={"display": None}))["display"] is None
        versions = good(await admin.get("/v1/tools/report/versions"))["items"]
        assert [version["definition"]["display"] for version in versions] == [
            None,
            {"result": {"style": "json"}},
            DISPLAY | {"result": {"style": "table"}, "arguments": {"query": {"style": "sql"}, "order.total": MONEY}},
        ]


async def test_applying_it_again_changes_nothing(board: Pegboard) -> None:
    async with client(board) as admin:
        plan = good(await admin.post("/v1/apply", json={"tools": [TOOL]}))
        assert plan["unchanged"] == ["report"]
        changed = {**TOOL, "display": {"result": "json"}}
        plan = good(await admin.post("/v1/apply", json={"tools": [changed]}))
        assert plan["updated"] == {"report": ["display"]}


async def test_what_is_exported_has_it_and_applies_without_a_change(board: Pegboard) -> None:
    async with client(board) as admin:
        exported = to_definition(good(await admin.get("/v1/tools/report")))
        assert exported["display"]["arguments"]["query"]["style"] == "sql"
        plan = good(await admin.post("/v1/apply", json={"tools": [exported]}))
        assert plan["unchanged"] == ["report"]


async def test_over_rest_the_answer_of_a_call_has_none_of_it(board: Pegboard) -> None:
    async with client(board) as admin:
        answer: httpx.Response = await admin.post("/v1/tools/report/call", json=CALL["arguments"])
        assert good(answer)["result"] == ROWS
        assert "XTS" not in answer.text
