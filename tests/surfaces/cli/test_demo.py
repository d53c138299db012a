"""`pegboard demo traffic` and `pegboard demo remove`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.surfaces.cli.run_program import Outcome, Program

MADE_TOOLS = 10
USERS = {"demo-ana", "demo-ben"}


@pytest.fixture(autouse=True)
def _removed(admin: Program) -> Iterator[None]:
    """Nothing of the demo is left for the next test."""
    yield
    admin.run("demo", "remove", "--yes").done()


def rows_of(admin: Program) -> list[dict[str, Any]]:
    """The rows of the journal, oldest first."""
    rows: list[dict[str, Any]] = admin.run("audit", "list", "--all", "--json").done().json["items"]
    return rows[::-1]


def names_of(listed: Outcome) -> set[str]:
    """The names in a list."""
    return {item["name"] for item in listed.done().json["items"]}


def test_traffic_has_calls_of_every_outcome_and_the_report_counts_them(admin: Program) -> None:
    before = len(rows_of(admin))
    report = admin.run("demo", "traffic", "--calls", "160", "--json").done().json
    rows = rows_of(admin)[before:]
    # The steps of the saved chain are rows of their own.
    alone = [row for row in rows if row["chain_id"] is None]
    assert len(alone) == sum(report["calls"].values()) - report["calls"]["in chains"]
    expected = {"succeeded", "fallback", "repeated", "missing", "execution_failed", "tool_not_found", "drifted"}
    assert expected < set(report["calls"])
    assert report["calls"]["repeated"] == sum(row["repeat_of"] is not None for row in rows)
    assert report["calls"]["in the thread"] == sum(row["thread_id"] is not None for row in rows)
    assert len(rows) - len(alone) > report["calls"]["in chains"] > 0
    assert {row["dialect"] for row in rows} >= {"plain", "openai_chat", "anthropic_messages", "gemini_generate_content"}
    assert {row["caller"] for row in rows} >= USERS
    assert {row["status"] for row in rows} == {"succeeded", "failed", "refused"}
    assert report["left_out"] == []
    assert report["drifted"] == ["shop_price"]
    assert admin.run("tools", "show", "shop_price", "--json").done().json["drifted"]
    assert names_of(admin.run("agents", "list", "--json")) == set(report["agents"])
    (thread,) = report["threads"]
    assert "order 1042" in admin.run("threads", "show", thread).done().out


def test_no_key_of_the_traffic_is_printed_or_stays_valid(admin: Program) -> None:
    shown = admin.run("demo", "traffic", "--calls", "1").done()
    assert "pb_" not in shown.out + shown.err
    for user in USERS:
        keys = admin.run("keys", "list", user, "--json").done().json["items"]
        assert keys
        assert all(key["revoked_at"] for key in keys)


def test_the_same_seed_makes_the_same_calls_on_a_board_that_has_the_demo(admin: Program) -> None:
    def make(seed: str) -> list[tuple[str, Any]]:
        before = len(rows_of(admin))
        admin.run("demo", "traffic", "--calls", "20", "--seed", seed).done()
        return [(row["tool_name"], row["arguments"]) for row in rows_of(admin)[before:]]

    first = make("7")
    assert make("7") == first
    assert make("8") != first


def test_remove_undoes_it_and_keeps_the_journal(admin: Program) -> None:
    tools = names_of(admin.run("tools", "list", "--all", "--json"))
    admin.run("demo", "traffic", "--calls", "10").done()
    rows = len(rows_of(admin))
    removed = admin.run("demo", "remove", "--yes").done()
    assert f"removed {MADE_TOOLS} tools" in removed.out
    assert names_of(admin.run("tools", "list", "--all", "--json")) == tools
    assert not USERS & names_of(admin.run("users", "list", "--json"))
    for what in ("agents", "upstreams", "threads"):
        assert admin.run(what, "list", "--json").done().json["items"] == [], what
    assert len(rows_of(admin)) == rows
    assert "removed 0 tools" in admin.run("demo", "remove", "--yes").done().out


def test_a_server_that_cannot_start_the_mcp_server_is_reported(admin: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python3")
    shown = admin.run("demo", "traffic", "--calls", "5").done()
    assert "left out the tools of an MCP server" in shown.err
    assert "/nowhere/python3" in shown.err
    assert "shop_stock" not in names_of(admin.run("tools", "list", "--all", "--json"))


def test_members_and_local_boards_are_refused(admin: Program, member: Program) -> None:
    refused = member.run("demo", "traffic")
    assert refused.code == 1
    assert "needs the key of an admin" in refused.err
    assert admin.run("demo", "traffic", "--local").code == 2
    assert "shop_refund" not in names_of(admin.run("tools", "list", "--all", "--json"))


def test_another_tool_of_that_name_is_left_alone(admin: Program) -> None:
    own = '{"name": "shop_find_order", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {}}'
    admin.run("tools", "add", "-", stdin=own).done()
    refused = admin.run("demo", "traffic", "--calls", "1")
    assert refused.code == 1
    assert "shop_find_order" in refused.err
    assert admin.run("call", "shop_find_order").done().out.strip() == "1"
    admin.run("tools", "remove", "shop_find_order").done()
