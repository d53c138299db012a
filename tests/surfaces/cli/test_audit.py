"""The journal from the command line, and the formats of times that users type."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pegboard.surfaces.cli.command_arguments import parse_future_time, parse_past_time
from pegboard.surfaces.cli.exit_codes import UsageError
from tests.surfaces.cli.run_program import Program


def test_calls_are_listed_newest_first(member: Program) -> None:
    member.run("call", "echo").done()
    member.run("call", "math_eval", "expression=1/0")
    member.run("call", "nonesuch")
    lines = member.start("audit", "list").done().out.splitlines()
    assert lines[0].split() == ["WHEN", "TOOL", "STATUS", "CODE", "CALLER", "SURFACE", "MS", "ID"]
    assert [line.split()[2] for line in lines[1:]] == ["nonesuch", "math_eval", "echo"]


def test_the_list_is_filtered(member: Program) -> None:
    member.run("call", "echo").done()
    member.run("call", "nonesuch")

    def names(*words: str) -> list[str]:
        return [item["tool_name"] for item in member.run("audit", "list", "--json", *words).done().json["items"]]

    assert names("--tool", "echo") == ["echo"]
    assert names("--status", "refused") == ["nonesuch"]
    assert names("--code", "tool_not_found") == ["nonesuch"]
    assert names("--since", "1h") == ["nonesuch", "echo"]
    assert names("--until", "1h") == []
    assert names("--since", "2999-01-01") == []
    assert names("--limit", "1") == ["nonesuch"]
    assert names("--all") == ["nonesuch", "echo"]
    assert member.run("audit", "list", "--status", "glorious").code == 1
    assert member.run("audit", "list", "--since", "yesterday").code == 2


def test_a_cut_list_is_read_on(member: Program) -> None:
    for _ in range(3):
        member.run("call", "echo").done()
    first = member.run("audit", "list", "--limit", "2", "--json").done().json
    rest = member.run("audit", "list", "--cursor", first["next_cursor"], "--json").done().json
    assert (len(first["items"]), len(rest["items"]), rest["next_cursor"]) == (2, 1, None)
    assert member.run("audit", "list", "--cursor", "nonsense").code == 1


def test_one_call_is_shown_whole(member: Program) -> None:
    member.run("call", "echo").done()
    [item] = member.run("audit", "list", "--json").done().json["items"]
    assert member.run("audit", "show", item["id"]).done().json == item
    assert member.run("audit", "show", item["id"], "--json").done().json == item
    received = "Arguments are not kept; set keep_arguments on the tool.\n"
    assert member.run("audit", "show", item["id"]).err == received
    assert member.run("audit", "show", item["id"], "--json").err == ""
    assert member.run("audit", "show", "nonesuch").code == 1


def distance(text: str | None) -> timedelta:
    assert text is not None
    return datetime.fromisoformat(text) - datetime.now(UTC)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("45s", timedelta(seconds=45)),
        ("30m", timedelta(minutes=30)),
        ("1h", timedelta(hours=1)),
        ("2d", timedelta(days=2)),
        (" 3w ", timedelta(weeks=3)),
    ],
)
def test_a_span_is_counted_from_now(text: str, span: timedelta) -> None:
    assert abs(distance(parse_past_time(text, "--since")) + span) < timedelta(seconds=5)
    assert abs(distance(parse_future_time(text, "--expires")) - span) < timedelta(seconds=5)


def test_an_instant_keeps_its_zone_and_one_without_is_local() -> None:
    assert parse_past_time("2026-01-31T12:00:00+02:00", "--since") == "2026-01-31T10:00:00+00:00"
    local = datetime(2026, 1, 31).astimezone(UTC).isoformat()
    assert parse_past_time("2026-01-31", "--since") == local
    assert parse_past_time(None, "--since") is None


@pytest.mark.parametrize("text", ["", "now", "1y", "h", "-1h", "2026-13-01", "999999999w", "٣h"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        parse_past_time(text, "--since")
