"""What does not fit in a chain: one finding each, in words, found by walking it row by row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pegboard.journal.chain import START, Chain, Place
from pegboard.store.executions import Linked
from pegboard.store.types import storable

# After so many findings there is nothing to be learnt from more of them.
MAX_FINDINGS = 100

FindingKind = Literal[
    "changed",
    "removed",
    "cut",
    "misplaced",
    "beyond_head",
    "head_forged",
    "marker_forged",
    "writer_missing",
    "writer_unknown",
    "count_forged",
    "outside",
    "line",
    "put_back",
    "set_aside",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that shows that the journal, or an export of it, is not as the board wrote it."""

    kind: FindingKind
    message: str
    writer: int | None = None
    first: int | None = None
    last: int | None = None
    execution_id: str | None = None

    def __post_init__(self) -> None:
        # What was tampered with may hold text that no answer can carry.
        object.__setattr__(self, "message", storable(self.message))
        if self.execution_id is not None:
            object.__setattr__(self, "execution_id", storable(self.execution_id))


class Trail(NamedTuple):
    """How far a walk has come: the last row's number, and the MACs that the next row may have before it.

    There are several where the last row does not fit, since its MAC may be right and its content wrong, or the other
    way round; there is none where the row before is missing.
    """

    seq: int = 0
    macs: tuple[str, ...] = (START,)

    @classmethod
    def at(cls, place: Place) -> Trail:
        """Right after a place that is beyond doubt."""
        return cls(place.seq, (place.mac,))


class Walk:
    """Follows one writer's chain and adds what does not fit to `findings`."""

    def __init__(self, chain: Chain, writer: int, trail: Trail, findings: list[Finding]) -> None:
        self._chain = chain
        self.writer = writer
        self.trail = trail
        self.findings = findings

    def take(self, row: Linked, *, left_out: bool = False, previous: str | None = None) -> None:
        """Judge the next row; numbers that are passed over are removed rows unless they were `left_out` on purpose.

        `previous` is the MAC of the row before, where an export tells it although that row is not there.
        """
        seq, before = row.seq, self.trail
        if type(seq) is not int or seq <= before.seq:
            self._misplaced(row)
            return
        if seq > before.seq + 1:
            if not left_out:
                self.miss(before.seq + 1, seq - 1, judged=previous is not None)
            before = Trail(seq - 1, () if previous is None else (previous,))
        links = [self._link(mac, row) for mac in before.macs] if row.row else []
        possible = [mac for mac in links if mac is not None]
        mac = _mac(row)
        if mac and row.row and (not before.macs or any(self._chain.same(mac, other) for other in possible)):
            self.trail = Trail(seq, (mac,))
            return
        self._changed(row)
        self.trail = Trail(seq, (*((mac,) if mac else ()), *possible[:2]))

    def miss(self, first: int, last: int, *, judged: bool = True) -> None:
        """Rows that should be there are not; what follows them cannot always be judged."""
        after = "" if judged else f"; whether row {last + 1} was changed cannot be told without"
        message = f"{_rows(first, last)} of writer {self.writer} {_are(first, last)} missing{after}"
        self._find("removed", message, first, last)

    def end(self, head: Place) -> None:
        """Judge that there are no more rows, where the head that is signed says where the chain ends."""
        seq, macs = self.trail
        if seq < head.seq:
            self._find(
                "cut",
                f"{_rows(seq + 1, head.seq)} of writer {self.writer} {_are(seq + 1, head.seq)} missing at the end: its"
                f" signed head is row {head.seq}, its chain ends with row {seq}",
                seq + 1,
                head.seq,
            )
        elif seq > head.seq:
            self._find(
                "beyond_head",
                f"{_rows(head.seq + 1, seq)} of writer {self.writer} {_are(head.seq + 1, seq)} behind its signed head,"
                f" row {head.seq}: the head was put back, or the rows were put there",
                head.seq + 1,
                seq,
            )
        elif macs and not any(self._chain.same(head.mac, mac) for mac in macs):
            self._find(
                "head_forged",
                f"The signed head of writer {self.writer}, row {seq}, is of another row than the one that is there",
                seq,
                seq,
            )

    def _link(self, before: str, row: Linked) -> str | None:
        # Neither can have been written by the board, and what is not finite reads like nothing under a MAC.
        if math.inf in row.row or -math.inf in row.row:
            return None
        try:
            return self._chain.link(before, self.writer, row.seq, row.row)
        except TypeError:
            return None

    def _misplaced(self, row: Linked) -> None:
        message = f"A row of writer {self.writer}{_execution(row)} has number {row.seq!r}, where its chain has no place"
        self.findings.append(Finding("misplaced", message, self.writer, execution_id=_id(row)))

    def _changed(self, row: Linked) -> None:
        last = self.findings[-1] if self.findings else None
        if last is not None and (last.kind, last.writer, last.last) == ("changed", self.writer, row.seq - 1):
            first, execution_id = last.first, last.execution_id
            since = f", from execution {execution_id} on," if execution_id else ""
            message = f"Rows {first} to {row.seq} of writer {self.writer}{since} are not as the board wrote them"
            self.findings[-1] = replace(last, message=message, last=row.seq)
            return
        message = f"Row {row.seq} of writer {self.writer}{_execution(row)} is not as the board wrote it"
        self.findings.append(Finding("changed", message, self.writer, row.seq, row.seq, _id(row)))

    def _find(self, kind: FindingKind, message: str, first: int, last: int) -> None:
        self.findings.append(Finding(kind, message, self.writer, first, last))


def some_rows(count: int) -> str:
    """How many rows, in words."""
    return "1 row" if count == 1 else f"{count} rows"


def _rows(first: int, last: int) -> str:
    return f"Row {first}" if first == last else f"Rows {first} to {last}"


def _are(first: int, last: int) -> str:
    return "is" if first == last else "are"


def _id(row: Linked) -> str | None:
    return str(row.row[0]) if row.row else None


def _execution(row: Linked) -> str:
    return f", execution {row.row[0]}," if row.row else ""


def _mac(row: Linked) -> str | None:
    mac: object = row.mac
    return mac if isinstance(mac, str) and mac.isascii() else None
