"""`pegboard baseline`: findings recorded, resolved, queried, listed, removed and hashed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.model.baseline_finding import composite_hash
from tests.surfaces.cli.run_program import Program
from tests.unit.baseline.sample_findings import hashed, make_finding

SCAN: list[dict[str, Any]] = [
    {"id": "a", "title": "open port", "port": 22},
    {"title": "weak key", "seen_at": "2026-01-02T03:04:05Z"},
]


def test_a_scan_is_hashed_and_recorded_and_known_the_next_time(member: Program, tmp_path: Path) -> None:
    file = tmp_path / "scan.json"
    file.write_text(json.dumps(SCAN))
    first, second = composite_hash(SCAN[0]), composite_hash(SCAN[1])
    assert member.run("baseline", "hash", str(file)).done().out.splitlines() == [f"{first}  a", f"{second}  {second}"]
    made = member.run("baseline", "hash", str(file), "--json").done().out
    result = member.run("baseline", "record", "-", stdin=made).done().out
    assert result == "recorded 2: 2 new, 0 recurring, 0 reopened\n"
    assert (
        member.run("baseline", "resolve", first).done().out == "resolved 1: 0 were already resolved, 0 are not known\n"
    )
    again = member.run("baseline", "record", "-", "--json", stdin=made).done().json
    assert again == {"recorded": 2, "new": 0, "recurring": 1, "reopened": 1}
    rows = member.run("baseline", "query", second, hashed(0), first).done().out.splitlines()
    assert [row.split()[:3] for row in rows[1:]] == [
        [second, "recurring", "2"],
        [hashed(0), "new", "0"],
        [first, "recurring", "2"],
    ]
    results = member.run("baseline", "query", first.upper(), "--json").done().json
    assert (results[0]["composite_hash"], results[0]["seen_count"]) == (first.upper(), 2)


def test_findings_are_listed_and_removed(member: Program) -> None:
    lines = "\n".join(json.dumps(make_finding(number)) for number in range(3))
    member.run("baseline", "record", "-", stdin=lines).done()
    member.run("baseline", "resolve", "--file", "-", stdin=json.dumps([make_finding(1)])).done()
    header, *rows = member.run("baseline", "list").done().out.splitlines()
    assert header.split() == ["HASH", "FINDING", "STATUS", "SEEN", "FIRST", "LAST"]
    assert sorted(row.split()[1] for row in rows) == ["f-0", "f-1", "f-2"]
    (row,) = member.run("baseline", "list", "--status", "resolved", "--json").done().json["items"]
    assert row["composite_hash"] == hashed(1)
    cut = member.run("baseline", "list", "--limit", "1").done()
    assert "--cursor" in cut.err
    assert member.run("baseline", "remove", hashed(0), "--yes").done().out == "removed 1\n"
    assert member.run("baseline", "remove", "--status", "resolved", "--yes").done().out == "removed 1\n"
    assert len(member.run("baseline", "list", "--json").done().json["items"]) == 1


def test_the_shared_baseline_is_everybodys_to_read_and_the_admins_to_change(admin: Program, member: Program) -> None:
    admin.run("baseline", "record", "-", "--shared", stdin=json.dumps(make_finding(77))).done()
    assert "recurring" in member.run("baseline", "query", hashed(77), "--shared").done().out
    assert "new" in member.run("baseline", "query", hashed(77)).done().out
    refused = member.run("baseline", "resolve", hashed(77), "--shared")
    assert refused.code == 1
    assert "Only admins change the shared baseline" in refused.err
    assert member.run("baseline", "remove", hashed(77), "--shared", "--yes").code == 1


def test_a_line_ends_where_json_lines_end_and_an_id_that_is_null_is_none(member: Program) -> None:
    scan = [{"id": f"n-{number}", "finding_id": None, "title": "one\u2028two\x85three"} for number in range(2)]
    text = "\r\n".join(json.dumps(finding, ensure_ascii=False) for finding in scan)
    known_by = composite_hash(scan[0])
    result = member.run("baseline", "hash", "-", stdin=text).done().out
    assert result.splitlines() == [f"{known_by}  n-0", f"{known_by}  n-1"]


@pytest.mark.parametrize(
    ("words", "stdin", "code", "message"),
    [
        (("record", "-"), "[{]", 2, "standard input:1: not JSON"),
        (("record", "-"), '{"a": 1}\n{"b": 2}\n{c}', 2, "standard input:3: not JSON"),
        (("record", "-"), "7", 2, "must hold a list of findings"),
        (("record", "nowhere.json"), "", 2, "nowhere.json"),
        (("record", "-"), "{}", 1, "findings.0.composite_hash: must be a string of 64 hexadecimal"),
        (("record", "-"), json.dumps([make_finding(1, seen_at="2999-01-01T00:00:00Z")]), 1, "5 minutes in the future"),
        (("resolve",), "", 2, "Give either HASH... or --file"),
        (("resolve", "abc"), "", 1, "composite_hashes.0: must be 64 hexadecimal characters"),
        (("query", "abc"), "", 1, "'composite_hashes[0]' must match the pattern"),
        (("query",), "", 2, "Missing argument"),
        (("list", "--status", "new"), "", 2, "new"),
        (("remove",), "", 2, "Give either HASH or --status"),
        (("remove", hashed(5)), "", 2, "cannot be undone"),
        (("remove", hashed(5), "--yes"), "", 1, "is not in this baseline"),
        (("hash", "-"), "[7]", 2, "standard input (finding 1): must be an object"),
        (("hash", "-"), '[{"title": "x"}, {"id": 1}]', 2, "(finding 2): nothing of the finding is left"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_reported_with_an_exit_code(
    member: Program, words: tuple[str, ...], stdin: str, code: int, message: str
) -> None:
    outcome = member.run("baseline", *words, stdin=stdin)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert member.run("baseline", "list", "--json").done().json["items"] == []
