"""Output on a terminal, and control characters that must not reach it."""

from __future__ import annotations

import json
import re

from tests.surfaces.cli.run_program import Program

ESCAPE = "\x1b"


def test_a_table_fits_the_terminal_and_cuts_only_prose(admin: Program) -> None:
    code, seen = admin.on_terminal("tools", "list")
    lines = seen.splitlines()
    assert code == 0
    assert all(len(line.rstrip()) <= 80 for line in lines if ESCAPE not in line)
    assert any(re.match(r"calculate_rsi +builtin", line) and line.rstrip().endswith("…") for line in lines)


def test_an_id_is_never_cut(member: Program) -> None:
    member.run("call", "echo").done()
    [item] = member.run("audit", "list", "--json").done().json["items"]
    _, seen = member.on_terminal("audit", "list")
    assert item["id"] in seen


def test_colours_are_for_terminals_that_want_them(admin: Program) -> None:
    _, plain = admin.on_terminal("call", "nonesuch", NO_COLOR="1")
    assert plain == "Failed: Tool 'nonesuch' not found\r\n"
    _, coloured = admin.on_terminal("call", "nonesuch", NO_COLOR="")
    assert coloured == f"{ESCAPE}[31mFailed: {ESCAPE}[0mTool 'nonesuch' not found\r\n"
    _, timed = admin.on_terminal("call", "echo", NO_COLOR="")
    assert f"{ESCAPE}[2mecho: " in timed
    assert "\\x1b" not in timed


def test_what_others_wrote_cannot_colour_or_move_anything(admin: Program) -> None:
    definition = {
        "name": "painted",
        "tool_type": "mock",
        "description": f"{ESCAPE}[2Jgone\x07",
        "tags": [f"{ESCAPE}]0;title"],
        "config": {"mock_response": f"{ESCAPE}[31m"},
        "input_schema": {},
    }
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    for words in (["tools", "list", "-q", "painted"], ["tools", "show", "painted"], ["call", "painted"], ["export"]):
        ran = admin.run(*words).done()
        assert not {ESCAPE, "\x07"} & set(ran.out + ran.err), words
    _, seen = admin.on_terminal("tools", "list", "-q", "painted")
    assert f"{ESCAPE}[2J" not in seen
    assert f"{ESCAPE}]0;" not in seen
