"""The baseline tools that every board has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft7Validator

from pegboard import Pegboard
from pegboard.baseline.baseline_tools import BASELINE_TOOLS
from pegboard.model.call import Caller, ToolResult
from pegboard.testing import NoSettings, calls_of, member, memory_board
from tests.unit.baseline.sample_findings import hashed, make_finding


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on a database of either kind."""
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
async def small() -> AsyncIterator[Pegboard]:
    """A board in memory."""
    async with memory_board() as opened:
        yield opened


async def query(board: Pegboard, number: int, caller: Caller | None = None, **more: Any) -> dict[str, Any]:
    """Return the output of `query_baseline`."""
    asked = {"finding_id": "a", "composite_hash": hashed(number), "query_type": "baseline_check", **more}
    return good(await board.call("query_baseline", asked, caller=caller))


def batch(*numbers: int, **more: Any) -> dict[str, Any]:
    """The arguments of a batch."""
    known_by = {"finding_ids": [f"a-{number}" for number in numbers], "composite_hashes": [*map(hashed, numbers)]}
    return {**known_by, "query_type": "batch_baseline_check", **more}


def good(result: ToolResult) -> dict[str, Any]:
    """The output of a call that must succeed."""
    assert result.success, result.problem
    output: dict[str, Any] = result.output
    return output


def get_error(result: ToolResult) -> str:
    """Return the message of a call that must fail."""
    assert result.problem is not None
    assert result.problem.type == "VALIDATION_ERROR", result.problem
    return result.problem.message


async def test_findings_are_recorded_resolved_and_queried_by_calls(board: Pegboard) -> None:
    recorded = good(
        await board.call("record_findings", {"findings": [make_finding(1), make_finding(1), make_finding(2)]})
    )
    assert recorded == {"recorded": 3, "new": 2, "recurring": 1, "reopened": 0}
    resolved = good(await board.call("resolve_findings", {"findings": [make_finding(2)]}))
    assert resolved == {"resolved": 1, "already_resolved": 0, "unknown": 0}
    answer = good(await board.call("batch_baseline_query", batch(3, 2, 1, 2, batch_size=1)))
    assert [(one["finding_id"], one["seen_count"], one["baseline_status"]) for one in answer["results"]] == [
        ("a-3", 0, "new"),
        ("a-2", 1, "resolved"),
        ("a-1", 2, "recurring"),
        ("a-2", 1, "resolved"),
    ]
    again = good(await board.call("record_findings", {"findings": [make_finding(2)]}))
    assert again == {"recorded": 1, "new": 0, "recurring": 0, "reopened": 1}
    assert [row.status for row in await calls_of(board)] == ["succeeded"] * 4


@pytest.mark.parametrize("query_type", ["baseline_check", "first_seen", "frequency_count"])
async def test_every_type_of_query_has_the_same_answer(small: Pegboard, query_type: str) -> None:
    good(await small.call("record_findings", {"findings": [make_finding(1)]}))
    assert await query(small, 1, query_type=query_type) == await query(small, 1)
    answer = good(await small.call("batch_baseline_query", batch(1, query_type=query_type)))
    assert answer["results"][0]["seen_count"] == 1


async def test_the_tools_are_public_envelopes_that_say_what_they_do(small: Pegboard) -> None:
    for shipped in BASELINE_TOOLS:
        tool = await small.tools.get(shipped.name, small.admin)
        assert (tool.is_public, tool.result_style, tool.tool_type) == (True, "envelope", "internal")
        assert tool.read_only == (shipped.name in ("query_baseline", "batch_baseline_query"))
        compiled = small.snapshot.find_by_id(tool.id)
        assert compiled is not None
        assert compiled.has_effects == (not tool.read_only)
        for schema in (tool.input_schema, tool.output_schema):
            Draft7Validator(dict(schema or {}))


async def test_unknown_additional_params_are_ignored(board: Pegboard) -> None:
    more = {"additional_params": {"scope": "shared", "note": [1], "composite_hashes": 5, "batch_size": 0}}
    good(await board.call("record_findings", {"findings": [make_finding(1)], **more}))
    assert (await query(board, 1, board.admin, **more))["seen_count"] == 1
    assert good(await board.call("resolve_findings", {"findings": [make_finding(1)], **more}))["resolved"] == 1


