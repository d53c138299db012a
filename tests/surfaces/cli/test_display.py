"""Tools that declare how their values are displayed: on a terminal, in a pipe, and in files."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
import yaml

from tests.surfaces.cli.run_program import Program, screen

SALES = [{"item": "Tea", "revenue": 12400}, {"item": "Cake", "revenue": 3600}]
MONEY = {"style": "money", "currency": "EUR", "scale": 2}
TABLE = ["item     revenue", "────  ──────────", "Tea   EUR 124.00", "Cake   EUR 36.00"]


@pytest.fixture
def sales(admin: Program) -> str:
    name = f"sales_{uuid4().hex[:8]}"
    definition = {
        "name": name,
        "tool_type": "mock",
        "config": {"mock_response": SALES},
        "input_schema": {},
        "display": {"result": "table", "fields": {"[].revenue": MONEY}},
    }
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    return name


@pytest.mark.parametrize("follow", [[], ["--follow"]])
def test_a_terminal_shows_the_result_as_people_read_it(admin: Program, sales: str, follow: list[str]) -> None:
    code, seen = admin.on_terminal("call", sales, *follow)
    assert code == 0
    first = len(follow)  # the status line comes before
    assert screen(seen)[first : first + len(TABLE)] == TABLE
    assert "12400" not in seen


def test_programs_get_the_result_itself(admin: Program, sales: str) -> None:
    assert admin.run("call", sales).done().json == SALES
    assert admin.run("call", sales, "--follow").done().json == SALES
    _, seen = admin.on_terminal("call", sales, "--json")
    assert json.loads(seen)["result"] == SALES


def test_a_terminal_shows_the_json_of_tools_that_say_nothing(admin: Program) -> None:
    _, seen = admin.on_terminal("call", "echo", "a=1")
    assert seen.replace("\r\n", "\n").startswith('{\n  "echo": {\n    "a": "1"\n  }\n}\n')


def test_an_export_says_no_more_than_was_written(member: Program) -> None:
    plain = {"name": "plain_one", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {}}
    display = {"arguments": {"q": {"style": "sql"}}, "result": {"style": "table"}, "fields": {"a": MONEY}}
    detached = {**plain, "name": "detached_one", "display": display, "on_disconnect": "detach"}
    member.run("tools", "add", "-", stdin=json.dumps([plain, detached])).done()
    exported = yaml.safe_load(member.run("export").done().out)["tools"]
    assert exported == [detached, plain]
