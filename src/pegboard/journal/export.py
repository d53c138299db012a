"""Exports the journal as JSON Lines, a page at a time, while it is being written; also parses such lines.

The first line is the signed header, the last one the signed number of writers. Between them are the rows from before
the hash chain existed, then each writer's chain: signed prune marker, rows, signed head. A row has its fields as in the
API; if the text covered by its MAC cannot be derived from them, `stored` holds that text.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.chain_signatures import read_chain_ends
from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.journal.read_chain import TimeSpan, iterate_rows, skip_rows
from pegboard.model.base_model import Model
from pegboard.model.journal_row import ADDED_FIELDS, STORED_COLUMNS, ColumnType, JournalColumn, StoredRow
from pegboard.model.json_text import json_text
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from pegboard.storage.execution_rows import ChainRow
from pegboard.telemetry.logs import get_logger

EXPORT_VERSION = 1
HEADER_KEY, WRITER_KEY, HEAD_KEY, END_KEY = "pegboard_export", "pegboard_writer", "pegboard_head", "pegboard_end"
# Defaults for lines that were written before these fields were added.
_ADDED_VALUES = dict.fromkeys(ADDED_FIELDS)
_STORED_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{6})", re.ASCII)
_EXPORTED_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d\.\d{6})Z", re.ASCII)

ExportLine = dict[str, Any]


class InvalidLine(ValueError):
    """Raised for a line that is not part of a valid export."""


class ExportedRow(NamedTuple):
    """A row as exported; `writer`, `seq` and `mac` are None for rows from before the hash chain existed."""

    writer: int | None
    seq: int | None
    mac: str | None
    previous: str | None
    row: StoredRow

    @property
    def linked(self) -> ChainRow:
        """The row with its position in a chain."""
        return ChainRow(self.writer or 0, self.seq or 0, self.mac or "", self.row)


def write_line(line: ExportLine) -> str:
    """Return a line as JSON text."""
    try:
        return orjson.dumps(line).decode()
    except TypeError:  # integers above 64 bits, lone surrogates
        return json.dumps(line, separators=(",", ":"), default=repr)


def read_line(text: str) -> ExportLine:
    """Return the parsed line; raise InvalidLine if it is not a JSON object, or is ambiguous."""
    try:
        line = json.loads(text, object_pairs_hook=_refuse_repeated_names, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidLine(str(error)) from None
    if not isinstance(line, dict):
        raise InvalidLine("not an object")
    return line


def build_header(chain: HashChain, made_at: datetime, since: datetime | None, until: datetime | None) -> ExportLine:
    """Return the header line: the time of the export, and the period of the rows that it contains."""
    shown = [None if moment is None else _format_instant(moment) for moment in (made_at, since, until)]
    return build_signed_header(chain, *shown)


def build_signed_header(chain: HashChain, made_at: Any, since: Any, until: Any) -> ExportLine:
    """Return the header with its MAC; there is no writer 0, so no row has the same MAC."""
    mac = chain.link("export", 0, EXPORT_VERSION, (made_at, since, until))
    return {HEADER_KEY: EXPORT_VERSION, "made_at": made_at, "since": since, "until": until, "mac": mac}


def build_writer_line(number: int, pruned: ChainPosition, signature: str) -> ExportLine:
    """Return the line before a writer's rows: its prune marker."""
    return {WRITER_KEY: number, "pruned_seq": pruned.seq, "pruned_mac": pruned.mac, "signature": signature}


def build_head_line(number: int, head: ChainPosition, signature: str) -> ExportLine:
    """Return the line after a writer's rows: its head."""
    return {HEAD_KEY: number, "seq": head.seq, "mac": head.mac, "signature": signature}


def build_end_line(count: int, signature: str) -> ExportLine:
    """Return the last line: the number of writers."""
    return {END_KEY: count, "signature": signature}


def build_row_line(shown: ExportedRow) -> ExportLine:
    """Return the line of a row."""
    line: ExportLine = {}
    exact: ExportLine = {}
    for column, value in zip(STORED_COLUMNS, shown.row, strict=True):
        line[column.name], is_exact = _export_value(column.type, value)
        if not is_exact:
            exact[column.name] = value if isinstance(value, str) else repr(value)
    line |= {"writer": shown.writer, "seq": shown.seq, "mac": shown.mac, "previous": shown.previous}
    if exact:
        line["stored"] = exact
    return line


