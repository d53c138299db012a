"""The registry from the command line."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.run_program import Program

WEATHER = """
name: weather
description: |
  The weather.
  In two lines.
tool_type: mock
config: {mock_response: {sky: clear}}
input_schema: {type: object, properties: {city: {type: string}}}
tags: [demo, sky]
"""


def mock(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "tool_type": "mock", "config": {"mock_response": name}, "input_schema": {}, **more}


def add(program: Program, *definitions: dict[str, Any]) -> list[dict[str, Any]]:
    made = program.run("tools", "add", "-", "--json", stdin=json.dumps(definitions)).done().json
    return [made] if isinstance(made, dict) else list(made)


@pytest.fixture(autouse=True)
def _clean(admin: Program) -> None:
    """Remove the admin's tools before each test, because the tests of this module share a board."""
    admin.run("apply", "-", "--prune", "--yes", stdin="tools: []").done()


def test_a_tool_is_added_from_yaml_and_can_be_called_at_once(admin: Program, tmp_path: Path) -> None:
    (tmp_path / "weather.yaml").write_text(WEATHER)
    ran = admin.start("tools", "add", str(tmp_path / "weather.yaml"))
    assert ran.done().out.startswith("added weather  ")
    assert admin.run("call", "weather", "city=Oslo").done().json == {"sky": "clear"}


def test_one_added_tool_answers_one_object_and_several_a_list(admin: Program) -> None:
    one = admin.run("tools", "add", "-", "--json", stdin=json.dumps(mock("one"))).done().json
    assert (one["name"], one["version"]) == ("one", 1)
    two = admin.run("tools", "add", "-", "--json", stdin=json.dumps([mock("two"), mock("three")])).done().json
    assert [tool["name"] for tool in two] == ["two", "three"]


def test_several_tools_are_added_all_or_none(admin: Program, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([mock("good"), mock("bad", input_schema={"type": "nonsense"}), mock("never")]))
    ran = admin.run("tools", "add", str(file))
    assert (ran.code, ran.out) == (1, "")
    assert "nothing was applied" in ran.err
    assert f"{file}" in ran.err
    assert "'bad' input_schema" in ran.err
    assert admin.run("tools", "show", "good").code == 1
    file.write_text(json.dumps([mock("good"), mock("never")]))
    assert admin.run("tools", "add", str(file)).done().out.startswith("added good")
    admin.run("tools", "show", "never").done()


def test_tools_that_exist_are_not_added_again_and_apply_is_named(admin: Program, tmp_path: Path) -> None:
    add(admin, mock("there"))
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([mock("new"), mock("there", description="other")]))
    ran = admin.run("tools", "add", str(file))
    assert ran.code == 1
    assert "nothing was added, because these tools exist: there" in ran.err
    assert "pegboard apply FILE" in ran.err
    assert admin.run("tools", "show", "new").code == 1
    again = admin.run("tools", "add", "-", stdin=json.dumps(mock("there")))
    assert (again.code, "pegboard apply FILE" in again.err) == (1, True)


def test_every_fault_of_a_definition_is_named_with_its_field(admin: Program) -> None:
    ran = admin.run("tools", "add", "-", stdin=json.dumps({"name": "1x", "tool_type": "mock", "colour": "red"}))
    assert ran.code == 1
    assert all(f"{field}: " in ran.err for field in ("name", "config", "input_schema", "colour"))


def test_the_list_is_filtered(admin: Program) -> None:
    add(
        admin,
        mock("off", is_active=False),
        mock("open", is_public=True, tags=["x"]),
        mock("shut", description="Sesame"),
    )

    def names(*words: str) -> list[str]:
        found = admin.run("tools", "list", "--json", *words).done().json["items"]
        return [tool["name"] for tool in found if tool["name"] in ("off", "open", "shut")]

    assert names() == ["off", "open", "shut"]
    assert names("--inactive") == ["off"]
    assert names("--active") == ["open", "shut"]
    assert names("--public") == ["open"]
    assert names("--private", "--mine") == ["off", "shut"]
    assert names("--tag", "x") == ["open"]
    assert names("-q", "sesame") == ["shut"]
    assert names("--type", "http") == []
    assert admin.run("tools", "list", "--type", "nonsense").code == 1


