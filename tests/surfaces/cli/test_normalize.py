"""The calls of any payload, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.cli.run_program import Program

CALL = {"name": "echo", "arguments": {"text": "hi"}, "id": "c1"}


def test_calls_are_shown_as_a_table(admin: Program, tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    file.write_text(json.dumps([CALL, {"name": "echo", "arguments": '{"text": ', "id": "c2"}]))
    ran = admin.start("normalize", str(file)).done()
    header, first, second = ran.out.splitlines()
    assert header.split() == ["ID", "NAME", "SUMMARY", "ERROR"]
    assert first.split()[:2] == ["c1", "echo"]
    assert "hi" in first
    assert second.split()[-1] == "malformed_arguments"
    assert ran.err == "2 calls in plain\n"


def test_standard_input_is_read_and_json_is_the_apis_own(admin: Program) -> None:
    answer = admin.run("normalize", "-", "--json", stdin=json.dumps(CALL)).done().json
    assert answer["dialect"] == "plain"
    assert [(call["id"], call["name"], call["arguments"]) for call in answer["calls"]] == [
        ("c1", "echo", {"text": "hi"})
    ]


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.sse", "calls.txt", "calls"])
def test_lines_of_json_are_read_whatever_the_file_is_called(admin: Program, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    mark = "data: " if name.endswith(".sse") else ""
    file.write_text("".join(f"{mark}{json.dumps({**CALL, 'id': identity})}\n\n" for identity in ("a", "b")))
    answer = admin.run("normalize", str(file), "--json").done().json
    assert [call["id"] for call in answer["calls"]] == ["a", "b"]


def test_the_dialect_can_be_named(admin: Program, tmp_path: Path) -> None:
    assert admin.run("normalize", "-", "--from", "plain", stdin=json.dumps(CALL)).done().err == "1 call in plain\n"
    ran = admin.run("normalize", "-", "--from", "nope", stdin=json.dumps(CALL))
    assert (ran.code, ran.out) == (1, "")
    assert "Unknown dialect 'nope'" in ran.err


def test_a_payload_of_no_dialect_is_refused(admin: Program) -> None:
    ran = admin.run("normalize", "-", stdin='{"what": "ever"}')
    assert (ran.code, ran.out) == (1, "")
    assert "unrecognised_format" in ran.err


def test_a_json_file_that_is_no_json_is_refused_as_such(admin: Program, tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_text('{"name": ')
    assert admin.run("normalize", str(file)).code == 1


def test_a_file_that_is_not_there_is_a_mistake_of_usage(admin: Program, tmp_path: Path) -> None:
    ran = admin.run("normalize", str(tmp_path / "nowhere.json"))
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere.json" in ran.err


def test_the_text_of_a_model_is_read_from_standard_input(admin: Program) -> None:
    text = 'Let me see. <tool_call>\n{"name": "echo", "arguments": {"text": "hi"}}\n</tool_call>'
    ran = admin.run("normalize", "-", stdin=text).done()
    assert ran.out.splitlines()[1].split()[1] == "echo"
    assert ran.err.startswith("1 call in text_")


@pytest.mark.parametrize("name", ["calls.json", "calls.txt"])
def test_a_byte_order_mark_before_the_text_is_no_part_of_it(admin: Program, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(CALL), encoding="utf-8-sig")
    assert admin.run("normalize", str(file)).done().err == "1 call in plain\n"


def test_calls_that_would_be_refused_say_why(admin: Program) -> None:
    ran = admin.run("normalize", "-", "--check", stdin=json.dumps([CALL, {"name": "nope", "arguments": {}}])).done()
    _, first, second = ran.out.splitlines()
    assert "not found" not in first
    assert "Tool 'nope' not found" in second
