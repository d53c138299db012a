"""Finds and describes violations of a hash chain by checking it row by row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pegboard.journal.hash_chain import FIRST_MAC, ChainPosition, HashChain
from pegboard.model.json_text import replace_unstorable
from pegboard.storage.execution_rows import ChainRow

# More findings than this give no further information.
MAX_FINDINGS = 100

TamperKind = Literal[
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
class TamperFinding:
    """One sign that the journal, or an export of it, is not as the board wrote it."""

    kind: TamperKind
    message: str
    writer: int | None = None
    first: int | None = None
    last: int | None = None
    execution_id: str | None = None

    def __post_init__(self) -> None:
        # Data that was tampered with may contain text that a response cannot encode.
        object.__setattr__(self, "message", replace_unstorable(self.message))
        if self.execution_id is not None:
            object.__setattr__(self, "execution_id", replace_unstorable(self.execution_id))


class ChainTrail(NamedTuple):
    """The position of a walk: the number of the last row, and the possible MACs before the next row.

    There are several if the last row is invalid, because either its MAC or its content may be correct; there are none
    if the previous row is missing.
    """

    seq: int = 0
    macs: tuple[str, ...] = (FIRST_MAC,)

    @classmethod
    def at(cls, place: ChainPosition) -> ChainTrail:
        """Return the trail directly after a verified position."""
        return cls(place.seq, (place.mac,))

    @classmethod
    def after(cls, seq: int, mac: str | None) -> ChainTrail:
        """Return the trail after a row whose MAC is None if it is not known."""
        return cls(seq, () if mac is None else (mac,))


class ChainWalk:
    """Follows one writer's hash chain and adds violations to `findings`."""

    def __init__(self, chain: HashChain, writer: int, trail: ChainTrail, findings: list[TamperFinding]) -> None:
        self._chain = chain
        self.writer = writer
        self.trail = trail
        self.findings = findings

    def take(self, row: ChainRow, *, left_out: bool = False, previous: str | None = None) -> None:
        """Verify the next row; skipped numbers are removed rows, unless rows were `left_out` on purpose.

        `previous` is the MAC of the previous row if an export contains it without that row.
        """
        seq, before = row.seq, self.trail
        if type(seq) is not int or seq <= before.seq:
            self._report_misplaced(row)
            return
        if seq > before.seq + 1:
            if not left_out:
                self.report_missing(before.seq + 1, seq - 1, judged=previous is not None)
            before = ChainTrail.after(seq - 1, previous)
        links = [self._link(mac, row) for mac in before.macs] if row.row else []
        possible = [mac for mac in links if mac is not None]
        mac = _get_mac(row)
        if mac and row.row and (not before.macs or any(self._chain.is_same_mac(mac, other) for other in possible)):
            self.trail = ChainTrail(seq, (mac,))
            return
        self._report_changed(row)
        self.trail = ChainTrail(seq, (*((mac,) if mac else ()), *possible[:2]))

    def report_missing(self, first: int, last: int, *, judged: bool = True) -> None:
        """Report missing rows; without them, the row that follows cannot always be verified."""
        after = "" if judged else f"; it is unknown whether row {last + 1} was changed"
        message = f"{_format_row_range(first, last)} of writer {self.writer} {_choose_verb(first, last)} missing{after}"
        self._find("removed", message, first, last)

    def end(self, head: ChainPosition) -> None:
        """Verify the end of the chain against its signed head."""
        seq, macs = self.trail
        if seq < head.seq:
            self._find(
                "cut",
                f"{_format_row_range(seq + 1, head.seq)} of writer {self.writer} "
                f"{_choose_verb(seq + 1, head.seq)} missing at the end: its"
                f" signed head is row {head.seq}, its chain ends with row {seq}",
                seq + 1,
                head.seq,
            )
        elif seq > head.seq:
            self._find(
                "beyond_head",
                f"{_format_row_range(head.seq + 1, seq)} of writer {self.writer} "
                f"{_choose_verb(head.seq + 1, seq)} behind its signed head,"
                f" row {head.seq}: the head was put back, or the rows were put there",
                head.seq + 1,
                seq,
            )
        elif macs and not any(self._chain.is_same_mac(head.mac, mac) for mac in macs):
            self._find(
                "head_forged",
                f"The signed head of writer {self.writer}, row {seq}, is of another row than the one that is there",
                seq,
                seq,
            )

    def _link(self, before: str, row: ChainRow) -> str | None:
        # The board writes neither infinities nor unserializable values, and orjson encodes infinities as null.
        if math.inf in row.row or -math.inf in row.row:
            return None
        try:
            return self._chain.link(before, self.writer, row.seq, row.row)
        except TypeError:
            return None

    def _report_misplaced(self, row: ChainRow) -> None:
        message = (
            f"A row of writer {self.writer}{_format_execution(row)} has number {row.seq!r}, where its "
            "chain has no place"
        )
        self.findings.append(TamperFinding("misplaced", message, self.writer, execution_id=_get_execution_id(row)))

    def _report_changed(self, row: ChainRow) -> None:
        last = self.findings[-1] if self.findings else None
        if last is not None and (last.kind, last.writer, last.last) == ("changed", self.writer, row.seq - 1):
            first, execution_id = last.first, last.execution_id
            since = f", from execution {execution_id} on," if execution_id else ""
            message = f"Rows {first} to {row.seq} of writer {self.writer}{since} are not as the board wrote them"
            self.findings[-1] = replace(last, message=message, last=row.seq)
            return
        message = f"Row {row.seq} of writer {self.writer}{_format_execution(row)} is not as the board wrote it"
        self.findings.append(TamperFinding("changed", message, self.writer, row.seq, row.seq, _get_execution_id(row)))

    def _find(self, kind: TamperKind, message: str, first: int, last: int) -> None:
        self.findings.append(TamperFinding(kind, message, self.writer, first, last))


def format_row_count(count: int) -> str:
    """Return a number of rows as text."""
    return "1 row" if count == 1 else f"{count} rows"


def _format_row_range(first: int, last: int) -> str:
    return f"Row {first}" if first == last else f"Rows {first} to {last}"


def _choose_verb(first: int, last: int) -> str:
    return "is" if first == last else "are"


def _get_execution_id(row: ChainRow) -> str | None:
    return str(row.row[0]) if row.row else None


def _format_execution(row: ChainRow) -> str:
    return f", execution {row.row[0]}," if row.row else ""


def _get_mac(row: ChainRow) -> str | None:
    mac: object = row.mac
    return mac if isinstance(mac, str) and mac.isascii() else None