async def test_members_have_findings_of_their_own_and_read_the_shared_ones(board: Pegboard) -> None:
    one, other = await member(board, "one"), await member(board, "other")
    shared = {"additional_params": {"scope": "shared"}}
    good(await board.call("record_findings", {"findings": [make_finding(1)], **shared}))
    good(await board.call("record_findings", {"findings": [make_finding(2)]}, caller=one))
    assert (await query(board, 2, one))["seen_count"] == 1
    for caller in (other, board.admin):
        assert (await query(board, 2, caller))["seen_count"] == 0
    for caller in (one, other, board.admin):
        assert (await query(board, 1, caller, **shared))["seen_count"] == 1
        assert (await query(board, 1, caller))["seen_count"] == 0
    for tool, given in (
        ("record_findings", {"findings": [make_finding(3)]}),
        ("resolve_findings", {"findings": [make_finding(1)]}),
    ):
        refused = await board.call(tool, {**given, **shared}, caller=one)
        assert refused.problem is not None
        assert refused.problem.message == "Only admins change the shared baseline; everybody may query it"
    assert (await query(board, 1, one, **shared))["baseline_status"] == "recurring"


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("query_baseline", {"finding_id": "a", "query_type": "first_seen"}, "missing 'composite_hash'"),
        ("query_baseline", {"composite_hash": hashed(1), "query_type": "first_seen"}, "missing 'finding_id'"),
        (
            "query_baseline",
            {"finding_id": "a", "composite_hash": "a" * 63, "query_type": "first_seen"},
            "Field 'composite_hash' must match the pattern ^[0-9A-Fa-f]{64}$",
        ),
        (
            "query_baseline",
            {"finding_id": "a", "composite_hash": hashed(1), "query_type": "all"},
            "Field 'query_type' must be one of: baseline_check, first_seen, frequency_count",
        ),
        (
            "query_baseline",
            {"finding_id": "a", "composite_hash": hashed(1), "query_type": "first_seen", "scope": "shared"},
            "Field 'scope' is not known",
        ),
        ("batch_baseline_query", batch(1, finding_ids=[]), "there are 0 finding_ids and 1 composite_hashes"),
        ("batch_baseline_query", batch(1, batch_size=0), "Field 'batch_size' must be between 1 and 10000"),
        (
            "batch_baseline_query",
            batch(1, additional_params={"scope": "theirs"}),
            "Field 'additional_params.scope' must be one of: own, shared",
        ),
        ("batch_baseline_query", batch(1, composite_hashes=["x" * 64]), "Field 'composite_hashes[0]' must match"),
        (
            "record_findings",
            {"findings": [make_finding(1, seen_at="2026-01-01")]},
            "Field 'findings[0].seen_at' must be",
        ),
        (
            "record_findings",
            {"findings": [make_finding(1), {"finding_id": "a"}]},
            "missing 'findings[1].composite_hash'",
        ),
        ("record_findings", {"findings": {}}, "Field 'findings' must be an array"),
        ("resolve_findings", {}, "Field 'composite_hashes' must be given, or findings in its place, and not both"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_bad_arguments_are_named_and_nothing_is_done(
    small: Pegboard, tool: str, given: dict[str, Any], message: str
) -> None:
    assert message in get_error(await small.call(tool, given))
    assert await small.baseline.page(small.admin, limit=1) == []


async def test_ten_thousand_are_asked_for_at_once_and_not_one_more(small: Pegboard) -> None:
    known = [make_finding(number) for number in range(0, 10_000, 2)]
    await small.baseline.record(known, small.admin)
    given = {**batch(*range(10_000)), "finding_ids": [str(number) for number in range(10_000)]}
    answer = good(await small.call("batch_baseline_query", given))
    assert [one["seen_count"] for one in answer["results"]] == [1, 0] * 5_000
    assert [one["finding_id"] for one in answer["results"]] == given["finding_ids"]
    more = {**given, "finding_ids": ["x"] * 10_001, "composite_hashes": [hashed(1)] * 10_001}
    assert "10000" in get_error(await small.call("batch_baseline_query", more))


async def test_a_million_hashes_are_too_much_to_look_at(small: Pegboard) -> None:
    many = [hashed(1)] * 1_000_000
    given = {"finding_ids": many, "composite_hashes": many, "query_type": "batch_baseline_check"}
    assert "Arguments" in get_error(await small.call("batch_baseline_query", given))


async def test_a_call_with_a_key_counts_once(board: Pegboard) -> None:
    for _ in range(2):
        good(await board.call("record_findings", {"findings": [make_finding(1)]}, key="scan-1"))
    refused = await board.call("record_findings", {"findings": [make_finding(1, seen_at="never")]}, key="scan-2")
    assert not refused.success
    good(await board.call("record_findings", {"findings": [make_finding(1)]}, key="scan-2"))
    assert (await query(board, 1))["seen_count"] == 2


async def test_a_batch_size_may_be_any_integer_of_json(small: Pegboard) -> None:
    assert len(good(await small.call("batch_baseline_query", batch(1, 2, 3, batch_size=2.0)))["results"]) == 3