def test_a_member_lists_their_own_with_mine(member: Program) -> None:
    add(member, mock("my_own"))
    assert [tool["name"] for tool in member.run("tools", "list", "--mine", "--json").done().json["items"]] == ["my_own"]


def test_the_list_is_a_table_with_a_header(admin: Program) -> None:
    add(admin, mock("tabled", tags=["a", "b"], description="Two\nlines"))
    lines = admin.run("tools", "list").done().out.splitlines()
    assert lines[0].split() == ["NAME", "KIND", "ACTIVE", "PUBLIC", "TAGS", "DESCRIPTION"]
    row = next(line for line in lines if line.startswith("tabled"))
    assert row.split() == ["tabled", "mock", "yes", "no", "a,", "b", "Two", "lines"]


def test_a_list_that_is_cut_says_how_to_read_on(admin: Program) -> None:
    add(admin, *(mock(f"many_{number:03}") for number in range(12)))
    words = ["tools", "list", "-q", "many_", "--limit", "5"]
    first = admin.run(*words, "--json").done().json
    assert len(first["items"]) == 5
    cursor = first["next_cursor"]
    result = admin.run(*words).done().err
    assert "--all" in result
    assert f"--cursor {cursor}" in result
    second = admin.run(*words, "--cursor", cursor, "--json").done().json
    assert [tool["name"] for tool in second["items"]] == [f"many_{number:03}" for number in range(5, 10)]


def test_all_and_large_limits_are_assembled_from_pages(admin: Program) -> None:
    definitions = [mock(f"page_{number:03}") for number in range(205)]
    admin.run("apply", "-", stdin=json.dumps(definitions)).done()
    every = admin.run("tools", "list", "-q", "page_", "--all", "--json").done().json
    assert (len(every["items"]), every["next_cursor"]) == (205, None)
    some = admin.run("tools", "list", "-q", "page_", "--limit", "202", "--json").done().json
    assert [tool["name"] for tool in some["items"]] == [f"page_{number:03}" for number in range(202)]
    assert some["next_cursor"]
    assert admin.run("tools", "list", "--limit", "0").code == 2


def test_a_tool_is_shown_as_it_could_be_written(admin: Program) -> None:
    admin.run("tools", "add", "-", stdin=WEATHER).done()
    shown = admin.run("tools", "show", "weather").done().out
    assert "name: weather\n" in shown
    assert "description: |\n  The weather.\n  In two lines.\n" in shown
    assert "version: 1\n" in shown
    assert admin.run("tools", "show", "WEATHER", "--json").done().json["name"] == "weather"


def test_fields_are_changed_by_pairs(admin: Program) -> None:
    add(admin, mock("edited"))
    ran = admin.run("tools", "edit", "edited", "description=New words", "is_public:=true", "tags:=[]")
    assert ran.done().out == "edited is at version 2\n"
    tool = admin.run("tools", "show", "edited", "--json").done().json
    assert (tool["description"], tool["is_public"]) == ("New words", True)


def test_fields_are_changed_by_a_file(admin: Program, tmp_path: Path) -> None:
    add(admin, mock("filed"))
    (tmp_path / "change.yaml").write_text("timeout: 5\ndisplay_name: Filed\n")
    tool = admin.run("tools", "edit", "filed", "--input", str(tmp_path / "change.yaml"), "--json").done().json
    assert (tool["timeout"], tool["display_name"], tool["version"]) == (5, "Filed", 2)
    assert admin.run("tools", "edit", "filed", "--input", "-", stdin="[1]").code == 2
    assert admin.run("tools", "edit", "filed", "a=1", "--input", "-", stdin="{}").code == 2
    assert admin.run("tools", "edit", "filed", "colour=red").code == 1
    assert admin.run("tools", "edit", "filed", "version:=1", "description=late").code == 1


