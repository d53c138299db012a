"""Verifies an export of the journal, some lines at a time.

Shares `ChainWalk` with `verify.py`, which does not read exports: a line cannot hold a row with an
invalid writer or number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field

from pegboard.journal import export
from pegboard.journal.chain_signatures import (
    build_head_forged,
    build_marker_forged,
    check_prune_marker,
    check_signature,
    check_writer_count,
    merge_ranges,
)
from pegboard.journal.export import ExportLine, InvalidLine
from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.journal.tamper_report import MAX_FINDINGS, ChainTrail, ChainWalk, TamperFinding, format_row_count
from pegboard.model.api_errors import Invalid
from pegboard.model.base_model import Model


class LinesPosition(Model):
    """How far the verification of an export has come."""

    line: int = Field(0, ge=0)
    is_ranged: bool = False
    is_over: bool = False
    writer: int | None = None
    seq: int = 0
    macs: tuple[str, ...] = ()
    writers: tuple[tuple[int, int], ...] = ()
    old: int = 0
    left_out: int = 0
    pruned: int = 0
    found: int = Field(0, ge=0)


class ExportVerifier:
    """Verifies the lines of an export one by one; `findings`, `heads` and `checked` cover this instance's lines."""

    def __init__(self, chain: HashChain, position: LinesPosition | None) -> None:
        self._chain = chain
        self._start_position = position or LinesPosition()
        self._line = self._start_position.line
        self._is_ranged, self._is_over = self._start_position.is_ranged, self._start_position.is_over
        self._writers = list(self._start_position.writers)
        self._unchained_count, self._left_out, self._pruned = (
            self._start_position.old,
            self._start_position.left_out,
            self._start_position.pruned,
        )
        self.findings: list[TamperFinding] = []
        self.heads: list[tuple[int, ChainPosition]] = []
        self.checked = 0
        self._walk = self._walk_from(
            self._start_position.writer, ChainTrail(self._start_position.seq, self._start_position.macs)
        )

    @property
    def has_enough(self) -> bool:
        """True if the maximum number of findings is reached."""
        return self._start_position.found + len(self.findings) >= MAX_FINDINGS

    @property
    def position(self) -> LinesPosition:
        """The position to continue from."""
        walk = self._walk
        return LinesPosition(
            line=self._line,
            is_ranged=self._is_ranged,
            is_over=self._is_over,
            writer=walk.writer if walk else None,
            seq=walk.trail.seq if walk else 0,
            macs=walk.trail.macs if walk else (),
            writers=tuple(self._writers),
            old=self._unchained_count,
            left_out=self._left_out,
            pruned=self._pruned,
            found=self._start_position.found + len(self.findings),
        )

    def take(self, text: str) -> None:
        """Verify the next line; raise Invalid if the first line is not from an export."""
        self._line += 1
        if not text.strip():
            return
        try:
            line = export.read_line(text)
            take = self._find_line_handler(line)
            if self._line == 1 and export.HEADER_KEY not in line:
                self._find("The export has no header: its first line is missing, and whether others are is not known")
                self._is_ranged = True
            if self._is_over:
                self._find(f"Line {self._line} stands after the end of the export")
                return
            take(line)
        except InvalidLine as error:
            if self._line == 1:
                raise Invalid(f"This is no export of a journal: line 1: {error}") from None
            self._find(f"Line {self._line} is not as the board wrote it: {error}")

    def finish(self) -> list[str]:
        """Verify the end of the export; return notes about what could not be verified."""
        if not self._line:
            raise Invalid("This is no export of a journal: it is empty")
        if not self._is_over:
            self._find(f"The export is cut off after line {self._line}")
        notes = []
        if self._unchained_count:
            notes.append(f"{format_row_count(self._unchained_count)} from before there was a chain, not judged")
        if self._pruned:
            notes.append(f"{format_row_count(self._pruned)} pruned before the export")
        if self._is_ranged:
            places = f"{self._left_out} place" if self._left_out == 1 else f"{self._left_out} places"
            notes.append(
                f"The export holds a part of the journal: rows are left out in {places}, and whether any of them is"
                " missing from the journal cannot be determined from it"
            )
        return notes

    def _find_line_handler(self, line: ExportLine) -> Callable[[ExportLine], None]:
        kinds = {
            export.HEADER_KEY: self._take_header,
            export.WRITER_KEY: self._writer,
            export.HEAD_KEY: self._head,
            export.END_KEY: self._end,
        }
        for name, take in kinds.items():
            if name in line:
                return take
        if "id" in line:
            return self._row
        raise InvalidLine("no line of an export")

    def _take_header(self, line: ExportLine) -> None:
        if self._line != 1:
            raise InvalidLine("a second header")
        if (
            type(line[export.HEADER_KEY]) is not int or line[export.HEADER_KEY] != export.EXPORT_VERSION
        ):  # True == 1 in Python
            raise Invalid(
                f"The export has format {line[export.HEADER_KEY]!r}, this board reads format {export.EXPORT_VERSION}"
            )
        made_at, since, until = (line.get(name) for name in ("made_at", "since", "until"))
        self._is_ranged = since is not None or until is not None
        try:
            is_signed = export.build_signed_header(self._chain, made_at, since, until) == line
        except TypeError:  # a value that no header can contain
            is_signed = False
        if not is_signed:
            self._find("The header is not signed by this board: which rows the export was to hold is not known")

    def _writer(self, line: ExportLine) -> None:
        number, marker = _read_writer_number(line, export.WRITER_KEY), (line.get("pruned_seq"), line.get("pruned_mac"))
        signature = line.get("signature")
        _check_line(line, export.build_writer_line(number, ChainPosition(*marker), signature))  # type: ignore[arg-type]
        pruned = check_prune_marker(self._chain, number, marker, signature)
        if self._walk is not None and self._walk.writer == number:
            # Rows were pruned during the export.
            if pruned is None or pruned.seq <= self._walk.trail.seq:
                self._find(f"Line {self._line} is a prune marker of writer {number} at an impossible position")
                return
            self._pruned += pruned.seq - self._walk.trail.seq
            self._walk.trail = ChainTrail.at(pruned)
            return
        self._close()
        if any(first <= number <= last for first, last in self._writers):
            self._find(f"Line {self._line} begins the chain of writer {number} a second time")
        if pruned is None:
            self.findings.append(build_marker_forged(number, marker[0]))
        self._pruned += pruned.seq if pruned is not None else 0
        self._walk = self._walk_from(number, ChainTrail.at(pruned or ChainPosition()))

    def _row(self, line: ExportLine) -> None:
        shown = export.read_row(line)
        if shown.writer is None:
            self._unchained_count += 1
            return
        row, previous = shown.linked, shown.previous
        if self._walk is None or self._walk.writer != row.writer:
            self._close()
            message = (
                f"Line {self._line} is a row of writer {row.writer}, and the line that begins its chain is missing"
            )
            self._find(message)
            self._walk = ChainWalk(self._chain, row.writer, ChainTrail.after(row.seq - 1, previous), self.findings)
        walk = self._walk
        self.checked += 1
        follows = row.seq == walk.trail.seq + 1
        if not follows and self._is_ranged:
            self._left_out += 1
        if previous is None or (follows and walk.trail.macs and previous not in walk.trail.macs):
            message = f"Line {self._line}, row {row.seq} of writer {row.writer}, does not name the row before it"
            self._find(message, row.writer, row.seq, str(row.row[0]))
        walk.take(row, left_out=self._is_ranged, previous=previous)

    def _head(self, line: ExportLine) -> None:
        number, signature = _read_writer_number(line, export.HEAD_KEY), line.get("signature")
        place = (line.get("seq"), line.get("mac"))
        _check_line(line, export.build_head_line(number, ChainPosition(*place), signature))  # type: ignore[arg-type]
        if self._walk is None or self._walk.writer != number:
            self._close()
            self._find(f"Line {self._line} ends the chain of writer {number}, and the line that begins it is missing")
            self._walk = self._walk_from(number, ChainTrail.after(0, None))
        walk = self._walk
        assert walk is not None
        head = check_signature(self._chain, self._chain.sign_head, number, place, signature)
        if head is None:
            self.findings.append(build_head_forged(number, place[0]))
        else:
            self.heads.append((number, head))
            if self._is_ranged and walk.trail.seq < head.seq:
                self._left_out += 1
            else:
                walk.end(head)
        self._finish_writer(number)

    def _end(self, line: ExportLine) -> None:
        self._close()
        count, signature = line[export.END_KEY], line.get("signature")
        _check_line(line, export.build_end_line(count, signature))  # type: ignore[arg-type]
        self.findings += check_writer_count(self._chain, count, signature, self._writers)
        self._is_over = True

    def _close(self) -> None:
        """Report a writer without a head line and finish it."""
        if self._walk is not None:
            number = self._walk.writer
            self._find(f"Line {self._line} is not the expected end of the chain of writer {number}")
            self._finish_writer(number)

    def _finish_writer(self, number: int) -> None:
        self._walk = None
        self._writers = merge_ranges([*self._writers, (number, number)])

    def _walk_from(self, number: int | None, trail: ChainTrail) -> ChainWalk | None:
        return None if number is None else ChainWalk(self._chain, number, trail, self.findings)

    def _find(
        self, message: str, writer: int | None = None, seq: int | None = None, execution_id: str | None = None
    ) -> None:
        self.findings.append(TamperFinding("line", message, writer, seq, seq, execution_id))


def _check_line(line: ExportLine, rebuilt: ExportLine) -> None:
    if line != rebuilt:
        raise InvalidLine("more or less than there should be")


def _read_writer_number(line: ExportLine, name: str) -> int:
    number: Any = line[name]
    if type(number) is not int:
        raise InvalidLine(f"'{name}' is no number")
    return number
