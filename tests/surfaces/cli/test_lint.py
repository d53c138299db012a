"""`pegboard lint`: how providers would treat the tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.run_program import Program

TOOL: dict[str, Any] = {
    "name": "lookup",
    "description": "Looks something up",
    "tool_type": "mock",
    "config": {"mock_response": 1},
    "input_schema": {"type": "object", "properties": {"maxSize": {"type": "integer"}, "max_size": {"type": "integer"}}},
}


@pytest.fixture
def lookup(member: Program) -> Iterator[Program]:
    """A user with one tool."""
    member.run("tools", "add", "-", stdin=json.dumps(TOOL)).done()
    yield member
    member.run("tools", "remove", "lookup", "--yes").done()


def test_findings_and_tokens_are_shown_with_how_tokens_are_counted(lookup: Program) -> None:
    ran = lookup.start("tools", "lint", "lookup", "--for", "plain").done()
    lines = ran.out.splitlines()
    assert lines[0].split() == ["TOOL", "TOKENS"]
    assert lines[1].split()[0] == "lookup"
    assert lines[2].split() == ["SEVERITY", "TOOL", "FOR", "FIELD", "FINDING"]
    assert lines[3].split()[:4] == ["misread", "lookup", "plain", "input_schema.properties.maxSize"]
    assert lines[-1].startswith("note ")
    assert "plain: 1 tool, about " in ran.err
    assert "divided by 4" in ran.err


def test_what_several_providers_make_of_it_alike_is_reported_once(lookup: Program) -> None:
    ran = lookup.run("tools", "lint", "lookup", "--for", "plain", "--for", "detailed").done()
    rows = [line.split()[:4] for line in ran.out.splitlines() if line.startswith("misread")]
    assert rows == [
        ["misread", "lookup", "all", "input_schema.properties.maxSize"],
        ["misread", "lookup", "all", "input_schema.properties.max_size"],
    ]


def test_json_is_the_apis_own(lookup: Program) -> None:
    answer = lookup.run("tools", "lint", "--for", "plain", "--json").done().json
    (provider,) = answer["providers"]
    assert "lookup" in [linted["tool"] for linted in provider["tools"]]


@pytest.mark.parametrize("words", [("nope",), ("--for", "nope")])
def test_unknown_tools_and_providers_are_refused_by_name(lookup: Program, words: tuple[str, ...]) -> None:
    ran = lookup.run("tools", "lint", *words)
    assert (ran.code, ran.out) == (1, "")
    assert "nope" in ran.err


def test_what_a_provider_would_refuse_ends_with_1(member: Program) -> None:
    many = [{**TOOL, "name": f"lookup_{number:03}"} for number in range(129)]
    member.run("apply", "-", stdin=json.dumps({"tools": many})).done()
    names = [tool["name"] for tool in many]
    for form in ([], ["--json"]):
        ran = member.run("tools", "lint", *names, "--for", "openai", *form)
        assert ran.code == 1
        assert "129 tools, openai_chat accepts at most 128" in ran.out
    assert member.run("tools", "lint", *names[:2], "--for", "openai").code == 0


def test_definitions_in_a_file_are_checked_and_not_registered(member: Program, tmp_path: Path) -> None:
    file = tmp_path / "draft.json"
    file.write_text(json.dumps({**TOOL, "name": "draft"}))
    linted = member.run("tools", "lint", "--file", str(file), "--for", "plain").done()
    assert "draft" in linted.out
    assert member.run("tools", "show", "draft").code == 1
    assert "Give one of" in member.run("tools", "lint", "echo", "--file", str(file)).err


def test_the_tools_of_an_agent_are_checked_by_its_name(lookup: Program) -> None:
    lookup.run("agents", "add", "finder", "--tool", "lookup").done()
    try:
        ran = lookup.run("tools", "lint", "--agent", "finder", "--for", "plain").done()
    finally:
        lookup.run("agents", "remove", "finder", "--yes").done()
    assert "plain: 1 tool, about " in ran.err