def read_row(line: Mapping[str, Any]) -> ExportedRow:
    """Return the row of a line; raise InvalidLine if it is not a row, or has content that its MAC does not cover."""
    exact = line.get("stored", {})
    if not isinstance(exact, dict):
        raise InvalidLine("'stored' is not an object")
    line = {**_ADDED_VALUES, **line}
    try:
        row = tuple(
            exact[column.name] if column.name in exact else _restore_value(column, line[column.name])
            for column in STORED_COLUMNS
        )
        shown = ExportedRow(line["writer"], line["seq"], line["mac"], line["previous"], row)
    except KeyError as error:
        raise InvalidLine(f"no {error}") from None
    _check_position(shown)
    if build_row_line(shown) != line:
        raise InvalidLine("more or other than its row")
    return shown


def _export_value(stored_as: ColumnType, value: Any) -> tuple[Any, bool]:
    """Return a field as in the API, and whether the stored value can be derived from it."""
    if value is None:
        return None, True
    if stored_as is ColumnType.MOMENT:
        found = _STORED_MOMENT.fullmatch(value) if isinstance(value, str) else None
        return (f"{found[1]}T{found[2]}Z", True) if found else (None, False)
    if stored_as.is_json:
        try:
            parsed = json.loads(value)
        except (ValueError, TypeError, RecursionError):
            return None, False
        return parsed, parsed is not None and json_text(parsed) == value
    is_plain = type(value) in (str, int) or (type(value) is float and math.isfinite(value))
    return (value, True) if is_plain else (None, False)


def _restore_value(column: JournalColumn, value: Any) -> Any:
    if value is None:
        return None
    if column.type is ColumnType.MOMENT:
        found = _EXPORTED_MOMENT.fullmatch(value) if isinstance(value, str) else None
        if not found:
            raise InvalidLine(f"'{column.name}' is no moment")
        return f"{found[1]} {found[2]}"
    if column.type is ColumnType.FLOAT and type(value) is int:
        return float(value)  # other programs write 5.0 as 5
    return json_text(value) if column.type.is_json else value


def _check_position(shown: ExportedRow) -> None:
    writer, seq, mac, previous, _ = shown
    if writer is None:
        if (seq, mac, previous) != (None, None, None):
            raise InvalidLine("a place in no writer's chain")
    elif type(writer) is not int or type(seq) is not int or not isinstance(mac, str):
        raise InvalidLine("no place in a chain")
    elif not isinstance(previous, str | None):
        raise InvalidLine("'previous' is no MAC")


def _format_instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat("T", "microseconds")[:26] + "Z"


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


log = get_logger(__name__)

MAX_ROWS_PER_PAGE = 1000
_MAX_UNCHAINED_ROWS = 100
_MAX_BYTES_PER_PAGE = 2**20
_MAX_SECONDS_PER_PAGE = 1.0
_UUID_PATTERN = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


class ExportPosition(Model):
    """How far an export has come: among the rows from before the chain, then in each writer's chain."""

    old: str | None = Field(None, pattern=_UUID_PATTERN)
    last_old: str | None = Field(None, pattern=_UUID_PATTERN)
    writer: int | None = Field(None, ge=0, le=2**31 - 1)
    seq: int | None = Field(None, ge=0, le=2**63 - 1)
    mac: str | None = None
    skipping: bool = False


@dataclass(slots=True)
class ExportPage:
    """Some lines, and the position of the next ones."""

    room: int
    lines: list[str] = field(default_factory=list)
    next: ExportPosition | None = None
    bytes: int = 0

    @property
    def is_full(self) -> bool:
        """True if the page takes no further row."""
        return self.room <= 0 or self.bytes >= _MAX_BYTES_PER_PAGE

    def add(self, line: ExportLine) -> None:
        """Append a line."""
        self.lines.append(write_line(line))
        self.bytes += len(self.lines[-1])

    def add_row(self, shown: ExportedRow) -> None:
        """Append a row."""
        self.add(build_row_line(shown))
        self.room -= 1


