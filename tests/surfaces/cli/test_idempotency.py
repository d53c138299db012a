"""`pegboard call --once KEY`: a repeated key gets the first result again."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.surfaces.cli.run_program import Program


@pytest.fixture
def key() -> str:
    return uuid4().hex


def test_a_call_with_a_key_runs_once(member: Program, key: str) -> None:
    first = member.run("call", "current_time", "--json", "--once", key).done()
    again = member.start("call", "current_time", "--json", "--once", key).done()
    assert again.out == first.out
    rows = member.run("audit", "list", "--json").done().json["items"]
    assert [row["repeat_of"] for row in rows] == [rows[1]["id"], None]
    other = member.run("call", "current_time", "--json", "--once", uuid4().hex).done()
    assert other.out != first.out


def test_a_failure_is_the_same_failure_again(member: Program, key: str) -> None:
    first, again = [member.run("call", "math_eval", "expression=1/0", "--once", key) for _ in range(2)]
    assert (first.code, again.code) == (1, 1)
    assert again.err == first.err


def test_other_arguments_fail_and_say_why(member: Program, key: str) -> None:
    member.run("call", "echo", "a=1", "--once", key).done()
    refused = member.run("call", "echo", "a=2", "--once", key)
    assert (refused.code, refused.out) == (1, "")
    assert "used for 'echo' with other arguments" in " ".join(refused.err.split())


@pytest.mark.parametrize("bad", ["", "x" * 256, "ü", "a\tb", "a\nb"])
def test_what_is_no_key_is_refused(member: Program, bad: str) -> None:
    refused = member.run("call", "echo", "--once", bad)
    assert refused.code in (1, 2)
    assert "printable ASCII" in " ".join(refused.err.split())
    assert member.run("audit", "list", "--json").done().json["items"] == []
