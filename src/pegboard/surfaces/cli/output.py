"""Results to standard output, everything said to people to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TextIO

import typer

from pegboard.surfaces.cli.failures import Refused, Usage

# What could move a cursor, ring a bell or colour a terminal, except newline and tab.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "dim": "2"}
Colour = Literal["red", "green", "yellow", "dim"]
_BROKEN_PIPE = 141

CUT_COLUMN = "DESCRIPTION"

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal")]


def say(text: str, *, label: str = "", colour: Colour | None = None) -> None:
    """Tell the person at the keyboard something that is no result; the colour is the label's, if there is one."""
    if colour is None:
        line = plain(label + text)
    elif label:
        line = painted(label, colour, sys.stderr) + plain(text)
    else:
        line = painted(text, colour, sys.stderr)
    _write(sys.stderr, line + "\n")


def say_part(text: str) -> None:
    """Tell a piece of something that may go on in the same line."""
    _write(sys.stderr, plain(text.replace("\r\n", "\n")))


def write(text: str) -> None:
    """Give out a result, ending in exactly one newline."""
    _write(sys.stdout, text.rstrip("\n") + "\n")


def write_json(value: Any) -> None:
    """Give out a value as JSON that people can read."""
    write(json_text(value))


def json_text(value: Any) -> str:
    """The value as indented JSON without anything that a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=not _speaks_unicode(sys.stdout))
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def counted(number: int, what: str) -> str:
    """A number and its noun: 1 tool, 2 tools."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str = "No results.") -> None:
    """Write rows for people: fitted to a terminal, whole and aligned in a pipe; without a row, the sentence `empty`."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not cells:
        say(empty)
        return
    if sys.stdout.isatty():
        _rich_table(columns, cells)
        return
    widths = [max(len(row[place]) for row in [list(columns), *cells]) for place in range(len(columns))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [columns, *cells])
    write("\n".join(line.rstrip() for line in lines))


def plain(text: str) -> str:
    """The text with every control character spelt out, so that no terminal obeys it."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def painted(text: str, colour: Colour, stream: TextIO) -> str:
    """The text, sanitised, in a colour where the stream is a terminal that wants one."""
    text = plain(text)
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def moment(text: str | None) -> str:
    """An instant of the API in the time zone of whoever reads it."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S") if text else ""


def yes_no(value: bool) -> str:
    """A word for a flag."""
    return "yes" if value else "no"


def one_line(text: str | None, length: int = 100) -> str:
    """The text on a single line of at most this length."""
    line = " ".join((text or "").split())
    return line if len(line) <= length else line[: length - 1] + "…"


def confirmed(question: str) -> bool:
    """Whether the person at the keyboard says yes."""
    try:
        return typer.confirm(plain(question), err=True)
    except typer.Abort:
        raise typer.Exit(130) from None


def confirm_loss(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone; where no person can be asked, --yes is needed."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Usage("This cannot be undone, and nothing was removed. Without a terminal, confirm it with --yes")
    if not confirmed(question):
        raise Refused("Nothing was removed")


def _cell(value: object) -> str:
    return plain(one_line("" if value is None else str(value), 1000))


def _rich_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len  # noqa: PLC0415 -- start-up time
    from rich.console import Console  # noqa: PLC0415 -- start-up time
    from rich.table import Table  # noqa: PLC0415 -- start-up time
    from rich.text import Text  # noqa: PLC0415 -- start-up time

    widths = [max(cell_len(row[place]) for row in [columns, *cells]) for place in range(len(columns))]
    whole = sum(widths) + 2 * len(widths)
    console = Console(highlight=False)
    if columns[-1] == CUT_COLUMN:
        # Only prose may be cut; an id that is cut is of no use, so lines may rather be longer than the terminal.
        widths[-1] = max(len(CUT_COLUMN), widths[-1] - max(0, whole - console.width))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, width in zip(columns, widths, strict=True):
        table.add_column(name, width=width, no_wrap=True, overflow="ellipsis")
    for row in cells:
        table.add_row(*map(Text, row))
    Console(highlight=False, width=max(console.width, whole)).print(table, crop=False)


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        # Whoever read this has seen enough; the interpreter must not try to flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise typer.Exit(_BROKEN_PIPE) from None


def _speaks_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"
