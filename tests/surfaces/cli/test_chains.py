"""Chains on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.cli.run_program import Program

CHAIN = """\
steps:
  - id: a
    tool: math_eval
    arguments: {expression: "{{input.x}} + 1"}
  - id: b
    tool: echo
    arguments: {got: "{{steps.a.output.result}}"}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file with a chain."""
    (tmp_path / "chain.yaml").write_text(CHAIN)
    return str(tmp_path / "chain.yaml")


def test_a_chain_is_run_and_its_answer_printed(admin: Program, file: str) -> None:
    ran = admin.run("chains", "run", file, "x:=1").done()
    assert json.loads(ran.out) == {"echo": {"got": 2}}
    assert [line.split()[0] for line in ran.err.splitlines()] == ["a", "b"]


def test_words_are_added_to_the_input_that_the_file_has(admin: Program, tmp_path: Path) -> None:
    path = tmp_path / "chain.yaml"
    path.write_text(CHAIN + "input:\n")
    assert json.loads(admin.run("chains", "run", str(path), "x:=1").done().out) == {"echo": {"got": 2}}
    path.write_text(CHAIN + "input: [1]\n")
    ran = admin.run("chains", "run", str(path), "x:=1")
    assert (ran.code, "input must be an object" in ran.err) == (2, True)


def test_a_chain_that_fails_says_where_and_exits_with_one(admin: Program, file: str) -> None:
    ran = admin.run("chains", "run", file)
    assert ran.code == 1
    assert "Failed: Step 'a' failed: '{{input.x}}' cannot be resolved: input is empty" in ran.err
    answer = admin.run("chains", "run", file, "--json")
    assert (answer.code, json.loads(answer.out)["success"]) == (1, False)


def test_a_chain_is_saved_listed_shown_and_called(admin: Program, file: str) -> None:
    assert "Saved 'plus_one', version 1" in admin.run("chains", "save", file, "--name", "plus_one").done().err
    assert "plus_one" in admin.run("chains", "list").done().out
    assert json.loads(admin.run("chains", "show", "plus_one").done().out)["steps"][0]["id"] == "a"
    assert json.loads(admin.run("call", "plus_one", "x:=4").done().out) == {"echo": {"got": 5}}
    assert "is not a chain" in admin.run("chains", "show", "echo").err


def test_what_is_no_chain_is_reported(admin: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("steps:\n  - {id: a, tool: echo, after: [b]}\n")
    ran = admin.run("chains", "run", str(tmp_path / "bad.yaml"))
    assert ran.code == 1
    assert "there is no step 'b'" in ran.err
