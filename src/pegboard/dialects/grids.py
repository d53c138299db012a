"""Rows as people read them: aligned columns, not too many of either."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import orjson

from pegboard.core.tool import MASK
from pegboard.dialects.readable import Figure, Written, cut, has_secret_value, hides, in_one_line, named, readable

MOST_ROWS = 20
_MOST_COLUMNS = 8
_MOST_KEYS = 200
_WIDEST = 40
_ROOM = 3800


class Grid(NamedTuple):
    """Rows that have something in common: their columns, and how many rows there are in all."""

    columns: list[str]
    rows: Sequence[Any]

    def shape(self) -> str:
        """How many rows there are, and of what."""
        count = f"{len(self.rows):,} row{'' if len(self.rows) == 1 else 's'}" if self.rows else "no rows"
        names = [in_one_line(cut(name, _WIDEST)) for name in self.columns[:_MOST_COLUMNS]]
        left = len(self.columns) - len(names)
        return f"{count} ({', '.join(names)}{f', … {left} more' if left > 0 else ''})" if any(names) else count

    def drawn(self) -> str:
        """The rows in aligned columns, as many as there is room for."""
        if not self.rows:
            return "no rows"
        columns = self.columns[:_MOST_COLUMNS]
        cells = [[_cell(row, place, name) for place, name in enumerate(columns)] for row in self.rows[:MOST_ROWS]]
        heads = [in_one_line(cut(name, _WIDEST)) for name in columns]
        widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
        right = [
            all(_is_number(_raw(row, place, name)) for row in self.rows[:MOST_ROWS])
            for place, name in enumerate(columns)
        ]
        lines = [_line(heads, widths, right), "  ".join("─" * width for width in widths)] if any(heads) else []
        room, shown = _ROOM - sum(map(len, lines)), 0
        for row in cells:
            line = _line(row, widths, right)
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
            shown += 1
        if (left := len(self.rows) - shown) > 0:
            lines.append(f"… {left:,} more row{'' if left == 1 else 's'}")
        if (wide := len(self.columns) - len(columns)) > 0:
            lines.append(f"… {wide:,} more column{'' if wide == 1 else 's'}")
        return "\n".join(lines)


def grid_of(value: Any, columns: Sequence[str] | None) -> Grid | None:
    """The value as rows and columns; None where it is neither a list of objects, nor one of lists, nor an object."""
    heads: Any = columns or None
    if isinstance(value, Mapping):
        rows = value.get("rows")
        given = value.get("columns")
        if isinstance(rows, list):
            if heads is None and isinstance(given, list) and all(isinstance(name, str) for name in given):
                heads = given
            value = rows
        else:
            value = [value]
    if not isinstance(value, list | tuple):
        return None
    first = value[:MOST_ROWS]
    if all(isinstance(row, Mapping) for row in first):
        every = dict.fromkeys(chain.from_iterable(islice(row, _MOST_KEYS) for row in first))
        return Grid(list(heads) if heads is not None else [str(name) for name in every], value)
    if all(isinstance(row, list | tuple) for row in first):
        most = max(map(len, first))
        return Grid([*(heads or ()), *[""] * (most - len(heads or ()))], value)
    return None


def _raw(row: Any, place: int, name: str) -> Any:
    if isinstance(row, Mapping):
        return row.get(name)
    return row[place] if isinstance(row, list | tuple) and place < len(row) else None


def _cell(row: Any, place: int, name: str) -> str:
    value = _raw(row, place, name)
    if value is None:
        return ""
    if hides(name, value) or (name == "value" and isinstance(row, Mapping) and has_secret_value(row)):
        return MASK
    shown = value if isinstance(value, Written) else readable(value, name)
    text = shown if isinstance(shown, str) else orjson.dumps(shown, default=named).decode()
    return cut(in_one_line(text), _WIDEST)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | Figure) and not isinstance(value, bool))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, is_right in zip(cells, widths, right, strict=True):
        gap = " " * (width - _width(cell))
        padded.append(gap + cell if is_right else cell + gap)
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)
