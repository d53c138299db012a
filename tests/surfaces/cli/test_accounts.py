"""Users, keys, agents and secrets from the command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from tests.surfaces.cli.run_program import SECONDS, Program, serving


@pytest.fixture
def name() -> str:
    """A name of this test alone."""
    return f"n{uuid4().hex[:8]}"


def test_whoami_says_whose_key_it_is(admin: Program, member: Program) -> None:
    assert admin.start("whoami").done().out.startswith("admin (admin), user ")
    assert member.run("--json", "whoami").done().json["user"]["role"] == "member"


def test_a_user_is_added_listed_and_removed(admin: Program, name: str) -> None:
    assert admin.run("users", "add", name, "--role", "admin").done().out.startswith(f"added {name} (admin)  ")
    listed = admin.run("users", "list", "--all", "--json").done().json["items"]
    [user] = [user for user in listed if user["name"] == name]
    assert user["id"] in admin.run("users", "list", "--all").done().out
    assert admin.run("users", "remove", user["id"], "--yes").done().out == f"removed {user['id']}\n"
    assert admin.run("users", "remove", name, "--yes").code == 1


def test_a_user_is_removed_by_name_and_their_keys_are_void(admin: Program, name: str) -> None:
    user = admin.run("users", "add", name, "--json").done().json
    key = admin.run("keys", "create", name).done().out.strip()
    admin.run("whoami", PEGBOARD_KEY=key).done()
    assert admin.run("users", "remove", name, "--json", "--yes").done().json == {"removed": user["id"]}
    assert admin.run("whoami", PEGBOARD_KEY=key).code == 1


def test_a_member_may_not_see_the_users(member: Program) -> None:
    ran = member.run("users", "list")
    assert ran.code == 1
    assert "Only admins may" in ran.err


def test_a_role_that_does_not_exist_is_refused(admin: Program, name: str) -> None:
    ran = admin.run("users", "add", name, "--role", "king")
    assert ran.code == 1
    assert "role" in ran.err


def test_a_new_key_is_alone_on_standard_output(admin: Program, name: str) -> None:
    admin.run("users", "add", name).done()
    ran = admin.start("keys", "create", name, "--name", "laptop")
    assert ran.code == 0
    assert len(ran.out.split()) == 1
    assert "shown only once" in ran.err
    assert admin.run("whoami", PEGBOARD_KEY=ran.out.strip()).done().out.startswith(f"{name} (member)")


def test_a_key_ends_when_it_was_reported_to(member: Program) -> None:
    key = member.run("keys", "create", "--expires", "30d", "--json").done().json
    left = datetime.fromisoformat(key["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29) < left <= timedelta(days=30)
    exact = member.run("keys", "create", "--expires", "2999-01-31T12:00:00Z", "--json").done().json
    assert datetime.fromisoformat(exact["expires_at"]) == datetime(2999, 1, 31, 12, tzinfo=UTC)
    assert member.run("keys", "create", "--expires", "soon").code == 2
    assert member.run("keys", "create", "--expires", "1999-01-31").code == 1


def test_a_revoked_key_is_good_for_nothing(member: Program) -> None:
    key = member.run("keys", "create", "--json").done().json
    other = member.but(PEGBOARD_KEY=key["key"])
    other.run("whoami").done()
    assert member.run("keys", "revoke", key["id"], "--json").done().json == {"revoked": key["id"]}
    assert "revoked" in other.run("whoami").err
    listed = member.run("keys", "list").done().out
    assert key["prefix"] in listed
    assert key["key"] not in listed


def test_an_admin_revokes_the_key_of_a_user_they_name(admin: Program, name: str) -> None:
    admin.run("users", "add", name).done()
    key = admin.run("keys", "create", name, "--json").done().json
    missed = admin.run("keys", "revoke", key["id"])
    assert missed.code == 1
    assert "--user" in missed.err
    admin.run("keys", "revoke", key["id"], "--user", name).done()
    assert admin.run("keys", "list", name, "--json").done().json["items"][0]["revoked_at"]


def test_an_agent_is_made_shown_changed_and_removed(member: Program, name: str) -> None:
    words = ["--tool", "echo", "--tool", "math_eval", "--description", "Counts"]
    assert member.run("agents", "add", name, *words).done().out.startswith(f"added {name}  ")
    shown = member.run("agents", "show", name).done().out.splitlines()
    assert (shown[0], shown[2:]) == (f"{name}: Counts", ["- echo", "- math_eval"])
    assert len(member.run("agents", "show", name, "--json").done().json["tools"]) == 2
    assert name in member.run("agents", "list").done().out
    assert [tool["name"] for tool in member.run("agents", "definitions", name).done().json] == ["echo", "math_eval"]
    member.run("agents", "edit", name, "--tool", "echo", "--name", f"{name}2").done()
    assert [tool["name"] for tool in member.run("agents", "definitions", f"{name}2").done().json] == ["echo"]
    assert member.run("agents", "edit", f"{name}2", "--no-tools", "--json").done().json["tools"] == []
    assert member.run("agents", "edit", f"{name}2").code == 2
    assert member.run("agents", "edit", f"{name}2", "--tool", "echo", "--no-tools").code == 2
    assert member.run("agents", "remove", f"{name}2", "--yes").done().out == f"removed {name}2\n"
    assert member.run("agents", "show", f"{name}2").code == 1


def test_tools_are_put_on_an_agent_and_taken_off_it_one_by_one(member: Program, name: str) -> None:
    def tools() -> list[str]:
        return [tool["name"] for tool in member.run("agents", "definitions", name).done().json]

    edit = ("agents", "edit", name)
    member.run("agents", "add", name, "--tool", "echo", "--tool", "math_eval").done()
    assert member.run(*edit, "--add-tool", "current_time").done().out == f"{name} has 3 tools\n"
    member.run(*edit, "--add-tool", "json_query", "--remove-tool", "echo", "--remove-tool", "math_eval").done()
    assert tools() == ["current_time", "json_query"]
    assert member.run(*edit, "--add-tool", "json_query").done().out == f"{name} has 2 tools\n"
    missing = member.run(*edit, "--remove-tool", "echo")
    assert (missing.code, missing.err) == (1, "Error: The agent does not have the tool 'echo'\n")
    assert member.run(*edit, "--add-tool", "nonesuch").code == 1
    for others in (["--tool", "echo"], ["--no-tools"]):
        assert member.run(*edit, "--add-tool", "echo", *others).code == 2
    assert member.run(*edit, "--remove-tool", "json_query").done().out == f"{name} has 1 tool\n"
    assert tools() == ["current_time"]


def test_a_tool_that_was_removed_is_taken_off_an_agent_by_its_id(member: Program, name: str) -> None:
    definition = {"name": name, "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {}}
    member.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    tool = member.run("tools", "show", name, "--json").done().json["id"]
    member.run("agents", "add", name, "--tool", name, "--tool", "echo").done()
    member.run("tools", "remove", name).done()
    assert member.run("agents", "edit", name, "--remove-tool", tool).done().out == f"{name} has 1 tool\n"


def test_a_key_of_an_agent_that_was_removed_says_so(member: Program, name: str) -> None:
    member.run("agents", "add", name, "--tool", "echo").done()
    bound = member.but(PEGBOARD_KEY=member.run("keys", "create", "--agent", name).done().out.strip())
    bound.run("call", "echo").done()
    member.run("agents", "remove", name, "--yes").done()
    for words in (["call", "echo"], ["whoami"]):
        assert "The agent of this key was removed" in bound.run(*words).err


def test_what_cannot_be_undone_needs_yes_without_a_terminal(admin: Program, member: Program, name: str) -> None:
    admin.run("users", "add", name).done()
    member.run("agents", "add", name).done()
    member.run("secrets", "set", "TOKEN", "--stdin", stdin="s3cr3t").done()
    thread = member.run("threads", "new").done().out.strip()
    removals = [
        (admin, ["users", "remove", name]),
        (member, ["agents", "remove", name]),
        (member, ["secrets", "remove", "TOKEN"]),
        (member, ["threads", "remove", thread]),
    ]
    for program, words in removals:
        refused = program.run(*words)
        assert (refused.code, refused.out) == (2, ""), words
        assert "cannot be undone" in refused.err and "--yes" in refused.err
    for program, words in removals:
        program.run(*words, "--yes").done()


def test_a_member_who_asks_for_another_user_is_informed_what_only_admins_may(member: Program) -> None:
    for words, what in (
        (["keys", "create", "admin"], "create keys for others"),
        (["keys", "list", "admin"], "list keys of others"),
        (["keys", "revoke", str(uuid4()), "--user", "admin"], "revoke keys of others"),
        (["watch", "--user", "admin"], "see calls of others"),
        (["audit", "list", "--caller", "admin"], "see calls of others"),
        (["audit", "stats", "--caller", "admin"], "see calls of others"),
        (["users", "remove", "admin", "--yes"], "remove users"),
    ):
        refused = member.run(*words)
        assert (refused.code, refused.err) == (1, f"Error: Only admins may {what}\n")
    me = member.run("whoami", "--json").done().json["user"]["name"]
    assert member.run("keys", "list", me, "--json").done().json["items"]


def test_the_key_in_use_is_revoked_only_with_yes(member: Program) -> None:
    own = member.run("whoami", "--json").done().json
    refused = member.run("keys", "revoke", own["key_id"])
    assert refused.code == 1
    assert "You are using this key now" in refused.err and "--yes" in refused.err
    assert f"pegboard keys create {own['user']['name']}" in refused.err
    member.run("keys", "revoke", own["key_id"], "--yes").done()
    assert "This key was revoked" in member.run("whoami").err


def test_after_revoking_the_last_key_of_an_admin_local_still_works(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        admin = Program({"PEGBOARD_HOME": str(tmp_path), "PEGBOARD_URL": url})
        key = admin.run("whoami", "--json").done().json["key_id"]
        refused = admin.run("keys", "revoke", key)
        assert refused.code == 1
        assert "the last valid key of an admin" in refused.err
        assert refused.err.rstrip().endswith("run: pegboard --local keys create")
        admin.run("keys", "revoke", key, "--yes").done()
        assert "This key was revoked" in admin.run("whoami").err
        found = admin.start("--local", "keys", "create").done().out.strip()

        def is_back() -> bool:
            return admin.run("whoami", PEGBOARD_KEY=found).code == 0

        ends = time.monotonic() + SECONDS
        while not is_back() and time.monotonic() < ends:
            time.sleep(0.05)
        admin.run("users", "list", PEGBOARD_KEY=found).done()


def test_an_agent_with_a_tool_that_is_not_there_is_refused(member: Program, name: str) -> None:
    ran = member.run("agents", "add", name, "--tool", "nonesuch")
    assert ran.code == 1
    assert "tools.0: Tool 'nonesuch' not found" in ran.err


def test_a_key_bound_to_an_agent_calls_its_tools_alone(member: Program, name: str) -> None:
    member.run("agents", "add", name, "--tool", "echo").done()
    key = member.run("keys", "create", "--agent", name).done().out.strip()
    bound = member.but(PEGBOARD_KEY=key)
    bound.run("call", "echo").done()
    assert bound.run("call", "math_eval", "expression=1").code == 1
    assert f"bound to agent {name} (" in bound.run("whoami").done().out
    assert member.run("keys", "create", "--agent", "nonesuch").code == 1


def test_a_secret_is_set_from_standard_input_listed_and_removed(member: Program) -> None:
    assert member.run("secrets", "set", "TOKEN", "--stdin", stdin="s3cr3t\n").done().out == "set TOKEN\n"
    listed = member.run("secrets", "list").done().out
    assert listed.splitlines()[1].startswith("TOKEN ")
    assert "s3cr3t" not in listed
    assert member.run("secrets", "list", "--json").done().json["items"][0]["name"] == "TOKEN"
    assert member.run("secrets", "remove", "TOKEN", "--json", "--yes").done().json == {"removed": "TOKEN"}
    assert member.run("secrets", "remove", "TOKEN", "--yes").code == 1


def test_a_secret_on_the_command_line_is_warned_about(member: Program) -> None:
    ran = member.run("secrets", "set", "TOKEN", "s3cr3t").done()
    assert "process list" in ran.err


def test_a_secret_without_a_value_exits_2_without_a_terminal(member: Program) -> None:
    assert member.run("secrets", "set", "TOKEN", stdin="").code == 2
    assert member.run("secrets", "set", "TOKEN", "x", "--stdin", stdin="y").code == 2
    assert member.run("secrets", "set", "TOKEN", "--stdin", stdin=b"\xff").code == 2
    assert member.run("secrets", "set", "not a name", "--stdin", stdin="x").code == 1


def test_a_secret_is_asked_for_without_being_shown(member: Program) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "pegboard", "secrets", "set", "ASKED"],
        env=member.full_environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        seen = b""
        # The space follows when the terminal does not echo any more.
        while b"Value of ASKED: " not in seen:
            seen += os.read(ours, 1024)
        os.write(ours, b"s3cr3t\n")
        out, _ = process.communicate(timeout=SECONDS)
    seen += os.read(ours, 1024)
    os.close(ours)
    assert (process.returncode, out) == (0, b"set ASKED\n")
    assert b"s3cr3t" not in seen


def test_a_rotation_says_what_it_did(admin: Program) -> None:
    admin.run("secrets", "set", "ROTATED", "--stdin", stdin="x").done()
    assert admin.run("secrets", "rotate").done().out.startswith("encrypted ")
    report = admin.run("secrets", "rotate", "--json").done().json
    assert report["total"] >= 1
    assert report["skipped"] == []


def test_only_an_admin_rotates(member: Program) -> None:
    assert member.run("secrets", "rotate").code == 1


def test_a_secret_that_a_tool_refers_to_is_found(member: Program, name: str) -> None:
    definition = {
        "name": name,
        "tool_type": "http",
        "config": {"url": "https://example.com", "method": "GET", "headers": {"X": "{{secret:REFERRED}}"}},
        "input_schema": {},
    }
    member.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    assert "pegboard secrets set REFERRED" in member.run("call", name).err
    member.run("secrets", "set", "REFERRED", "--stdin", stdin="x").done()
    assert "REFERRED" not in member.run("call", name).err
