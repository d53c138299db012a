"""Statistics and the journal by caller, from the command line."""

from __future__ import annotations

from uuid import uuid4

from tests.surfaces.cli.run_program import Program


def test_each_tool_has_a_line(member: Program) -> None:
    member.run("call", "echo").done()
    member.run("call", "echo").done()
    member.run("call", "math_eval", "expression=1/0")
    member.run("call", "nonesuch")
    outcome = member.start("audit", "stats").done()
    head, *lines = [line.split() for line in outcome.out.splitlines()]
    assert " ".join(head) == "TOOL CALLS SUCCEEDED FAILED REFUSED IN DOUBT P50 P95 P99 MAX ERRORS"
    assert [line[0] for line in lines] == ["echo", "(no", "math_eval"]
    assert lines[0][1:6] == ["2", "2", "0", "0", "0"]
    assert 0 < float(lines[0][6]) <= float(lines[0][9])
    assert lines[1] == ["(no", "such", "tool)", "1", "0", "0", "1", "0", "tool_not_found", "1"]
    assert lines[2][1:6] == ["1", "0", "1", "0", "0"]
    assert lines[2][-2:] == ["execution_failed", "1"]
    assert outcome.err.startswith("From 20")


def test_the_statistics_are_filtered(member: Program) -> None:
    member.run("call", "echo").done()
    member.run("call", "math_eval", "expression=1").done()

    def names(*words: str) -> set[str]:
        return {tool["tool_name"] for tool in member.run("audit", "stats", "--json", *words).done().json["tools"]}

    assert names() == {"echo", "math_eval"}
    assert names("--tool", "echo") == {"echo"}
    assert names("--since", "1h") == {"echo", "math_eval"}
    assert names("--until", "2h") == set()
    assert names("--since", "2w", "--until", "1w") == set()
    assert member.run("audit", "stats", "--since", "yesterday").code == 2


def test_an_admin_asks_for_one_user_by_name_or_id(admin: Program, member: Program) -> None:
    tool = f"tool_{uuid4().hex[:8]}"
    member.run("call", tool)
    admin.run("call", tool)
    me = member.run("whoami", "--json").done().json["user"]
    for whose in (me["name"], me["id"]):
        report = admin.run("audit", "stats", "--caller", whose, "--json").done().json
        assert [(line["tool_name"], line["calls"]) for line in report["tools"]] == [(None, 1)]
        rows = admin.run("audit", "list", "--caller", whose, "--json").done().json["items"]
        assert [(row["tool_name"], row["caller_id"]) for row in rows] == [(tool, me["id"])]
    assert admin.run("audit", "list", "--caller", "nobody at all").code == 1
    assert admin.run("audit", "stats", "--caller", "nobody at all").code == 1


def test_a_member_asks_for_no_other_user(admin: Program, member: Program) -> None:
    other = admin.run("whoami", "--json").done().json["user"]["id"]
    mine = member.run("whoami", "--json").done().json["user"]["id"]
    for command in ("list", "stats"):
        assert "Only admins" in member.run("audit", command, "--caller", other).err
        member.run("audit", command, "--caller", mine).done()
