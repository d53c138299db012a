"""An export of the journal as JSON Lines: what each line holds, and what a line says.

The first line is the header, signed; the last one the signed number of writers. Between them stand the rows from before
the chain, then each writer's chain: its signed prune marker, its rows, its signed head. A row shows its fields as the
API does; where the text under its MAC does not follow from them, `stored` holds that text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from pegboard.journal.chain import Chain, Place
from pegboard.store.executions import FIELDS, Linked, Row
from pegboard.store.types import json_text

VERSION = 1
HEADER, WRITER, HEAD, END = "pegboard_export", "pegboard_writer", "pegboard_head", "pegboard_end"
_MOMENTS = frozenset({"started_at", "finished_at"})
_JSON = frozenset({"arguments", "result", "tries"})
# What lines that were written before these fields were added mean by leaving them out.
_ADDED = {"printed": None, "tries": None}
_STORED_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{6})", re.ASCII)
_SHOWN_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d\.\d{6})Z", re.ASCII)

Line = dict[str, Any]


class Misread(ValueError):
    """A line is not what an export has."""


class Shown(NamedTuple):
    """A row as an export shows it; `writer`, `seq` and `mac` are None for rows from before the chain."""

    writer: int | None
    seq: int | None
    mac: str | None
    previous: str | None
    row: Row

    @property
    def linked(self) -> Linked:
        """The row at its place in a chain."""
        return Linked(self.writer or 0, self.seq or 0, self.mac or "", self.row)


def written(line: Line) -> str:
    """A line as its text."""
    try:
        return orjson.dumps(line).decode()
    except TypeError:  # integers past 64 bits, halves of surrogate pairs
        return json.dumps(line, separators=(",", ":"), default=repr)


def read(text: str) -> Line:
    """What a line says; Misread if that is nothing, or not clear."""
    try:
        line = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise Misread(str(error)) from None
    if not isinstance(line, dict):
        raise Misread("not an object")
    return line


def header(chain: Chain, made_at: datetime, since: datetime | None, until: datetime | None) -> Line:
    """The first line: when the export was made, and which rows it holds by the time they finished."""
    shown = [None if moment is None else _iso(moment) for moment in (made_at, since, until)]
    return signed_header(chain, *shown)


def signed_header(chain: Chain, made_at: Any, since: Any, until: Any) -> Line:
    """The header with its MAC; there is no writer 0, so this is the MAC of nothing else."""
    mac = chain.link("export", 0, VERSION, (made_at, since, until))
    return {HEADER: VERSION, "made_at": made_at, "since": since, "until": until, "mac": mac}


def writer_line(number: int, pruned: Place, signature: str) -> Line:
    """The line before a writer's rows: up to where they were pruned."""
    return {WRITER: number, "pruned_seq": pruned.seq, "pruned_mac": pruned.mac, "signature": signature}


def head_line(number: int, head: Place, signature: str) -> Line:
    """The line after a writer's rows: where they end."""
    return {HEAD: number, "seq": head.seq, "mac": head.mac, "signature": signature}


def end_line(count: int, signature: str) -> Line:
    """The last line: how many writers there have been."""
    return {END: count, "signature": signature}


def row_line(shown: Shown) -> Line:
    """The line of a row."""
    line: Line = {}
    exact: Line = {}
    for name, value in zip(FIELDS, shown.row, strict=True):
        line[name], is_exact = _shown(name, value)
        if not is_exact:
            exact[name] = value if isinstance(value, str) else repr(value)
    line |= {"writer": shown.writer, "seq": shown.seq, "mac": shown.mac, "previous": shown.previous}
    if exact:
        line["stored"] = exact
    return line


def row_of(line: Mapping[str, Any]) -> Shown:
    """The row that a line shows; Misread if it shows none, or more than its MAC speaks for."""
    exact = line.get("stored", {})
    if not isinstance(exact, dict):
        raise Misread("'stored' is not an object")
    line = {**_ADDED, **line}
    try:
        row = tuple(exact[name] if name in exact else _kept(name, line[name]) for name in FIELDS)
        shown = Shown(line["writer"], line["seq"], line["mac"], line["previous"], row)
    except KeyError as error:
        raise Misread(f"no {error}") from None
    _check_place(shown)
    if row_line(shown) != line:
        raise Misread("more or other than its row")
    return shown


def _shown(name: str, value: Any) -> tuple[Any, bool]:
    """A field as the API shows it, and whether what is stored follows from that."""
    if value is None:
        return None, True
    if name in _MOMENTS:
        found = _STORED_MOMENT.fullmatch(value) if isinstance(value, str) else None
        return (f"{found[1]}T{found[2]}Z", True) if found else (None, False)
    if name in _JSON:
        try:
            parsed = json.loads(value)
        except (ValueError, TypeError, RecursionError):
            return None, False
        return parsed, parsed is not None and json_text(parsed) == value
    is_plain = type(value) in (str, int) or (type(value) is float and math.isfinite(value))
    return (value, True) if is_plain else (None, False)


def _kept(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _MOMENTS:
        found = _SHOWN_MOMENT.fullmatch(value) if isinstance(value, str) else None
        if not found:
            raise Misread(f"'{name}' is no moment")
        return f"{found[1]} {found[2]}"
    if name == "elapsed_ms" and type(value) is int:
        return float(value)  # other programs write 5.0 as 5
    return json_text(value) if name in _JSON else value


def _check_place(shown: Shown) -> None:
    writer, seq, mac, previous, _ = shown
    if writer is None:
        if (seq, mac, previous) != (None, None, None):
            raise Misread("a place in no writer's chain")
    elif type(writer) is not int or type(seq) is not int or not isinstance(mac, str):
        raise Misread("no place in a chain")
    elif not isinstance(previous, str | None):
        raise Misread("'previous' is no MAC")


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat("T", "microseconds")[:26] + "Z"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
