"""What is handed to the journal's writer: calls about to run, and calls that ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import orjson

from pegboard.store.executions import FIELDS, Row, whole

State = Literal["open", "done", "in_doubt"]
_REPEAT_OF = FIELDS.index("repeat_of")
# hour, tool_name, caller_id, status, code, bucket, calls
Count = tuple[int, str, str, str, str, int, int]


class Claim(NamedTuple):
    """A caller's hold on an idempotency key, under a name that does not tell the key."""

    name: str
    digest: str
    expires_at: str


class Opening(NamedTuple):
    """An intent: committed before the call runs, and made a row as it stands if nobody lives to tell more."""

    row: Row
    receipts: bool = False
    claim: Claim | None = None

    @property
    def id(self) -> str:
        """The call's run id."""
        return str(self.row[0])


class Closing(NamedTuple):
    """How a call ended, and what becomes of its intent: nothing if it had none, else forgotten or kept."""

    row: Row
    intent: Literal["none", "forget", "keep"] = "none"
    state: State = "done"
    answer: str | None = None
    receipts: bool = False
    is_late: bool = False

    @property
    def id(self) -> str:
        """The row's id: the call's run id, unless it comes late."""
        return str(self.row[0])

    @property
    def run_id(self) -> str:
        """The call's run id."""
        return str(self.row[_REPEAT_OF]) if self.is_late else self.id

    def late(self) -> Closing:
        """How a call ended that others have recorded as in doubt meanwhile: a row of its own, the same each time."""
        row = list(self.row)
        row[0], row[_REPEAT_OF] = f"{self.id[:-1]}{int(self.id[-1], 16) ^ 1:x}", self.id
        return self._replace(row=tuple(row), is_late=True)

    def spooled(self) -> bytes:
        """This closing for the spool."""
        return orjson.dumps(tuple(self))

    @classmethod
    def unspooled(cls, text: bytes) -> Closing:
        """The closing that was spooled as this; ValueError if no closing that this version knows was."""
        row, *rest = orjson.loads(text)
        row = whole(row)
        if len(row) != len(FIELDS) or len(rest) != len(cls._fields) - 1:
            raise ValueError("an entry of another version")
        return cls(row, *rest)


class Held(NamedTuple):
    """Who holds a claim, and what came of it."""

    id: str
    digest: str
    state: State
    answer: str | None
    mac: str = ""
    is_genuine: bool = True


class Intent(NamedTuple):
    """An opening as it is stored, column by column."""

    id: str
    writer: int
    state: State
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
    def row(self) -> Row:
        """The row as it was when the call began."""
        return tuple(orjson.loads(self.execution))


class Batch(NamedTuple):
    """What is committed together."""

    openings: list[Opening]
    closings: list[Closing]

    @classmethod
    def of(cls, entries: Iterable[Opening | Closing]) -> Batch:
        """The entries, sorted by what they are."""
        openings: list[Opening] = []
        closings: list[Closing] = []
        for entry in entries:
            if isinstance(entry, Closing):
                closings.append(entry)
            else:
                openings.append(entry)
        return cls(openings, closings)
