"""Format rows as a text table with aligned columns, and a limit for rows and columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import orjson

from pegboard.display.readable import (
    FormattedNumber,
    FormattedText,
    has_secret_value,
    is_secret_field,
    to_display_text,
    to_one_line,
    to_readable,
    truncate_text,
)
from pegboard.model.secrets import MASK

MAX_ROWS = 20
_MAX_COLUMNS = 8
_MAX_KEYS = 200
_MAX_CELL_CHARS = 40
_MAX_TABLE_CHARS = 3800


class TextTable(NamedTuple):
    """The columns and all rows of a table."""

    columns: list[str]
    rows: Sequence[Any]

    def shape(self) -> str:
        """Return the number of rows and the names of the columns."""
        count = f"{len(self.rows):,} row{'' if len(self.rows) == 1 else 's'}" if self.rows else "no rows"
        names = [to_one_line(truncate_text(name, _MAX_CELL_CHARS)) for name in self.columns[:_MAX_COLUMNS]]
        left = len(self.columns) - len(names)
        return f"{count} ({', '.join(names)}{f', … {left} more' if left > 0 else ''})" if any(names) else count

    def format_rows(self) -> str:
        """Return the rows in aligned columns, up to 20 rows, 8 columns and 3,800 characters."""
        if not self.rows:
            return "no rows"
        columns = self.columns[:_MAX_COLUMNS]
        cells = [[_format_cell(row, place, name) for place, name in enumerate(columns)] for row in self.rows[:MAX_ROWS]]
        heads = [to_one_line(truncate_text(name, _MAX_CELL_CHARS)) for name in columns]
        widths = [max(map(_measure_width, column)) for column in zip(heads, *cells, strict=True)]
        right = [
            all(_is_number(_get_cell_value(row, place, name)) for row in self.rows[:MAX_ROWS])
            for place, name in enumerate(columns)
        ]
        lines = [_format_row(heads, widths, right), "  ".join("─" * width for width in widths)] if any(heads) else []
        room, shown = _MAX_TABLE_CHARS - sum(map(len, lines)), 0
        for row in cells:
            line = _format_row(row, widths, right)
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


def build_text_table(value: Any, columns: Sequence[str] | None) -> TextTable | None:
    """Return the value as a table; None if it is not a list of objects, a list of lists, or an object."""
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
    first = value[:MAX_ROWS]
    if all(isinstance(row, Mapping) for row in first):
        every = dict.fromkeys(chain.from_iterable(islice(row, _MAX_KEYS) for row in first))
        return TextTable(list(heads) if heads is not None else [str(name) for name in every], value)
    if all(isinstance(row, list | tuple) for row in first):
        most = max(map(len, first))
        return TextTable([*(heads or ()), *[""] * (most - len(heads or ()))], value)
    return None


def _get_cell_value(row: Any, place: int, name: str) -> Any:
    if isinstance(row, Mapping):
        return row.get(name)
    return row[place] if isinstance(row, list | tuple) and place < len(row) else None


def _format_cell(row: Any, place: int, name: str) -> str:
    value = _get_cell_value(row, place, name)
    if value is None:
        return ""
    if is_secret_field(name, value) or (name == "value" and isinstance(row, Mapping) and has_secret_value(row)):
        return MASK
    shown = value if isinstance(value, FormattedText) else to_readable(value, name)
    text = shown if isinstance(shown, str) else orjson.dumps(shown, default=to_display_text).decode()
    return truncate_text(to_one_line(text), _MAX_CELL_CHARS)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | FormattedNumber) and not isinstance(value, bool))


def _format_row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, is_right in zip(cells, widths, right, strict=True):
        gap = " " * (width - _measure_width(cell))
        padded.append(gap + cell if is_right else cell + gap)
    return "  ".join(padded).rstrip()


def _measure_width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)