class Exporter:
    """Exports every hash chain in the database."""

    def __init__(self, database: Database, chain: HashChain) -> None:
        self._database = database
        self._chain = chain

    async def page(self, span: TimeSpan, position: ExportPosition | None, limit: int) -> ExportPage:
        """Return the next lines from a position on, with at most `limit` rows."""
        page = ExportPage(limit)
        until = time.monotonic() + _MAX_SECONDS_PER_PAGE
        if position is None:
            page.add(build_header(self._chain, datetime.now(UTC), span.since, span.until))
            async with self._database.read() as conn:
                last = await journal_chain_rows.find_last_unchained_id(conn)
                position = ExportPosition(last_old=last) if last else await _start_next_writer(conn, 0, page)
        while position is not None and not page.is_full and time.monotonic() < until:
            # One transaction for a writer's last rows and its head, so that they are consistent.
            async with self._database.read() as conn:
                if position.writer is None:
                    position = await _add_unchained_rows(conn, position, span, page)
                else:
                    position = await self._step(conn, position.writer, position, _ChainPart(span, page))
        page.next = position
        return page

    async def _step(
        self, conn: AsyncConnection, number: int, position: ExportPosition, part: _ChainPart
    ) -> ExportPosition | None:
        writer = await journal_chain_rows.get_writer(conn, number)
        if writer is None:  # the verification of the export reports this
            return await _start_next_writer(conn, number, part.page)
        pruned = read_chain_ends(self._chain, writer).pruned
        place, skipping = (position.seq, position.mac), position.skipping
        if position.seq is None or pruned.seq > position.seq:
            marker = ChainPosition(writer.pruned_seq, writer.pruned_mac)
            part.page.add(build_writer_line(number, marker, writer.pruned_signature))
            place, skipping = pruned, part.span.is_bounded
        part.seq, part.mac = place[0] or 0, place[1]
        more = await (part.skip(conn, number) if skipping else part.copy(conn, number))
        if more is not None:
            return ExportPosition(writer=number, seq=part.seq, mac=part.mac, skipping=more)
        part.page.add(build_head_line(number, ChainPosition(writer.seq, writer.mac), writer.signature))
        return await _start_next_writer(conn, number, part.page)


@dataclass(slots=True)
class _ChainPart:
    """Adds a part of one writer's chain to a page; `seq` and `mac` are of the last row that was passed."""

    span: TimeSpan
    page: ExportPage
    seq: int = 0
    mac: str | None = None

    async def copy(self, conn: AsyncConnection, number: int) -> bool | None:
        """Add rows to the page; return whether to skip from here, or None if there are no more."""
        room, taken = self.page.room, 0
        async with aclosing(iterate_rows(conn, number, self.seq, limit=room)) as rows:
            async for row in rows:
                if self.page.is_full:
                    return False
                if self.span.is_bounded and not self.span.holds(row):
                    return True
                if type(row.seq) is not int:
                    log.error("row_unreadable", writer=number, seq=row.seq)
                    continue
                taken += 1
                if not row.row:
                    log.error("row_unreadable", writer=number, seq=row.seq)
                    self.seq, self.mac = row.seq, row.mac or None
                    continue
                if row.seq != self.seq + 1:
                    self.mac = await journal_chain_rows.read_mac(conn, number, row.seq - 1)
                self.page.add_row(ExportedRow(number, row.seq, row.mac, self.mac, row.row))
                self.seq, self.mac = row.seq, row.mac
        # Unreadable rows take no space on the page, and there may be more rows after them.
        return False if taken == room or self.page.is_full else None

    async def skip(self, conn: AsyncConnection, number: int) -> bool | None:
        """Skip rows outside the time span; return whether to continue skipping, or None if there are no more."""
        _, self.seq, self.mac, more = await skip_rows(conn, number, self.seq, self.mac, self.span)
        return more


async def _add_unchained_rows(
    conn: AsyncConnection, position: ExportPosition, span: TimeSpan, page: ExportPage
) -> ExportPosition | None:
    """Add rows from before the hash chain existed to the page."""
    last = position.last_old or ""
    rows = await journal_chain_rows.list_unchained_rows(
        conn, after=position.old, last=last, limit=min(_MAX_UNCHAINED_ROWS, page.room)
    )
    for row in rows:
        if span.holds(ChainRow(0, 0, "", row)):
            page.add_row(ExportedRow(None, None, None, None, row))
    if rows:
        return ExportPosition(old=rows[-1][0], last_old=last)
    return await _start_next_writer(conn, 0, page)


async def _start_next_writer(conn: AsyncConnection, number: int, page: ExportPage) -> ExportPosition | None:
    """Return the start of the next writer's chain; if there is none, add the last line and return None."""
    following = await journal_chain_rows.find_next_writer(conn, number)
    if following is not None:
        return ExportPosition(writer=following)
    page.add(build_end_line(*await journal_chain_rows.read_writer_count(conn)))
    return None
