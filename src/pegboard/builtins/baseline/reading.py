"""What people and models say about findings, read with every fault named before anything is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from pegboard.core.findings import Scope, matches_hash, read_hash
from pegboard.core.instants import read_instant
from pegboard.core.refusals import Fault, Invalid
from pegboard.store.findings import Sightings
from pegboard.store.types import storable

# How many hashes or findings one request may name.
MOST_ASKED = 10_000
MOST_RECORDED = 100_000
MAX_ID_LENGTH = 255
# How far a clock may be ahead of ours.
AHEAD = timedelta(minutes=5)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_FAULTS = 20
_FIELDS = frozenset({"finding_id", "composite_hash", "seen_at"})


class Reading:
    """Gathers what is wrong with a request, some of it where there is much."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    @property
    def is_enough(self) -> bool:
        """Whether so much is wrong that nobody would read more."""
        return len(self.faults) >= _MOST_FAULTS

    def add(self, field: str, message: str) -> None:
        """Keep one fault."""
        self.faults.append(Fault(field, message))

    def settle(self, what: str) -> None:
        """Raise Invalid if anything is wrong."""
        if self.faults:
            raise Invalid.of(what, self.faults)

    def listed(self, values: Any, field: str, most: int) -> Sequence[Any]:
        """The list, if it is one and not too long."""
        if not isinstance(values, list | tuple):
            self.add(field, "must be a list")
        elif len(values) > most:
            self.add(field, f"has {len(values):,} entries, at most {most:,} are taken at once; send them in parts")
        else:
            return values
        return ()

    def hashes(self, values: Sequence[Any], field: str) -> list[str]:
        """The hashes, in lower case."""
        if all(isinstance(value, str) for value in values) and all(map(matches_hash, values)):
            return [value.lower() for value in values]
        found: list[str] = []
        for place, value in enumerate(values):
            try:
                found.append(read_hash(value))
            except ValueError as error:
                self.add(f"{field}.{place}", str(error))
                if self.is_enough:
                    break
        return found

    def finding_id(self, value: Any, field: str) -> str:
        """The id of a finding."""
        if not is_id(value):
            self.add(field, f"must be a string of 1 to {MAX_ID_LENGTH} characters")
            return ""
        return storable(str(value))


def is_id(value: Any) -> bool:
    """Whether a finding may be called that."""
    return isinstance(value, str) and 0 < len(value) <= MAX_ID_LENGTH


def scope_of(scope: Any) -> Scope:
    """Whose baseline is meant; raises Invalid."""
    if scope is None:
        return "own"
    if scope not in get_args(Scope):
        raise Invalid.of("The baseline is not known", [Fault("scope", "must be 'own' or 'shared'")])
    return "shared" if scope == "shared" else "own"


def read_sightings(findings: Any, now: datetime, *, most: int = MOST_RECORDED) -> list[Sightings]:
    """What was seen, summed up by hash and in the order of the hashes; raises Invalid."""
    reading = Reading()
    summed: dict[str, Sightings] = {}
    for place, finding in enumerate(reading.listed(findings, "findings", most)):
        if reading.is_enough:
            break
        one = _sighting(reading, finding, f"findings.{place}", now)
        if one is None:
            continue
        before = summed.get(one.composite_hash)
        summed[one.composite_hash] = one if before is None else _together(before, one)
    reading.settle("The findings were not recorded")
    return [summed[composite_hash] for composite_hash in sorted(summed)]


def read_resolved(composite_hashes: Any, findings: Any, now: datetime) -> list[str]:
    """The hashes of the findings that are to be resolved; raises Invalid."""
    reading = Reading()
    found: list[str] = []
    if (composite_hashes is None) == (findings is None):
        reading.add("composite_hashes", "must be given, or findings in its place, and not both")
    elif composite_hashes is not None:
        found = reading.hashes(reading.listed(composite_hashes, "composite_hashes", MOST_RECORDED), "composite_hashes")
    else:
        for place, finding in enumerate(reading.listed(findings, "findings", MOST_RECORDED)):
            if reading.is_enough:
                break
            one = _sighting(reading, finding, f"findings.{place}", now, needs_id=False)
            if one is not None:
                found.append(one.composite_hash)
    reading.settle("The findings were not resolved")
    return found


def read_asked(finding_ids: Any, composite_hashes: Any, batch_size: Any) -> list[str]:
    """The hashes that are asked for, each in its place; raises Invalid."""
    reading = Reading()
    ids = reading.listed(finding_ids, "finding_ids", MOST_ASKED)
    hashes = reading.listed(composite_hashes, "composite_hashes", MOST_ASKED)
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or not 1 <= batch_size <= MOST_ASKED:
        reading.add("batch_size", f"must be an integer between 1 and {MOST_ASKED:,}")
    if not reading.faults and len(ids) != len(hashes):
        many = f"{len(ids):,} finding_ids and {len(hashes):,} composite_hashes"
        reading.add(
            "composite_hashes", f"must be as many as finding_ids, one each in the same order, but there are {many}"
        )
    for place, value in enumerate(ids):
        if not is_id(value):
            reading.finding_id(value, f"finding_ids.{place}")
            if reading.is_enough:
                break
    found = reading.hashes(hashes, "composite_hashes")
    reading.settle("The baseline was not queried")
    return found


def _sighting(reading: Reading, finding: Any, field: str, now: datetime, *, needs_id: bool = True) -> Sightings | None:
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
            seen_at = _moment(given, now)
        except ValueError as error:
            wanted = "must be an ISO 8601 time with a zone, such as 2026-01-02T03:04:05Z"
            reading.add(f"{field}.seen_at", f"{wanted}, and not later than now, but {error}")
    if len(reading.faults) > before:
        return None
    return Sightings(composite_hash, finding_id, 1, seen_at, seen_at, given is None)


def _moment(given: Any, now: datetime) -> datetime:
    if isinstance(given, datetime) and given.tzinfo is not None:
        moment = given.astimezone(UTC)
    elif isinstance(given, str):
        moment = read_instant(given)
    else:
        raise ValueError("it is no text")
    if moment < EPOCH:
        raise ValueError("it is before 1970")
    if moment > now + AHEAD:
        raise ValueError("it is more than 5 minutes in the future")
    return moment


def _together(one: Sightings, other: Sightings) -> Sightings:
    first, last = min(one.first, other.first), max(one.last, other.last)
    times, is_now = one.times + other.times, one.is_now or other.is_now
    return Sightings(one.composite_hash, other.finding_id, times, first, last, is_now)
