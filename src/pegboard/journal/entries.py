"""The entries of the commit queue: calls that are about to run (intents) and calls that ended (rows)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import orjson

from pegboard.model.call import Execution
from pegboard.model.call_errors import Unavailable
from pegboard.model.journal_row import (
    FIELDS,
    LARGE_FIELDS,
    StoredRow,
    fill_missing_fields,
    get_large_values,
    replace_fields,
)

IntentState = Literal["open", "done", "in_doubt"]
_REPEAT_OF, _STATUS = FIELDS.index("repeat_of"), FIELDS.index("status")
# The fields beside the row that every version has written to spools.
_MIN_SPOOLED_FIELDS = 5
NOT_COMMITTED_MESSAGE = "The connection to the database was lost before the call was committed; it had no effect"
# hour, tool_name, caller_id, status, code, bucket, calls
CountRow = tuple[int, str, str, str, str, int, int]


class Claim(NamedTuple):
    """A claim on an idempotency key, under a name from which the key cannot be derived."""

    name: str
    digest: str
    expires_at: str


class OpeningEntry(NamedTuple):
    """An intent: committed before the call runs, and recorded as it is if the process ends before the call does."""

    row: StoredRow
    receipts: bool = False
    claim: Claim | None = None
    # The other database that may have a receipt of the call.
    receipts_in: str | None = None

    @property
    def id(self) -> str:
        """The call's run id."""
        return str(self.row[0])


class ClosingEntry(NamedTuple):
    """The row of a call that ended, and what happens to its intent: none exists, delete it, or keep it."""

    row: StoredRow
    intent: Literal["none", "forget", "keep"] = "none"
    state: IntentState = "done"
    answer: str | None = None
    receipts: bool = False
    is_late: bool = False
    # True if the call commits its row itself, in the transaction of its effects, and may have done so.
    is_transactional: bool = False
    # True if another database may have a receipt of the call, from which another process may record it too.
    is_receipted: bool = False

    @property
    def id(self) -> str:
        """The id of the row: the run id of the call, unless the entry is late."""
        return str(self.row[0])

    @property
    def run_id(self) -> str:
        """The run id of the call."""
        return str(self.row[_REPEAT_OF]) if self.is_late else self.id

    def corrects(self, recorded: str | None) -> bool:
        """True if the call was recorded with another status, before its outcome was known."""
        status = self.row[_STATUS]
        # A receipt proves the effect, also of a call that was cancelled during its COMMIT.
        wrong = {"in_doubt", "failed"} if self.is_receipted and status == "succeeded" else {"in_doubt"}
        return recorded in wrong and status != "in_doubt"

    def late(self) -> ClosingEntry:
        """Return a second row, with an id derived from the run id, for a call that was recorded as in doubt."""
        late_id = f"{self.id[:-1]}{int(self.id[-1], 16) ^ 1:x}"
        return self._replace(row=replace_fields(self.row, id=late_id, repeat_of=self.id), is_late=True)

    def settle(self) -> ClosingEntry:
        """Return the entry of a transactional call whose row is not recorded: its transaction was not committed."""
        if not self.is_transactional or self.row[_STATUS] != "in_doubt":
            return self
        row = replace_fields(self.row, status="failed", code="interrupted", error=NOT_COMMITTED_MESSAGE)
        return self._replace(row=row, intent="none" if self.intent == "none" else "forget", answer=None)

    def encode_for_spool(self) -> bytes:
        """Return this entry as bytes for the spool."""
        values = list(self)
        # Without the last fields if they are not needed, for processes of an older version.
        while len(values) > _MIN_SPOOLED_FIELDS + 1 and values[-1] is False:
            values.pop()
        return orjson.dumps(values)

    @classmethod
    def from_spool_bytes(cls, text: bytes) -> ClosingEntry:
        """Return the entry from its spool bytes; raise ValueError if this version cannot read it."""
        row, *rest = orjson.loads(text)
        row = fill_missing_fields(row)
        if len(row) != len(FIELDS) or not _MIN_SPOOLED_FIELDS <= len(rest) <= len(cls._fields) - 1:
            raise ValueError("an entry of another version")
        return cls(row, *rest)


class ClaimHolder(NamedTuple):
    """The call that holds a claim, its state and its answer."""

    id: str
    digest: str
    state: IntentState
    answer: str | None
    mac: str = ""
    is_genuine: bool = True


class IntentRow(NamedTuple):
    """An intent as stored in the database, column by column."""

    id: str
    writer: int
    state: IntentState
    execution: str
    receipts: bool
    claim: str | None
    digest: str | None
    expires_at: str | None
    mac: str
    claim_mac: str


class OpenIntent(NamedTuple):
    """An intent that its writer has left open."""

    id: str
    execution: str
    receipts: bool
    claim: str | None
    digest: str | None
    mac: str

    @property
    def row(self) -> StoredRow:
        """The row as it was when the call began."""
        content = orjson.loads(self.execution)
        return tuple(content["row"] if isinstance(content, dict) else content)

    @property
    def receipts_in(self) -> str | None:
        """The other database that may have a receipt of the call."""
        content = orjson.loads(self.execution)
        return content["receipts_in"] if isinstance(content, dict) else None


class EntryBatch(NamedTuple):
    """Entries that are committed together."""

    openings: list[OpeningEntry]
    closings: list[ClosingEntry]

    @classmethod
    def of(cls, entries: Iterable[OpeningEntry | ClosingEntry]) -> EntryBatch:
        """Return the entries, separated into openings and closings."""
        openings: list[OpeningEntry] = []
        closings: list[ClosingEntry] = []
        for entry in entries:
            if isinstance(entry, ClosingEntry):
                closings.append(entry)
            else:
                openings.append(entry)
        return cls(openings, closings)


RETRY_AFTER_MS = 1000
# The estimated size of an entry without its large fields.
_BASE_BYTES = 1000


@dataclass(eq=False, slots=True)
class WaitingEntry:
    """An entry that waits to be committed."""

    entry: OpeningEntry | ClosingEntry
    done: asyncio.Future[dict[str, ClaimHolder]]
    bytes: int
    is_spooled: bool = False
    is_retried: bool = False
    is_answered: bool = False


def build_unavailable(why: str) -> Unavailable:
    """Return the error for a call that could not be recorded."""
    return Unavailable(f"The call could not be recorded: {why}", retry_after_ms=RETRY_AFTER_MS)


def estimate_bytes(entry: OpeningEntry | ClosingEntry) -> int:
    """Return about how many bytes an entry takes in memory."""
    answer = entry.answer if isinstance(entry, ClosingEntry) else None
    return _BASE_BYTES + sum(len(text or "") for text in (*get_large_values(entry.row), answer))


def format_for_log(execution: Execution) -> dict[str, object]:
    """Return a row for the log, without its large fields."""
    return {name: value for name, value in execution._asdict().items() if name not in LARGE_FIELDS}
