"""Any sequence of recording, resolving, removing and querying has the same result as a plain model."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.baseline.baseline import Baseline
from pegboard.model.call import Caller
from pegboard.model.ids import new_id
from pegboard.model.timestamps import write_instant
from pegboard.storage import baseline_rows as store
from pegboard.storage.database import Database
from tests.unit.baseline.sample_findings import hashed

NUMBERS = st.integers(0, 5)
# Days before the test; None is now.
SIGHTINGS = st.tuples(NUMBERS, st.none() | st.integers(1, 9))
STEPS = st.one_of(
    st.tuples(st.just("record"), st.lists(SIGHTINGS, max_size=8)),
    st.tuples(st.just("resolve"), st.lists(NUMBERS, max_size=6)),
    st.tuples(st.just("remove"), st.sampled_from(["recurring", "resolved", None])),
)
START = datetime(2026, 1, 31, tzinfo=UTC)


@dataclass
class Known:
    """The model's state of a finding."""

    first: int | None
    count: int = 0
    is_resolved: bool = False


@dataclass
class Model:
    """A minimal baseline; times are days before today, and None is today."""

    findings: dict[int, Known] = field(default_factory=dict)

    def record(self, sightings: list[tuple[int, int | None]]) -> tuple[int, ...]:
        """Record findings one by one, each new, recurring or reopened."""
        new = reopened = 0
        for number, days in sightings:
            if number not in self.findings:
                new += 1
                self.findings[number] = Known(days)
            known = self.findings[number]
            if known.is_resolved and days is None:
                reopened += 1
                known.is_resolved = False
            known.count += 1
            known.first = max((day for day in (known.first, days) if day is not None), default=None)
        return len(sightings), new, len(sightings) - new - reopened, reopened

    def resolve(self, numbers: list[int]) -> tuple[int, ...]:
        """Each finding once."""
        known = [self.findings[number] for number in set(numbers) if number in self.findings]
        already = sum(one.is_resolved for one in known)
        for one in known:
            one.is_resolved = True
        return len(known) - already, already, len(set(numbers)) - len(known)

    def remove(self, status: str | None) -> int:
        """Remove all findings of one status."""
        gone = [
            number
            for number, known in self.findings.items()
            if status is None or known.is_resolved == (status == "resolved")
        ]
        for number in gone:
            del self.findings[number]
        return len(gone)

    def seen(self) -> list[tuple[str, int]]:
        """Return status and count of every number."""
        every = [self.findings.get(number) for number in range(6)]
        return [
            ("new", 0) if one is None else ("resolved" if one.is_resolved else "recurring", one.count) for one in every
        ]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use statements that take two findings at a time."""
    monkeypatch.setattr(store, "CHUNK_ROWS", 2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=st.lists(STEPS, max_size=8), batch_size=st.integers(1, 7))
@pytest.mark.usefixtures("small_chunks")
async def test_the_baseline_is_as_its_model(database: Database, steps: list[tuple[str, Any]], batch_size: int) -> None:
    # A new user for each example, so that no example sees findings of another.
    caller, baseline, model = Caller(new_id(), "somebody"), Baseline(database), Model()
    for step, given_ in steps:
        if step == "record":
            findings = [
                {
                    "finding_id": f"f-{number}",
                    "composite_hash": hashed(number),
                    "seen_at": None if days is None else write_instant(START - timedelta(days=days)),
                }
                for number, days in given_
            ]
            assert await baseline.record(findings, caller) == model.record(given_)
        elif step == "resolve":
            hashes = [hashed(number) for number in given_]
            assert await baseline.resolve(caller, composite_hashes=hashes) == model.resolve(given_)
        else:
            assert await baseline.remove_all(caller, status=given_) == model.remove(given_)
        hashes = [hashed(number) for number in range(6)]
        found = await baseline.query(hashes, hashes, caller, batch_size=batch_size)
        assert [(one["baseline_status"], one["seen_count"]) for one in found] == model.seen()
        for number, one in enumerate(found):
            known = model.findings.get(number)
            if known is None:
                assert one["first_seen_ts"] is None
            elif known.first is not None:
                assert one["first_seen_ts"] == write_instant(START - timedelta(days=known.first))
            assert 0 <= one["confidence_score"] <= 1
