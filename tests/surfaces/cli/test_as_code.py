"""Tools as code: files in, files out."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import SECONDS, Program

TOOLS = """
- name: {0}_alpha
  description: |
    First line.
    Second line.
  tool_type: mock
  config: {{mock_response: {{on: yes, time: 12:30, octal: 0o14, number: "0o14", exponent: "1e5", none: null}}}}
  input_schema: {{type: object, properties: {{on: {{type: boolean, default: false}}}}}}
  retry: {{max_attempts: 3, on: [timeout, contract_violation]}}
  fallback: {{value: null}}
  rate_limit: {{max_calls: 5, period: minute}}
  timeout: 2.5
- name: {0}_beta
  tool_type: http
  config:
    url: https://example.com/{{x}}
    method: get
    headers: {{Authorization: Bearer abc, X-Key: "{{{{secret:TOKEN}}}}"}}
  input_schema: {{type: object, properties: {{x: {{type: string}}}}}}
  auth_config: {{type: bearer, token: s3cr3t}}
  fallback: {{tool: {0}_alpha}}
  tags: [x, y]
  is_active: false
"""


@pytest.fixture
def prefix() -> str:
    """Names of this test alone."""
    return f"t{uuid4().hex[:8]}"


def mock(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "tool_type": "mock", "config": {"mock_response": name}, "input_schema": {}, **more}


def test_the_plan_is_shown_and_then_carried_out(member: Program, prefix: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(TOOLS.format(prefix))
    ran = member.start("apply", str(file))
    assert ran.done().out == f"+ {prefix}_alpha\n+ {prefix}_beta\n"
    assert ran.err == "Applied: 2 created\n"
    again = member.run("apply", str(file)).done()
    assert again.out == f"= {prefix}_alpha\n= {prefix}_beta\n"
    assert again.err == "Nothing to do\n"


def test_an_update_names_the_fields_that_differ(member: Program, prefix: str) -> None:
    member.run("apply", "-", stdin=json.dumps(mock(prefix))).done()
    changed = member.run("apply", "-", stdin=json.dumps(mock(prefix, description="New", timeout=3))).done()
    assert changed.out == f"~ {prefix} (description, timeout)\n"


def test_a_dry_run_changes_nothing(member: Program, prefix: str) -> None:
    ran = member.run("apply", "-", "--dry-run", "--json", stdin=json.dumps(mock(prefix))).done()
    assert ran.json == {"created": [prefix], "updated": {}, "unchanged": [], "deleted": []}
    assert member.run("tools", "show", prefix).code == 1


def test_json_prints_the_plan_that_was_carried_out(member: Program, prefix: str) -> None:
    ran = member.run("--json", "apply", "-", stdin=json.dumps([mock(prefix)])).done()
    assert ran.json["created"] == [prefix]
    assert member.run("call", prefix).done().json == prefix


def test_prune_removes_what_is_not_in_the_files(member: Program, prefix: str, tmp_path: Path) -> None:
    member.run("apply", "-", stdin=json.dumps([mock(f"{prefix}_a"), mock(f"{prefix}_b")])).done()
    file = tmp_path / "one.json"
    file.write_text(json.dumps(mock(f"{prefix}_a")))
    refused = member.run("apply", str(file), "--prune")
    assert refused.code == 2
    assert "--yes" in refused.err
    plan = member.run("apply", str(file), "--prune", "--dry-run").done().out
    assert plan == f"- {prefix}_b\n= {prefix}_a\n"
    member.run("apply", str(file), "--prune", "--yes").done()
    assert [tool["name"] for tool in member.run("tools", "list", "--mine", "--json").json["items"]] == [f"{prefix}_a"]
    assert member.run("call", "echo").code == 0


@pytest.mark.parametrize(("answer", "code", "left"), [("y", 0, 0), ("n", 1, 1), (None, 130, 1)])
def test_a_person_is_asked_before_anything_is_removed(
    member: Program, prefix: str, tmp_path: Path, answer: str | None, code: int, left: int
) -> None:
    member.run("apply", "-", stdin=json.dumps(mock(prefix))).done()
    (tmp_path / "none.yaml").write_text("tools: []\n")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        forked_command("pegboard", "apply", str(tmp_path / "none.yaml"), "--prune"),
        env=member.full_environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        asked = b""
        while b"[y/N]" not in asked:
            asked += os.read(process.stderr.fileno(), 1024)
        if answer is None:
            process.send_signal(signal.SIGINT)
        else:
            os.write(ours, f"{answer}\n".encode())
        process.communicate(timeout=SECONDS)
    os.close(ours)
    assert process.returncode == code
    assert len(member.run("tools", "list", "--mine", "--json").json["items"]) == left


def test_a_folder_gives_all_its_files_in_order(member: Program, prefix: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "b.yaml").write_text(yaml.safe_dump_all([mock(f"{prefix}_1"), mock(f"{prefix}_2")]))
    (tmp_path / "a.yml").write_text(yaml.safe_dump({"tools": [mock(f"{prefix}_0")]}))
    (tmp_path / "sub" / "c.JSON").write_text(json.dumps([mock(f"{prefix}_3")]))
    (tmp_path / "notes.txt").write_text("not a tool")
    (tmp_path / ".hidden" / "d.yaml").write_text("not: a tool")
    ran = member.run("apply", str(tmp_path), "--dry-run").done()
    assert ran.out == "".join(f"+ {prefix}_{number}\n" for number in range(4))


def test_a_fault_is_reported_with_the_file_and_line_it_is_in(member: Program, prefix: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(mock(prefix)))
    (tmp_path / "b.yaml").write_text(f"# one\n- name: {prefix}_b\n  tool_type: mock\n  colour: red\n- {{}}\n")
    (tmp_path / "c.json").write_text(json.dumps([mock(f"{prefix}_c"), mock("not a name")]))
    (tmp_path / "d.yaml").write_text(yaml.safe_dump(mock(prefix.upper())))
    ran = member.start("apply", str(tmp_path))
    assert (ran.code, ran.out) == (1, "")
    assert f"{tmp_path}/b.yaml:2 '{prefix}_b' colour: unknown key" in ran.err
    assert f"{tmp_path}/b.yaml:5 name: required" in ran.err
    assert f"{tmp_path}/c.json (tool 2) 'not a name' name: " in ran.err
    assert f"{tmp_path}/d.yaml:1 '{prefix.upper()}': the same name as {tmp_path}/a.yaml:1" in ran.err
    assert "tools." not in ran.err
    assert member.run("tools", "show", prefix).code == 1


def test_a_tool_of_another_user_is_not_taken_over(member: Program, tmp_path: Path) -> None:
    file = tmp_path / "echo.yaml"
    file.write_text(yaml.safe_dump(mock("echo")))
    ran = member.run("apply", str(file))
    assert ran.code == 1
    assert f"{file}:1 'echo': a tool of this name belongs to another user" in ran.err


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_was_exported_applies_without_a_change(member: Program, prefix: str, tmp_path: Path, form: str) -> None:
    member.run("apply", "-", stdin=TOOLS.format(prefix)).done()
    file = tmp_path / f"out.{form}"
    result = member.run("export", str(file)).done()
    first, second = result.err.splitlines()
    assert first == f"Wrote 2 tools to {file}"
    assert second.startswith(f"Masked: credentials of {prefix}_beta.")
    text = file.read_text()
    assert "s3cr3t" not in text
    assert "abc" not in text
    assert "********" in text
    ran = member.run("apply", str(file), "--prune", "--dry-run", "--json").done()
    assert ran.json == {
        "created": [],
        "updated": {},
        "unchanged": [f"{prefix}_alpha", f"{prefix}_beta"],
        "deleted": [],
    }


def test_an_export_is_as_short_as_it_can_be(member: Program, prefix: str) -> None:
    member.run("apply", "-", stdin=TOOLS.format(prefix)).done()
    alpha, beta = json.loads(member.run("export", "--format", "json").done().out)["tools"]
    assert set(alpha) == {
        "name",
        "description",
        "tool_type",
        "config",
        "input_schema",
        "retry",
        "fallback",
        "rate_limit",
        "timeout",
    }
    assert alpha["config"]["mock_response"] == {
        "on": "yes",
        "time": "12:30",
        "octal": 12,
        "number": "0o14",
        "exponent": "1e5",
        "none": None,
    }
    assert alpha["retry"] == {"max_attempts": 3, "on": ["contract_violation", "timeout"]}
    assert alpha["rate_limit"] == {"max_calls": 5, "period": "minute"}
    assert alpha["fallback"] == {"value": None}
    assert beta["fallback"] == {"tool": f"{prefix}_alpha"}
    assert beta["auth_config"] == {"type": "bearer", "token": "********"}
    assert beta["config"]["headers"] == {"Authorization": "********", "X-Key": "{{secret:TOKEN}}"}
    assert beta["is_active"] is False


def test_an_export_can_be_narrowed_and_leaves_the_shipped_tools_out(
    admin: Program, member: Program, prefix: str
) -> None:
    member.run("apply", "-", stdin=TOOLS.format(prefix)).done()
    tagged = yaml.safe_load(member.run("export", "--tag", "y").done().out)
    assert [tool["name"] for tool in tagged["tools"]] == [f"{prefix}_beta"]
    assert yaml.safe_load(admin.run("export", "--mine").done().out) == {"tools": []}
    everybodys = [tool["name"] for tool in yaml.safe_load(admin.run("export", "--all").done().out)["tools"]]
    assert {f"{prefix}_alpha", f"{prefix}_beta"} <= set(everybodys)
    assert "echo" not in everybodys


def test_what_others_hide_is_left_out_of_an_export(admin: Program, member: Program, prefix: str) -> None:
    admin.run("apply", "-", stdin=json.dumps(mock(prefix, is_public=True))).done()
    ran = member.run("export", "--all").done()
    assert prefix not in ran.out
    assert "Left out 1 tool of other users" in ran.err
    admin.run("tools", "remove", prefix).done()


def test_an_export_that_cannot_be_written_exits_2(admin: Program, tmp_path: Path) -> None:
    assert admin.run("export", str(tmp_path / "no" / "where.yaml")).code == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing in it"),
        ("# only words\n", "nothing in it"),
        ("3", "a number; write a tool"),
        ("- 3", "not a tool but a number"),
        ("tools: 3", "must be a list of tools"),
        ("tools: []\ntool: 1", "unknown key 'tool' beside 'tools'"),
        ("name: a\nname: b", "standard input:2: the key 'name' is given twice, first in line 1"),
        ("name: [", "not YAML"),
        ("name: !!python/object/apply:os.system [id]", "tags such as"),
    ],
)
def test_a_file_without_tools_exits_2(admin: Program, text: str, reason: str) -> None:
    ran = admin.run("apply", "-", stdin=text)
    assert ran.code == 2
    assert reason in ran.err


def test_a_source_that_is_not_there_exits_2(admin: Program, tmp_path: Path) -> None:
    assert "No such file" in admin.run("apply", str(tmp_path / "nonesuch")).err
    assert "no *.yaml" in admin.run("apply", str(tmp_path)).err
    (tmp_path / "bad.json").write_text('{"a": 1,\n"b": }')
    assert f"{tmp_path}/bad.json:2: not JSON" in admin.run("apply", str(tmp_path)).err


def test_a_body_larger_than_the_board_takes_is_refused(member: Program, prefix: str) -> None:
    ran = member.run("apply", "-", stdin=json.dumps(mock(prefix, config={"mock_response": "x" * 5_000_000})))
    assert ran.code == 1
    assert "larger than" in ran.err
