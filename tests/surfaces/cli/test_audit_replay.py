"""Replays of recorded calls from the command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import Program

NOWHERE = "01a1de67-d38f-7fad-935b-1783e6436bab"


def add(program: Program, response: Any = None, **more: Any) -> str:
    """Add a tool that stores its arguments and output; return its name."""
    name = f"tool_{uuid4().hex[:8]}"
    base = {"name": name, "tool_type": "mock", "config": {"mock_response": response}, "input_schema": {}}
    definition = {**base, "keep_arguments": True, "keep_result": True, **more}
    program.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    return name


def change(program: Program, name: str, response: Any) -> None:
    program.run("tools", "edit", name, f"config:={json.dumps({'mock_response': response})}").done()


def make_call(program: Program, name: str) -> str:
    """Make a call and return the id of its row."""
    program.run("call", name)
    [item] = program.run("audit", "list", "--tool", name, "--limit", "1", "--json").done().json["items"]
    return str(item["id"])


def test_a_call_that_ends_as_recorded_is_the_same(admin: Program) -> None:
    name = add(admin, {"sky": "clear"})
    first = make_call(admin, name)
    ran = admin.start("audit", "replay", first).done()
    lines = [line.split() for line in ran.out.splitlines()]
    again = lines[2][-1]
    assert lines[0] == ["TOOL", "VERSION", "STATUS", "MS", "ID"]
    assert lines[1][:4] == ["recorded", name, "1", "succeeded"]
    assert lines[2][:4] == ["now", name, "1", "succeeded"]
    assert lines[3:] == [["the", "same"]]
    row = admin.run("audit", "show", again).done().json
    assert (lines[1][-1], row["repeat_of"], row["surface"]) == (first, first, "cli")


def test_what_differs_is_shown_a_line_each_and_the_program_says_so(admin: Program) -> None:
    name = add(admin, {"sky": "grey", "wind": 3, "größe": "🦋"})
    first = make_call(admin, name)
    change(admin, name, {"sky": "blue", "rain": [True, None], "größe": "🦋"})
    ran = admin.run("audit", "replay", first)
    assert ran.code == 1
    assert ran.out.splitlines()[3:] == [
        '~ result.sky: "grey" → "blue"',
        "- result.wind: 3",
        "+ result.rain: [true, null]",
    ]
    assert ran.err == ""


def test_an_earlier_version_or_another_tool_takes_its_place(admin: Program) -> None:
    name, other = add(admin, 1), add(admin, 1)
    first = make_call(admin, name)
    change(admin, name, 2)
    assert admin.run("audit", "replay", first).code == 1
    assert admin.run("audit", "replay", first, "--version", "1").done().out.endswith("the same\n")
    assert admin.run("audit", "replay", first, "--tool", other).done().out.endswith("the same\n")
    assert admin.run("audit", "replay", first, "--version", "7").code == 1
    assert admin.run("audit", "replay", first, "--version", "one").code == 2
    ran = admin.run("audit", "replay", first, "--version", "1", "--tool", other)
    assert (ran.code, "not both" in ran.err) == (1, True)


def test_json_is_what_the_board_answered_and_ends_alike(admin: Program) -> None:
    name = add(admin, 1)
    first = make_call(admin, name)
    assert admin.run("audit", "replay", first, "--json").done().json["same"] is True
    change(admin, name, 2)
    ran = admin.run("audit", "replay", first, "--json")
    assert (ran.code, ran.json["differences"]) == (
        1,
        [{"path": "result", "change": "changed", "before": 1, "after": 2}],
    )


def test_without_a_kept_result_a_replay_reports_that_it_cannot_compare(admin: Program) -> None:
    name = add(admin, 1, keep_result=False)
    ran = admin.run("audit", "replay", make_call(admin, name)).done()
    assert "the same" not in ran.out
    assert "keep_result: true" in ran.err


def test_a_failure_that_comes_again_is_the_same_and_still_one(admin: Program) -> None:
    name = add(admin, tool_type="internal", config={"handler": "nonesuch"}, read_only=True)
    ran = admin.run("audit", "replay", make_call(admin, name))
    assert ran.code == 1
    assert ran.out.endswith("the same\n")
    assert ran.err == "Failed: Internal handler 'nonesuch' not found\n"


def test_nothing_in_a_result_moves_the_terminal_or_makes_up_lines(admin: Program) -> None:
    name = add(admin, {"a": 1})
    first = make_call(admin, name)
    change(admin, name, {"a": "\x1b[2J\x9b\n", "b\n+ result.c: 1\x07": 2})
    ran = admin.run("audit", "replay", first)
    assert ran.out.splitlines()[3:] == [
        '~ result.a: 1 → "\\u001b[2J\\x9b\\n"',
        "+ result.b + result.c: 1\\x07: 2",
    ]


def test_more_differences_than_people_read_are_left_out(admin: Program) -> None:
    name = add(admin, list(range(500)))
    first = make_call(admin, name)
    change(admin, name, [])
    lines = admin.run("audit", "replay", first).out.splitlines()
    assert (len(lines), lines[-1]) == (3 + 100 + 1, "… and more")


def test_what_cannot_be_run_again_says_why(admin: Program, member: Program) -> None:
    name = add(admin, 1)
    first = make_call(admin, name)
    for program, words, why in (
        (admin, [make_call(admin, "echo")], "keep_arguments: true"),
        (admin, [NOWHERE], "not found"),
        (member, [first], "not found"),
        (admin, [first, "--tool", "nonesuch"], "Tool 'nonesuch' not found"),
    ):
        ran = program.run("audit", "replay", *words)
        assert (ran.code, ran.out) == (1, "")
        assert why in ran.err
    assert admin.run("audit", "replay").code == 2


class TestEffects:
    @pytest.fixture
    def acted(self, admin: Program) -> str:
        """A recorded call that may have changed something."""
        return make_call(admin, add(admin, tool_type="internal", config={"handler": "nonesuch"}))

    def answered(self, program: Program, answer: bytes, *words: str) -> tuple[int, str]:
        """Run the program on a terminal where a user types an answer; return its exit code and the screen."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            forked_command("pegboard", *words),
            env=program.full_environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        os.write(ours, answer)
        seen = b""
        with process, suppress(OSError):  # a terminal ends with an error
            while part := os.read(ours, 65536):
                seen += part
        os.close(ours)
        return process.returncode, seen.decode()

    def runs(self, program: Program, execution_id: str) -> int:
        name = program.run("audit", "show", execution_id).done().json["tool_name"]
        return len(program.run("audit", "list", "--tool", name, "--json").done().json["items"])

    def test_they_are_not_repeated_without_a_word(self, admin: Program, acted: str) -> None:
        ran = admin.start("audit", "replay", acted)
        assert (ran.code, ran.out) == (1, "")
        assert all(way in ran.err for way in ("--yes", "--tool MOCK", "--version N"))
        assert self.runs(admin, acted) == 1

    def test_yes_is_a_word(self, admin: Program, acted: str) -> None:
        for flag in ("--yes", "-y"):
            ran = admin.run("audit", "replay", acted, flag)
            assert ran.out.endswith("the same\n")
        assert self.runs(admin, acted) == 3

    def test_on_a_terminal_people_are_asked(self, admin: Program, acted: str) -> None:
        code, seen = self.answered(admin, b"n\n", "audit", "replay", acted)
        assert (code, "Run it again anyway?" in seen, "Nothing was run" in seen) == (1, True, True)
        assert self.runs(admin, acted) == 1
        code, seen = self.answered(admin, b"y\n", "audit", "replay", acted)
        assert (code, "the same\r\n" in seen) == (1, True)
        assert self.runs(admin, acted) == 2

    def test_a_mock_needs_no_confirming(self, admin: Program, acted: str) -> None:
        ran = admin.run("audit", "replay", acted, "--tool", add(admin, 1))
        assert ran.code == 1
        assert '~ status: "failed" → "succeeded"' in ran.out or '~ status: "refused" → "succeeded"' in ran.out


def test_other_arguments_come_from_a_file_or_standard_input(admin: Program) -> None:
    name = add(admin, {"sky": "clear"})
    first = make_call(admin, name)
    ran = admin.run("audit", "replay", first, "--arguments", "-", stdin='{"city": "Lisbon"}').done()
    assert "run with other arguments than the recorded ones" in ran.out.splitlines()
    ran = admin.run("audit", "replay", first, "--arguments", "-", stdin="[1]")
    assert ran.code == 1
    assert "arguments" in ran.err
