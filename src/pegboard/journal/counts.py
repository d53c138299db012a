"""Calls counted as they are recorded, until they are added to the statistics in the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from pegboard.journal.entries import Count
from pegboard.journal.histogram import bucket_of
from pegboard.store.counts import EVERYBODY
from pegboard.store.executions import FIELDS, Row

_HOUR_LENGTH = len("2026-01-31 12")
_TOOL_NAME, _STATUS, _STARTED_AT, _ELAPSED_MS, _CALLER_ID, _TOOL_ID, _CODE = map(
    FIELDS.index, ("tool_name", "status", "started_at", "elapsed_ms", "caller_id", "tool_id", "code")
)


class Counts:
    """What the statistics gain by the rows since they were last taken."""

    def __init__(self) -> None:
        # By the hour as text, since reading it as a number can wait until there are fewer of them.
        self._new: dict[tuple[str, str, str, str, str, int], int] = defaultdict(int)
        self._back: dict[tuple[int, str, str, str, str, int], int] = defaultdict(int)

    def __len__(self) -> int:
        return len(self._new) + len(self._back)

    def add(self, row: Row) -> None:
        """Count a row of the journal as it is stored; calls of tools there are not count under no name."""
        self._new[
            row[_STARTED_AT][:_HOUR_LENGTH],
            row[_TOOL_NAME] if row[_TOOL_ID] is not None else "",
            row[_CALLER_ID],
            row[_STATUS],
            row[_CODE] or "",
            bucket_of(row[_ELAPSED_MS]),
        ] += 1

    def take(self) -> list[Count]:
        """Everything counted so far, of each caller and of all together; sorted, so that two writers never deadlock."""
        new, taken = self._new, self._back
        self._new, self._back = defaultdict(int), defaultdict(int)
        hours: dict[str, int] = {}
        for (text, tool_name, caller_id, status, code, bucket), calls in new.items():
            hour = hours.get(text)
            if hour is None:
                hour = hours[text] = hour_of(datetime.fromisoformat(f"{text}:00+00:00"))
            taken[hour, tool_name, EVERYBODY, status, code, bucket] += calls
            if caller_id != EVERYBODY:
                taken[hour, tool_name, caller_id, status, code, bucket] += calls
        return sorted((*key, calls) for key, calls in taken.items())

    def put_back(self, counts: Iterable[Count]) -> None:
        """Count again what was taken, because it did not reach the database."""
        for *key, calls in counts:
            self._back[tuple(key)] += calls  # type: ignore[index]


def hour_of(moment: datetime) -> int:
    """The hours from 1970 to this moment."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(hours=1)
