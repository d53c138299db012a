"""All errors in findings are reported at once, and nothing is recorded."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pegboard.baseline.baseline import Baseline
from pegboard.baseline.read_findings import MAX_QUERIED_FINDINGS, MAX_RECORDED_FINDINGS
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Caller
from pegboard.model.ids import new_id
from pegboard.model.timestamps import write_instant
from pegboard.storage.database import Database
from tests.unit.baseline.sample_findings import hashed, make_finding

ME = Caller(new_id(), "me")


def ahead(**span: float) -> str:
    """A moment after now."""
    return write_instant(datetime.now(UTC) + timedelta(**span))


@pytest.fixture
def baseline(database: Database) -> Baseline:
    """An empty baseline."""
    return Baseline(database)


@pytest.mark.parametrize(
    ("finding", "field", "why"),
    [
        ("x", "findings.1", "must be an object"),
        ({}, "findings.1.finding_id", "1 to 255 characters"),
        (make_finding(2, finding_id=""), "findings.1.finding_id", "1 to 255 characters"),
        (make_finding(2, finding_id="x" * 256), "findings.1.finding_id", "1 to 255 characters"),
        (make_finding(2, finding_id=7), "findings.1.finding_id", "1 to 255 characters"),
        (make_finding(2, composite_hash="a" * 63), "findings.1.composite_hash", "64 hexadecimal characters .* has 63"),
        (
            make_finding(2, composite_hash="g" * 64),
            "findings.1.composite_hash",
            "64 hexadecimal characters .* has others",
        ),
        (make_finding(2, composite_hash=None), "findings.1.composite_hash", "must be a string"),
        (make_finding(2, seen_at="yesterday"), "findings.1.seen_at", "ISO 8601"),
        (make_finding(2, seen_at="2026-01-02T03:04:05"), "findings.1.seen_at", "it has no zone"),
        (make_finding(2, seen_at="1969-12-31T23:59:59Z"), "findings.1.seen_at", "before 1970"),
        (make_finding(2, seen_at="2999-01-01T00:00:00Z"), "findings.1.seen_at", "more than 5 minutes in the future"),
        (make_finding(2, seen_at=12), "findings.1.seen_at", "it is no text"),
        (
            make_finding(2, seen_on="x"),
            "findings.1.seen_on",
            "is not known; a finding has composite_hash, finding_id, seen_at",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_bad_finding_is_named_and_the_good_ones_are_not_recorded(
    baseline: Baseline, finding: Any, field: str, why: str
) -> None:
    with pytest.raises(Invalid, match=why) as refused:
        await baseline.record([make_finding(1), finding], ME)
    assert field in [fault.field for fault in refused.value.faults]
    assert await baseline.page(ME, limit=1) == []


async def test_a_clock_that_is_a_little_ahead_is_believed(baseline: Baseline) -> None:
    assert await baseline.record([make_finding(1, seen_at=ahead(minutes=4))], ME) == (1, 1, 0, 0)
    assert await baseline.record([make_finding(1, seen_at=datetime.now(UTC))], ME) == (1, 0, 1, 0)
    with pytest.raises(Invalid, match="more than 5 minutes in the future"):
        await baseline.record([make_finding(1, seen_at=ahead(minutes=6))], ME)


@pytest.mark.parametrize("findings", [None, "x", {}, 7], ids=str)
async def test_findings_are_a_list(baseline: Baseline, findings: Any) -> None:
    with pytest.raises(Invalid, match="findings: must be a list"):
        await baseline.record(findings, ME)


async def test_a_hundred_thousand_are_recorded_at_once_and_not_one_more(baseline: Baseline) -> None:
    with pytest.raises(Invalid, match=r"has 100,001 entries, at most 100,000 .* send them in parts"):
        await baseline.record([make_finding(1)] * (MAX_RECORDED_FINDINGS + 1), ME)
    assert (await baseline.record([make_finding(1)] * MAX_RECORDED_FINDINGS, ME)).recorded == MAX_RECORDED_FINDINGS
    (found,) = await baseline.page(ME, limit=9)
    assert found.seen_count == MAX_RECORDED_FINDINGS


async def test_of_much_that_is_wrong_some_is_reported(baseline: Baseline) -> None:
    with pytest.raises(Invalid) as refused:
        await baseline.record([{}] * 1000, ME)
    assert 20 <= len(refused.value.faults) <= 22
    with pytest.raises(Invalid) as refused:
        await baseline.query([""] * 1000, ["x"] * 1000, ME)
    assert 20 <= len(refused.value.faults) <= 22


@pytest.mark.parametrize(
    ("ids", "hashes", "batch_size", "why"),
    [
        (["a"], [], 1, "as many as finding_ids, .* 1 finding_ids and 0 composite_hashes"),
        (["a"], [hashed(1), hashed(2)], 1, "1 finding_ids and 2 composite_hashes"),
        (["a"], ["a" * 65], 1, "composite_hashes.0: must be 64 hexadecimal characters"),
        ([""], [hashed(1)], 1, "finding_ids.0: must be a string of 1 to 255"),
        (["a"], [hashed(1)], 0, "batch_size: must be an integer between 1 and 10,000"),
        (["a"], [hashed(1)], 10_001, "batch_size: must be"),
        (["a"], [hashed(1)], True, "batch_size: must be"),
        (
            ["a"] * (MAX_QUERIED_FINDINGS + 1),
            [hashed(1)] * (MAX_QUERIED_FINDINGS + 1),
            1,
            "has 10,001 entries, at most 10,000",
        ),
        ("a", hashed(1), 1, "finding_ids: must be a list; composite_hashes: must be a list"),
        (["a"], [7], 1, "composite_hashes.0: must be a string"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_bad_question_is_refused(baseline: Baseline, ids: Any, hashes: Any, batch_size: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        await baseline.query(ids, hashes, ME, batch_size=batch_size)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "composite_hashes: must be given, or findings in its place, and not both"),
        ({"composite_hashes": [], "findings": []}, "must be given, or findings in its place, and not both"),
        ({"composite_hashes": ["x"]}, "composite_hashes.0: must be 64"),
        ({"composite_hashes": "x"}, "composite_hashes: must be a list"),
        ({"findings": [{"finding_id": "a"}]}, "findings.0.composite_hash: must be a string"),
        ({"findings": [make_finding(1, finding_id="")]}, "findings.0.finding_id: must be"),
        ({"composite_hashes": [hashed(1)] * (MAX_RECORDED_FINDINGS + 1)}, "has 100,001 entries, at most 100,000"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_resolved_findings_are_reported_in_one_form(baseline: Baseline, given: dict[str, Any], why: str) -> None:
    await baseline.record([make_finding(1)], ME)
    with pytest.raises(Invalid, match=re.compile(why)):
        await baseline.resolve(ME, **given)
    assert await baseline.page(ME, status="resolved", limit=1) == []


@pytest.mark.parametrize("scope", ["mine", "", 7, ["own"]], ids=str)
async def test_there_are_two_scopes(baseline: Baseline, scope: Any) -> None:
    with pytest.raises(Invalid, match="scope: must be 'own' or 'shared'"):
        await baseline.query([], [], ME, scope=scope)
