"""The baseline: what is recorded, resolved, looked up and removed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pegboard.baseline.baseline import Baseline
from pegboard.model.api_errors import Forbidden, Invalid, NotFound
from pegboard.model.call import Caller
from pegboard.model.ids import new_id
from pegboard.model.timestamps import read_instant
from pegboard.storage import baseline_rows as store
from pegboard.storage.database import Database
from tests.unit.baseline.sample_findings import ago, hashed, make_finding

ME, OTHER = Caller(new_id(), "me"), Caller(new_id(), "other")
ADMIN = Caller(new_id(), "admin", "admin")


@pytest.fixture
def baseline(database: Database) -> Baseline:
    """An empty baseline in a database of either kind."""
    return Baseline(database)


async def query_hashes(baseline: Baseline, *numbers: int, caller: Caller = ME, **how: Any) -> list[dict[str, Any]]:
    """Query these findings and return the result."""
    ids = [f"asked-{number}" for number in numbers]
    return await baseline.query(ids, [hashed(number) for number in numbers], caller, **how)


async def statuses(baseline: Baseline, *numbers: int, caller: Caller = ME, **how: Any) -> list[tuple[str, int]]:
    """Status and count of these findings."""
    found = await query_hashes(baseline, *numbers, caller=caller, **how)
    return [(one["baseline_status"], one["seen_count"]) for one in found]


async def test_a_finding_is_new_until_it_is_recorded_and_recurs_from_then_on(baseline: Baseline) -> None:
    before = datetime.now(UTC)
    (new,) = await query_hashes(baseline, 1)
    assert new == {
        "finding_id": "asked-1",
        "composite_hash": hashed(1),
        "first_seen_ts": None,
        "seen_count": 0,
        "baseline_status": "new",
        "confidence_score": 1.0,
    }
    assert await baseline.record([make_finding(1), make_finding(2)], ME) == (2, 2, 0, 0)
    (first,) = await query_hashes(baseline, 1)
    assert (first["baseline_status"], first["seen_count"], first["confidence_score"]) == ("recurring", 1, 0.5)
    assert before <= read_instant(first["first_seen_ts"]) <= datetime.now(UTC)
    for _ in range(8):
        assert await baseline.record([make_finding(1)], ME) == (1, 0, 1, 0)
    (ninth,) = await query_hashes(baseline, 1)
    assert (ninth["seen_count"], ninth["confidence_score"]) == (9, 0.9)
    assert ninth["first_seen_ts"] == first["first_seen_ts"]


async def test_a_resolved_finding_is_open_again_once_it_is_seen(baseline: Baseline) -> None:
    await baseline.record([make_finding(1), make_finding(2)], ME)
    assert await baseline.resolve(ME, composite_hashes=[hashed(1), hashed(1), hashed(3)]) == (1, 0, 1)
    assert await baseline.resolve(ME, findings=[make_finding(1), {"composite_hash": hashed(2)}]) == (1, 1, 0)
    assert await statuses(baseline, 1, 2, 3) == [("resolved", 1), ("resolved", 1), ("new", 0)]
    assert (await query_hashes(baseline, 1))[0]["confidence_score"] == 1.0
    assert await baseline.record([make_finding(1), make_finding(1)], ME) == (2, 0, 1, 1)
    assert await statuses(baseline, 1, 2) == [("recurring", 3), ("resolved", 1)]


async def test_what_was_seen_before_it_was_resolved_does_not_open_it(baseline: Baseline) -> None:
    await baseline.record([make_finding(1, seen_at=ago(days=9))], ME)
    await baseline.resolve(ME, composite_hashes=[hashed(1)])
    assert await baseline.record([make_finding(1, seen_at=ago(hours=1))], ME) == (1, 0, 1, 0)
    assert await statuses(baseline, 1) == [("resolved", 2)]


async def test_a_sighting_in_the_past_moves_the_first_back_and_never_the_last(baseline: Baseline) -> None:
    await baseline.record([make_finding(1)], ME)
    (now,) = await baseline.page(ME, limit=1)
    moment = "2020-02-02T02:02:02+02:00"
    await baseline.record([make_finding(1, seen_at=moment)], ME)
    (found,) = await baseline.page(ME, limit=1)
    assert (found.first_seen_at, found.last_seen_at) == (read_instant(moment), now.last_seen_at)
    assert (await query_hashes(baseline, 1))[0]["first_seen_ts"] == "2020-02-02T00:02:02Z"


async def test_the_same_hash_twice_in_a_request_counts_twice_under_its_last_id(baseline: Baseline) -> None:
    again = {"finding_id": "again", "composite_hash": hashed(1).upper(), "seen_at": ago(days=1)}
    assert await baseline.record([make_finding(1), again, make_finding(2)], ME) == (3, 2, 1, 0)
    found = {one.composite_hash: one for one in await baseline.page(ME, limit=9)}
    assert (found[hashed(1)].finding_id, found[hashed(1)].seen_count) == ("again", 2)
    assert found[hashed(1)].first_seen_at < found[hashed(1)].last_seen_at


@pytest.mark.parametrize("batch_size", [1, 2, 3, 7, 10_000])
async def test_answers_keep_the_order_asked_whatever_the_batch_size(baseline: Baseline, batch_size: int) -> None:
    await baseline.record([make_finding(number) for number in (2, 4, 4)], ME)
    numbers = [4, 1, 2, 4, 3, 2, 1]
    found = await query_hashes(baseline, *numbers, batch_size=batch_size)
    assert [one["finding_id"] for one in found] == [f"asked-{number}" for number in numbers]
    assert [one["composite_hash"] for one in found] == [hashed(number) for number in numbers]
    assert [one["seen_count"] for one in found] == [2, 0, 1, 2, 0, 1, 0]
    upper = await baseline.query(["x"], [hashed(4).upper()], ME)
    assert (upper[0]["composite_hash"], upper[0]["seen_count"]) == (hashed(4).upper(), 2)
    assert await baseline.query([], [], ME) == []


async def test_queries_change_nothing(baseline: Baseline) -> None:
    await baseline.record([make_finding(1), make_finding(2)], ME)
    await baseline.resolve(ME, composite_hashes=[hashed(2)])
    before = await baseline.page(ME, limit=9)
    assert await query_hashes(baseline, 1, 2, 3) == await query_hashes(baseline, 1, 2, 3)
    assert await baseline.page(ME, limit=9) == before


async def test_many_go_in_several_statements(baseline: Baseline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK_ROWS", 10)
    some = [make_finding(number) for number in range(25)]
    assert await baseline.record(some, ME) == (25, 25, 0, 0)
    assert await baseline.resolve(ME, findings=some[:15]) == (15, 0, 0)
    assert await baseline.record([make_finding(number) for number in range(10, 35)], ME) == (25, 10, 10, 5)
    assert len(await baseline.page(ME, status="resolved", limit=99)) == 10
    assert await baseline.remove_all(ME, status="resolved") == 10
    assert await baseline.remove_all(ME) == 25
    assert await baseline.page(ME, limit=9) == []


async def test_each_has_a_baseline_of_their_own_and_the_shared_one_is_for_admins_to_change(baseline: Baseline) -> None:
    await baseline.record([make_finding(1)], ME)
    await baseline.record([make_finding(1), make_finding(2)], ADMIN, scope="shared")
    assert await statuses(baseline, 1, 2, caller=OTHER) == [("new", 0), ("new", 0)]
    assert await statuses(baseline, 1, 2, caller=ADMIN) == [("new", 0), ("new", 0)]
    for caller in (ME, OTHER, ADMIN):
        assert await statuses(baseline, 1, 2, caller=caller, scope="shared") == [("recurring", 1), ("recurring", 1)]
        assert len(await baseline.page(caller, scope="shared", limit=9)) == 2
    refused: Sequence[Any] = (
        baseline.record([make_finding(3)], ME, scope="shared"),
        baseline.resolve(ME, composite_hashes=[hashed(1)], scope="shared"),
        baseline.remove(hashed(1), ME, scope="shared"),
        baseline.remove_all(ME, scope="shared"),
    )
    for work in refused:
        with pytest.raises(Forbidden, match="admins"):
            await work
    assert await baseline.resolve(OTHER, composite_hashes=[hashed(1)]) == (0, 0, 1)
    assert await statuses(baseline, 1) == [("recurring", 1)]
    assert await statuses(baseline, 3, scope="shared") == [("new", 0)]


async def test_findings_are_listed_by_hash_and_forgotten(baseline: Baseline) -> None:
    await baseline.record([make_finding(number) for number in range(5)], ME)
    await baseline.resolve(ME, composite_hashes=[hashed(3)])
    every = sorted(hashed(number) for number in range(5))
    listed = await baseline.page(ME, limit=2)
    assert [one.composite_hash for one in listed] == every[:2]
    rest = await baseline.page(ME, after=every[1], limit=9)
    assert [one.composite_hash for one in rest] == every[2:]
    assert [one.baseline_status for one in await baseline.page(ME, status="resolved", limit=9)] == ["resolved"]
    assert {one.baseline_status for one in await baseline.page(ME, status="recurring", limit=9)} == {"recurring"}
    await baseline.remove(hashed(0).upper(), ME)
    assert await statuses(baseline, 0) == [("new", 0)]
    with pytest.raises(NotFound, match=hashed(0)):
        await baseline.remove(hashed(0), ME)
    with pytest.raises(Invalid, match="64 hexadecimal"):
        await baseline.remove("abc", ME)


async def test_two_concurrent_recordings_lose_no_finding(baseline: Baseline) -> None:
    mine, theirs = (
        [make_finding(number) for number in range(200)],
        [make_finding(number) for number in reversed(range(100, 300))],
    )
    counts = await asyncio.gather(*(baseline.record(some, ME) for some in (mine, theirs) * 4))
    assert sum(one.new for one in counts) == 300
    assert sum(one.recurring for one in counts) == 8 * 200 - 300
    found = await statuses(baseline, *range(300))
    assert found == [("recurring", 8 if 100 <= number < 200 else 4) for number in range(300)]


async def test_recording_and_resolving_at_once_never_wait_for_each_other_in_a_ring(baseline: Baseline) -> None:
    some = [make_finding(number) for number in range(200)]
    hashes = [hashed(number) for number in reversed(range(200))]
    await baseline.record(some, ME)
    done = await asyncio.gather(
        *(work for _ in range(4) for work in (baseline.record(some, ME), baseline.resolve(ME, composite_hashes=hashes)))
    )
    assert sum(one.recorded for one in done if isinstance(one, store.RecordCounts)) == 800
    reopened = sum(one.reopened for one in done if isinstance(one, store.RecordCounts))
    resolved = sum(one.resolved for one in done if isinstance(one, store.ResolveCounts))
    left = sum(status == "resolved" for status, _ in await statuses(baseline, *range(200)))
    assert resolved - reopened == left


async def test_what_is_recorded_for_the_first_time_while_it_is_resolved_is_counted_as_it_ends(
    baseline: Baseline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CHUNK_ROWS", 50)
    chance = random.Random(9)
    works: list[Any] = []
    for _ in range(25):
        some, others = (chance.sample(range(300), 120) for _ in range(2))
        works.append(baseline.record([make_finding(number) for number in some], ME))
        works.append(baseline.resolve(ME, composite_hashes=[hashed(number) for number in others]))
    done = await asyncio.gather(*works)
    recorded = [one for one in done if isinstance(one, store.RecordCounts)]
    resolved = sum(one.resolved for one in done if isinstance(one, store.ResolveCounts))
    assert sum(one.new for one in recorded) == len(await baseline.page(ME, limit=999))
    left = len(await baseline.page(ME, status="resolved", limit=999))
    assert resolved - sum(one.reopened for one in recorded) == left