def editor(folder: Path, script: str) -> str:
    file = folder / "editor.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_a_tool_is_changed_in_ones_own_editor(admin: Program, tmp_path: Path) -> None:
    add(admin, mock("by_hand", description="Before", is_public=True))
    change = editor(tmp_path, "sed -i 's/^description: .*/description: After/; /^is_public/d' \"$1\"")
    admin.run("tools", "edit", "by_hand", EDITOR=change, TMPDIR=str(tmp_path)).done()
    tool = admin.run("tools", "show", "by_hand", "--json").done().json
    assert (tool["description"], tool["is_public"], tool["version"]) == ("After", False, 2)
    assert not list(tmp_path.glob("pegboard-*"))


def test_an_editor_that_changes_nothing_changes_nothing(admin: Program) -> None:
    add(admin, mock("untouched", retry={"max_attempts": 2}, fallback={"tool": "echo"}))
    ran = admin.run("tools", "edit", "untouched", EDITOR="true").done()
    assert "Nothing was changed" in ran.err
    assert admin.run("tools", "show", "untouched", "--json").done().json["version"] == 1


def test_a_mistake_in_the_editor_loses_no_work(admin: Program, tmp_path: Path) -> None:
    add(admin, mock("mistaken"))
    ran = admin.start("tools", "edit", "mistaken", EDITOR=editor(tmp_path, 'echo "a: [" > "$1"'), TMPDIR=str(tmp_path))
    assert ran.code == 2
    [kept] = tmp_path.glob("pegboard-mistaken-*.yaml")
    assert f"kept in {kept}" in ran.err
    assert kept.read_text() == "a: [\n"


def test_a_concurrent_change_of_another_user_is_not_undone(admin: Program, tmp_path: Path) -> None:
    add(admin, mock("raced"))
    other = f"{sys.executable} -m pegboard tools edit raced timeout:=9 >/dev/null || exit 9"
    ran = admin.run("tools", "edit", "raced", EDITOR=editor(tmp_path, f'{other}\necho "timeout: 5" >> "$1"'))
    assert ran.code == 1
    assert "is now at version 2" in ran.err


@pytest.mark.parametrize("command", ["false", "/nonexistent/editor", "'"])
def test_an_editor_that_fails_exits_2(admin: Program, command: str) -> None:
    assert admin.run("tools", "edit", "echo", EDITOR=command).code == 2


def test_nothing_to_change_and_no_caller_to_ask_exits_2(admin: Program) -> None:
    ran = admin.run("tools", "edit", "echo", stdin="", EDITOR="", VISUAL="")
    assert ran.code == 2
    assert "EDITOR" in ran.err


def test_another_users_tool_is_not_edited(admin: Program, member: Program) -> None:
    add(admin, mock("theirs", is_public=True))
    assert member.run("tools", "edit", "theirs", EDITOR="true").code == 1
    assert member.run("tools", "edit", "theirs", "description=mine").code == 1


def test_a_removed_tool_can_be_restored(admin: Program) -> None:
    [tool] = add(admin, mock("fleeting"))
    result = admin.run("tools", "remove", "fleeting", "--yes").done()
    assert result.out == "removed fleeting\n"
    assert f"pegboard tools restore {tool['id']}" in result.err
    assert admin.run("call", "fleeting").code == 1
    assert tool["id"] in admin.run("tools", "list", "--deleted").done().out
    assert admin.run("tools", "restore", "Fleeting").done().out == "restored fleeting\n"
    admin.run("tools", "remove", "fleeting", "--yes").done()
    assert admin.run("tools", "restore", tool["id"]).done().out == "restored fleeting\n"
    assert admin.run("call", "fleeting").done().json == "fleeting"
    assert admin.run("tools", "remove", "fleeting", "--json").done().json == {"removed": tool["id"]}
    assert admin.run("tools", "remove", "fleeting").code == 1


def test_versions_say_what_changed(admin: Program) -> None:
    add(admin, mock("aging"))
    admin.run("tools", "edit", "aging", "description=Older", "timeout:=3").done()
    lines = admin.run("tools", "versions", "aging").done().out.splitlines()
    assert lines[0].split() == ["VERSION", "WHEN", "BY", "CHANGED"]
    assert lines[1].endswith("description, timeout")
    assert lines[2].endswith("made")
    listed = admin.run("tools", "versions", "aging", "--json").done().json["items"]
    assert [item["version"] for item in listed] == [2, 1]
