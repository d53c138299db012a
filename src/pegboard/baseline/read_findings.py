"""Parse and validate requests about findings; every fault is collected before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.baseline_finding import Scope, match_composite_hash, read_hash
from pegboard.model.json_text import replace_unstorable
from pegboard.model.timestamps import read_instant
from pegboard.storage.baseline_rows import Sightings

# How many hashes or findings one request may contain.
MAX_QUERIED_FINDINGS = 10_000
MAX_RECORDED_FINDINGS = 100_000
MAX_ID_LENGTH = 255
# How far in the future `seen_at` may be, to allow for clock differences.
MAX_CLOCK_AHEAD = timedelta(minutes=5)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_FAULTS = 20
_FIELDS = frozenset({"finding_id", "composite_hash", "seen_at"})


class FaultCollector:
    """Collects the faults of a request, up to a limit."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    @property
    def is_at_limit(self) -> bool:
        """True if the limit of reported faults is reached."""
        return len(self.faults) >= _MAX_FAULTS

    def add(self, field: str, message: str) -> None:
        """Add one fault."""
        self.faults.append(Fault(field, message))

    def settle(self, what: str) -> None:
        """Raise Invalid if there are faults."""
        if self.faults:
            raise Invalid.of(what, self.faults)

    def read_list(self, values: Any, field: str, most: int) -> Sequence[Any]:
        """Return the list, or an empty tuple with a fault if it is no list or has more than `most` entries."""
        if not isinstance(values, list | tuple):
            self.add(field, "must be a list")
        elif len(values) > most:
            self.add(field, f"has {len(values):,} entries, at most {most:,} are taken at once; send them in parts")
        else:
            return values
        return ()

    def read_hashes(self, values: Sequence[Any], field: str) -> list[str]:
        """Return the hashes in lower case; add a fault for each that is not valid."""
        if all(isinstance(value, str) for value in values) and all(map(match_composite_hash, values)):
            return [value.lower() for value in values]
        found: list[str] = []
        for place, value in enumerate(values):
            try:
                found.append(read_hash(value))
            except ValueError as error:
                self.add(f"{field}.{place}", str(error))
                if self.is_at_limit:
                    break
        return found

    def finding_id(self, value: Any, field: str) -> str:
        """Return the finding's id without characters that cannot be stored, or "" with a fault if it is not valid."""
        if not is_finding_id(value):
            self.add(field, f"must be a string of 1 to {MAX_ID_LENGTH} characters")
            return ""
        return replace_unstorable(str(value))


def is_finding_id(value: Any) -> bool:
    """Return True if the value is a valid id of a finding."""
    return isinstance(value, str) and 0 < len(value) <= MAX_ID_LENGTH


def read_scope(scope: Any) -> Scope:
    """Return the scope, "own" by default; raise Invalid if it is not known."""
    if scope is None:
        return "own"
    if scope not in get_args(Scope):
        raise Invalid.of("The baseline is not known", [Fault("scope", "must be 'own' or 'shared'")])
    return "shared" if scope == "shared" else "own"


def read_sightings(findings: Any, now: datetime, *, most: int = MAX_RECORDED_FINDINGS) -> list[Sightings]:
    """Return the sightings, merged by hash and sorted by hash; raise Invalid with the faults."""
    reading = FaultCollector()
    summed: dict[str, Sightings] = {}
    for place, finding in enumerate(reading.read_list(findings, "findings", most)):
        if reading.is_at_limit:
            break
        one = _read_sighting(reading, finding, f"findings.{place}", now)
        if one is None:
            continue
        before = summed.get(one.composite_hash)
        summed[one.composite_hash] = one if before is None else _merge_sightings(before, one)
    reading.settle("The findings were not recorded")
    return [summed[composite_hash] for composite_hash in sorted(summed)]


