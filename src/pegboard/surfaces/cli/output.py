"""Write results to standard output and messages to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import typer

from pegboard.surfaces.cli.exit_codes import UsageError

# Control characters that a terminal would interpret, except newline and tab.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOUR_CODES = {"red": "31", "green": "32", "yellow": "33", "dim": "2"}
Colour = Literal["red", "green", "yellow", "dim"]
_BROKEN_PIPE_EXIT_CODE = 141
# Longer names are truncated: the journal may have names of any length.
MAX_NAME_CHARS = 64

# Called with the increment, and with the new total if it has changed.
Advance = Callable[..., None]


def write_message(text: str, *, label: str = "", colour: Colour | None = None) -> None:
    """Write a message to standard error; the colour applies to the label if there is one."""
    coloured, plain = (label, text) if label else (text, "")
    _write_text(sys.stderr, colour_text(coloured, colour, sys.stderr) + escape_control_characters(plain) + "\n")


def write_partial_message(text: str) -> None:
    """Write a part of a line to standard error."""
    _write_text(sys.stderr, escape_control_characters(text.replace("\r\n", "\n")))


def write(text: str) -> None:
    """Write a result to standard output, with exactly one newline at the end."""
    _write_text(sys.stdout, text.rstrip("\n") + "\n")


FileFormat = Annotated[
    Literal["yaml", "json"] | None,
    typer.Option("--format", help="yaml or json; by default json for *.json", show_default=False),
]


def is_json_file(target: str, form: str | None, *, as_json: bool) -> bool:
    """Return True if a file is to be written as JSON, given its --format option and whether --json is set."""
    return form == "json" or (form is None and (as_json or target.lower().endswith(".json")))


def write_file(target: str, text: str) -> None:
    """Write a result to a file, or to standard output for `-`, with exactly one newline at the end."""
    if target == "-":
        write(text)
        return
    try:
        Path(target).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{target}: {getattr(error, 'strerror', None) or error}") from None


def write_marked(mark: str, colour: Colour, text: str) -> None:
    """Write a line of a result with a coloured mark in front."""
    write(f"{colour_text(mark, colour)} {escape_control_characters(text)}")


def write_json(value: Any) -> None:
    """Write a value as indented JSON."""
    write(format_json(value))


def format_json(value: Any) -> str:
    """Return the value as indented JSON with control characters escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=not _is_utf8(sys.stdout))
    return _CONTROL_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def format_count(number: int, what: str) -> str:
    """Return a number and its noun: 1 tool, 2 tools."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str = "No results.") -> None:
    """Write rows as a table: fitted to the terminal, or full width in a pipe; without rows, print `empty`."""
    cells = [[_format_cell(value) for value in row] for row in rows]
    if not cells:
        write_message(empty)
        return
    if sys.stdout.isatty():
        from pegboard.surfaces.cli.terminal_output import print_table  # noqa: PLC0415 -- only a terminal needs rich

        print_table(columns, cells)
        return
    widths = [max(len(row[place]) for row in [list(columns), *cells]) for place in range(len(columns))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [columns, *cells])
    write("\n".join(line.rstrip() for line in lines))


def escape_control_characters(text: str) -> str:
    """Escape every control character, so that a terminal does not interpret it."""
    return _CONTROL_CHARACTERS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def colour_text(text: str, colour: Colour | None, stream: TextIO | None = None) -> str:
    """Escape the text, and colour it if the stream, by default standard output, is a terminal that supports colour."""
    text = escape_control_characters(text)
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    if colour is None or is_plain or not (stream or sys.stdout).isatty():
        return text
    return f"\x1b[{_COLOUR_CODES[colour]}m{text}\x1b[0m"


def format_local_time(text: str | None) -> str:
    """Format an ISO timestamp of the API in the local time zone."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S") if text else ""


def format_yes_no(value: bool) -> str:
    """Return "yes" or "no"."""
    return "yes" if value else "no"


def to_single_line(text: str | None, length: int = 100) -> str:
    """Return the text on a single line of at most this length."""
    line = " ".join((text or "").split())
    return line if len(line) <= length else line[: length - 1] + "…"


def ask_confirmation(question: str) -> bool:
    """Ask the user to confirm, and return the answer; exit with 130 on Ctrl-C."""
    try:
        return typer.confirm(escape_control_characters(question), err=True)
    except typer.Abort:
        raise typer.Exit(130) from None


@contextmanager
def show_progress(what: str, total: float | None = None) -> Iterator[Advance]:
    """Show a bar on standard error if that is a terminal; yield a function that advances it."""
    if not sys.stderr.isatty():
        yield lambda some, total=None: None
        return
    from pegboard.surfaces.cli.terminal_output import open_progress_bar  # noqa: PLC0415 -- only a terminal needs rich

    with open_progress_bar(what, total) as advance:
        yield advance


def _format_cell(value: object) -> str:
    return escape_control_characters(to_single_line("" if value is None else str(value), 1000))


def _write_text(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        # The reader closed the pipe; redirect the stream, so that the interpreter does not fail to flush it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise typer.Exit(_BROKEN_PIPE_EXIT_CODE) from None


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"
