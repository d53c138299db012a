"""Checking an export of the journal, some lines at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field

from pegboard.core.model import Model
from pegboard.core.refusals import Invalid
from pegboard.journal import lines
from pegboard.journal.chain import Chain, Place
from pegboard.journal.findings import MAX_FINDINGS, Finding, Trail, Walk, some_rows
from pegboard.journal.lines import Line, Misread
from pegboard.journal.signatures import count_findings, head_forged, marked, marker_forged, merged, signed


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


class LinesVerifier:
    """Takes the lines of an export one by one; `findings`, `heads` and `checked` are of those taken here."""

    def __init__(self, chain: Chain, position: LinesPosition | None) -> None:
        self._chain = chain
        self._was = position or LinesPosition()
        self._line = self._was.line
        self._is_ranged, self._is_over = self._was.is_ranged, self._was.is_over
        self._writers = list(self._was.writers)
        self._old, self._left_out, self._pruned = self._was.old, self._was.left_out, self._was.pruned
        self.findings: list[Finding] = []
        self.heads: list[tuple[int, Place]] = []
        self.checked = 0
        self._walk = self._walk_from(self._was.writer, Trail(self._was.seq, self._was.macs))

    @property
    def has_enough(self) -> bool:
        """Whether so much is wrong that more of it tells nothing."""
        return self._was.found + len(self.findings) >= MAX_FINDINGS

    @property
    def position(self) -> LinesPosition:
        """Where to go on."""
        walk = self._walk
        return LinesPosition(
            line=self._line,
            is_ranged=self._is_ranged,
            is_over=self._is_over,
            writer=walk.writer if walk else None,
            seq=walk.trail.seq if walk else 0,
            macs=walk.trail.macs if walk else (),
            writers=tuple(self._writers),
            old=self._old,
            left_out=self._left_out,
            pruned=self._pruned,
            found=self._was.found + len(self.findings),
        )

    def take(self, text: str) -> None:
        """Judge the next line; Invalid if the first one is of no export."""
        self._line += 1
        if not text.strip():
            return
        try:
            line = lines.read(text)
            take = self._kind_of(line)
            if self._line == 1 and lines.HEADER not in line:
                self._find("The export has no header: its first line is missing, and whether others are is not known")
                self._is_ranged = True
            if self._is_over:
                self._find(f"Line {self._line} stands after the end of the export")
                return
            take(line)
        except Misread as error:
            if self._line == 1:
                raise Invalid(f"This is no export of a journal: line 1: {error}") from None
            self._find(f"Line {self._line} is not as the board wrote it: {error}")

    def finish(self) -> list[str]:
        """Judge that there are no more lines; what could not be judged."""
        if not self._line:
            raise Invalid("This is no export of a journal: it is empty")
        if not self._is_over:
            self._find(f"The export is cut off after line {self._line}")
        notes = []
        if self._old:
            notes.append(f"{some_rows(self._old)} from before there was a chain, not judged")
        if self._pruned:
            notes.append(f"{some_rows(self._pruned)} pruned before the export")
        if self._is_ranged:
            places = f"{self._left_out} place" if self._left_out == 1 else f"{self._left_out} places"
            notes.append(
                f"The export holds a part of the journal: rows are left out in {places}, and whether any of them is"
                " missing from the journal cannot be told from it"
            )
        return notes

    def _kind_of(self, line: Line) -> Callable[[Line], None]:
        kinds = {lines.HEADER: self._header, lines.WRITER: self._writer, lines.HEAD: self._head, lines.END: self._end}
        for name, take in kinds.items():
            if name in line:
                return take
        if "id" in line:
            return self._row
        raise Misread("no line of an export")

    def _header(self, line: Line) -> None:
        if self._line != 1:
            raise Misread("a second header")
        if type(line[lines.HEADER]) is not int or line[lines.HEADER] != lines.VERSION:  # true is 1 to Python
            raise Invalid(f"The export has format {line[lines.HEADER]!r}, this board reads format {lines.VERSION}")
        made_at, since, until = (line.get(name) for name in ("made_at", "since", "until"))
        self._is_ranged = since is not None or until is not None
        try:
            is_signed = lines.signed_header(self._chain, made_at, since, until) == line
        except TypeError:  # what no header can hold
            is_signed = False
        if not is_signed:
            self._find("The header is not signed by this board: which rows the export was to hold is not known")

    def _writer(self, line: Line) -> None:
        number, marker = _numbered(line, lines.WRITER), (line.get("pruned_seq"), line.get("pruned_mac"))
        signature = line.get("signature")
        _check(line, lines.writer_line(number, Place(*marker), signature))  # type: ignore[arg-type]
        pruned = marked(self._chain, number, marker, signature)
        if self._walk is not None and self._walk.writer == number:
            # Rows were pruned while they were exported.
            if pruned is None or pruned.seq <= self._walk.trail.seq:
                self._find(f"Line {self._line} is a prune marker of writer {number} where there can be none")
                return
            self._pruned += pruned.seq - self._walk.trail.seq
            self._walk.trail = Trail.at(pruned)
            return
        self._close()
        if any(first <= number <= last for first, last in self._writers):
            self._find(f"Line {self._line} begins the chain of writer {number} a second time")
        if pruned is None:
            self.findings.append(marker_forged(number, marker[0]))
        self._pruned += pruned.seq if pruned is not None else 0
        self._walk = self._walk_from(number, Trail.at(pruned or Place()))

    def _row(self, line: Line) -> None:
        shown = lines.row_of(line)
        if shown.writer is None:
            self._old += 1
            return
        row, previous = shown.linked, shown.previous
        if self._walk is None or self._walk.writer != row.writer:
            self._close()
            message = (
                f"Line {self._line} is a row of writer {row.writer}, and the line that begins its chain is missing"
            )
            self._find(message)
            self._walk = Walk(self._chain, row.writer, Trail(row.seq - 1, _known(previous)), self.findings)
        walk = self._walk
        self.checked += 1
        follows = row.seq == walk.trail.seq + 1
        if not follows and self._is_ranged:
            self._left_out += 1
        if previous is None or (follows and walk.trail.macs and previous not in walk.trail.macs):
            message = f"Line {self._line}, row {row.seq} of writer {row.writer}, does not name the row before it"
            self._find(message, row.writer, row.seq, str(row.row[0]))
        walk.take(row, left_out=self._is_ranged, previous=previous)

    def _head(self, line: Line) -> None:
        number, signature = _numbered(line, lines.HEAD), line.get("signature")
        place = (line.get("seq"), line.get("mac"))
        _check(line, lines.head_line(number, Place(*place), signature))  # type: ignore[arg-type]
        if self._walk is None or self._walk.writer != number:
            self._close()
            self._find(f"Line {self._line} ends the chain of writer {number}, and the line that begins it is missing")
            self._walk = self._walk_from(number, Trail(0, ()))
        walk = self._walk
        assert walk is not None
        head = signed(self._chain, self._chain.sign_head, number, place, signature)
        if head is None:
            self.findings.append(head_forged(number, place[0]))
        else:
            self.heads.append((number, head))
            if self._is_ranged and walk.trail.seq < head.seq:
                self._left_out += 1
            else:
                walk.end(head)
        self._done(number)

    def _end(self, line: Line) -> None:
        self._close()
        count, signature = line[lines.END], line.get("signature")
        _check(line, lines.end_line(count, signature))  # type: ignore[arg-type]
        self.findings += count_findings(self._chain, count, signature, self._writers)
        self._is_over = True

    def _close(self) -> None:
        """Leave a writer whose head has not come."""
        if self._walk is not None:
            number = self._walk.writer
            self._find(f"Line {self._line} comes where the end of the chain of writer {number} should")
            self._done(number)

    def _done(self, number: int) -> None:
        self._walk = None
        self._writers = merged([*self._writers, (number, number)])

    def _walk_from(self, number: int | None, trail: Trail) -> Walk | None:
        return None if number is None else Walk(self._chain, number, trail, self.findings)

    def _find(
        self, message: str, writer: int | None = None, seq: int | None = None, execution_id: str | None = None
    ) -> None:
        self.findings.append(Finding("line", message, writer, seq, seq, execution_id))


def _check(line: Line, rebuilt: Line) -> None:
    if line != rebuilt:
        raise Misread("more or less than there should be")


def _numbered(line: Line, name: str) -> int:
    number: Any = line[name]
    if type(number) is not int:
        raise Misread(f"'{name}' is no number")
    return number


def _known(mac: str | None) -> tuple[str, ...]:
    return () if mac is None else (mac,)