def read_resolved(composite_hashes: Any, findings: Any, now: datetime) -> list[str]:
    """Return the hashes of the findings to resolve; raise Invalid with the faults."""
    reading = FaultCollector()
    found: list[str] = []
    if (composite_hashes is None) == (findings is None):
        reading.add("composite_hashes", "must be given, or findings in its place, and not both")
    elif composite_hashes is not None:
        found = reading.read_hashes(
            reading.read_list(composite_hashes, "composite_hashes", MAX_RECORDED_FINDINGS), "composite_hashes"
        )
    else:
        for place, finding in enumerate(reading.read_list(findings, "findings", MAX_RECORDED_FINDINGS)):
            if reading.is_at_limit:
                break
            one = _read_sighting(reading, finding, f"findings.{place}", now, needs_id=False)
            if one is not None:
                found.append(one.composite_hash)
    reading.settle("The findings were not resolved")
    return found


def read_queried_hashes(finding_ids: Any, composite_hashes: Any, batch_size: Any) -> list[str]:
    """Return the hashes to query, in the given order; raise Invalid with the faults."""
    reading = FaultCollector()
    ids = reading.read_list(finding_ids, "finding_ids", MAX_QUERIED_FINDINGS)
    hashes = reading.read_list(composite_hashes, "composite_hashes", MAX_QUERIED_FINDINGS)
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or not 1 <= batch_size <= MAX_QUERIED_FINDINGS:
        reading.add("batch_size", f"must be an integer between 1 and {MAX_QUERIED_FINDINGS:,}")
    if not reading.faults and len(ids) != len(hashes):
        many = f"{len(ids):,} finding_ids and {len(hashes):,} composite_hashes"
        reading.add(
            "composite_hashes", f"must be as many as finding_ids, one each in the same order, but there are {many}"
        )
    for place, value in enumerate(ids):
        if not is_finding_id(value):
            reading.finding_id(value, f"finding_ids.{place}")
            if reading.is_at_limit:
                break
    found = reading.read_hashes(hashes, "composite_hashes")
    reading.settle("The baseline was not queried")
    return found


def _read_sighting(
    reading: FaultCollector, finding: Any, field: str, now: datetime, *, needs_id: bool = True
) -> Sightings | None:
    if not isinstance(finding, Mapping):
        reading.add(field, "must be an object with finding_id and composite_hash")
        return None
    before = len(reading.faults)
    if not finding.keys() <= _FIELDS:
        unknown = next(str(key)[:64] for key in finding if key not in _FIELDS)
        reading.add(f"{field}.{unknown}", f"is not known; a finding has {', '.join(sorted(_FIELDS))}")
    composite_hash = ""
    try:
        composite_hash = read_hash(finding.get("composite_hash"))
    except ValueError as error:
        reading.add(f"{field}.composite_hash", str(error))
    finding_id = ""
    if needs_id or "finding_id" in finding:
        finding_id = reading.finding_id(finding.get("finding_id"), f"{field}.finding_id")
    given = finding.get("seen_at")
    seen_at = now
    if given is not None:
        try:
            seen_at = _read_moment(given, now)
        except ValueError as error:
            wanted = "must be an ISO 8601 time with a zone, such as 2026-01-02T03:04:05Z"
            reading.add(f"{field}.seen_at", f"{wanted}, and not later than now, but {error}")
    if len(reading.faults) > before:
        return None
    return Sightings(composite_hash, finding_id, 1, seen_at, seen_at, given is None)


def _read_moment(given: Any, now: datetime) -> datetime:
    if isinstance(given, datetime) and given.tzinfo is not None:
        moment = given.astimezone(UTC)
    elif isinstance(given, str):
        moment = read_instant(given)
    else:
        raise ValueError("it is no text")
    if moment < EPOCH:
        raise ValueError("it is before 1970")
    if moment > now + MAX_CLOCK_AHEAD:
        raise ValueError("it is more than 5 minutes in the future")
    return moment


def _merge_sightings(one: Sightings, other: Sightings) -> Sightings:
    first, last = min(one.first, other.first), max(one.last, other.last)
    times, is_now = one.times + other.times, one.is_now or other.is_now
    return Sightings(one.composite_hash, other.finding_id, times, first, last, is_now)
