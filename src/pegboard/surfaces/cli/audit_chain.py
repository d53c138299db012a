"""`pegboard audit verify`, `audit export` and `audit prune`: the journal as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from pegboard.surfaces.cli.failures import Refused, Usage
from pegboard.surfaces.cli.moments import ago
from pegboard.surfaces.cli.output import confirmed, moment, painted, plain, say, write, write_json
from pegboard.surfaces.cli.progress import progress
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import session_of, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client

# What one request carries of a file; a board takes bodies of 4 MiB unless it is told otherwise.
_CHUNK_BYTES = 256 * 2**10
_CONFLICT = 409

Since = Annotated[str | None, typer.Option("--since", help="Finished since: 30m, 1h, 2d, or an ISO time")]
Until = Annotated[str | None, typer.Option("--until", help="Finished before: the same forms forms forms")]


def verify(
    ctx: typer.Context,
    *,
    writer: Annotated[int | None, typer.Option("--writer", min=1, help="Only this writer's chain")] = None,
    first: Annotated[int | None, typer.Option("--first", min=1, help="From this row of the writer on")] = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="Up to this row of the writer")] = None,
    since: Since = None,
    until: Until = None,
    file: Annotated[str | None, typer.Option("--file", metavar="FILE|-", help="Check an export instead")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="With --file: also check that the board still has those rows")
    ] = False,
) -> None:
    """Verify the journal against its HMAC chain and list every violation; for admins.

    Exit 1 if there is one.

    Example: pegboard audit verify --since 1d
    """
    scope = {
        "writer": writer,
        "first": first,
        "last": last,
        "since": ago(since, "--since"),
        "until": ago(until, "--until"),
    }
    ranged = any(value is not None for value in scope.values())
    if file is not None and ranged:
        raise Usage("--file checks a whole file; it goes with none of --writer, --first, --last, --since and --until")
    if compare and file is None:
        raise Usage("--compare needs an export to compare with: --file")
    if writer is None and (first is not None or last is not None):
        raise Usage("--first and --last are rows of one writer: say which one with --writer")

    async def work(client: Client) -> dict[str, Any]:
        turns = _turns(client, scope) if file is None else _file_turns(client, file, compare=compare)
        whole: dict[str, Any] = {"checked": 0, "findings": [], "notes": []}
        async for turn in turns:
            whole["checked"] += turn["checked"]
            whole["findings"] += turn["findings"]
            whole["notes"] += turn["notes"]
        return whole

    _tell(ctx, with_board(ctx, work))


def export(
    ctx: typer.Context,
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE|-", help="Where to write")] = "-",
    since: Since = None,
    until: Until = None,
) -> None:
    """Write the journal with its chain as JSON Lines; for admins.

    An export can be checked by itself, with: audit verify --file

    Example: pegboard audit export --until 30d --output old.jsonl
    """
    span = {"since": ago(since, "--since"), "until": ago(until, "--until")}

    async def work(client: Client) -> int:
        from pegboard.surfaces.cli.lines import LinesClient  # noqa: PLC0415 -- start-up time

        written = 0
        with _target(output) as target, progress("Exporting") as advance:
            async for text in LinesClient.of(client).lines(route("executions", "export"), span):
                if target is not None:
                    target.write(text)
                elif text:
                    write(text)
                rows = sum(line.startswith('{"id":') for line in text.split("\n"))
                written += rows
                advance(rows)
        return written

    written = with_board(ctx, work)
    if output != "-":
        say(f"Wrote {_rows(written)} to {output}")


def prune(
    ctx: typer.Context,
    *,
    before: Annotated[
        str, typer.Option("--before", help="Remove rows that finished before: 30d, or an ISO time", show_default=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the rows")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking")] = False,
    force: Annotated[bool, typer.Option("--force", help="Remove rows that were tampered with too")] = False,
) -> None:
    """Remove the oldest rows of the journal, so that the rest still verifies; for admins.

    Example: pegboard audit prune --before 90d
    """
    instant = str(ago(before, "--before"))
    if not (yes or dry_run) and not sys.stdin.isatty():
        raise Usage(
            "Rows are removed permanently, and standard input is not a terminal: add --yes, or --dry-run to count them"
        )
    path = route("executions", "prune")

    async def count(client: Client) -> int:
        planned = await client.post(path, {"before": instant, "dry_run": True}, patient=True)
        return int(planned.data["removed"])

    async def remove(client: Client) -> int:
        removed = 0
        with progress("Pruning", expected) as advance:
            while True:
                done = (await client.post(path, {"before": instant, "force": force}, patient=True)).data
                removed += int(done["removed"])
                advance(done["removed"])
                if not done["more"]:
                    return removed

    expected = with_board(ctx, count)
    if dry_run:
        _tell_removed(ctx, expected, f"{_rows(expected)} finished before {moment(instant)} and would be removed")
        return
    if expected and not yes and not confirmed(f"Remove {_rows(expected)} that finished before {moment(instant)}?"):
        raise Refused("Nothing was removed")
    try:
        removed = with_board(ctx, remove)
    except Refused as refused:
        if refused.status != _CONFLICT:
            raise
        raise Refused(refused.message, ["Remove it all the same with --force"], status=_CONFLICT) from None
    _tell_removed(ctx, removed, f"removed {_rows(removed)} that finished before {moment(instant)}")


async def _turns(client: Client, scope: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """The board's answers about its journal, one after the other."""
    position: Any = None
    with progress("Verifying") as advance:
        while True:
            body = {**scope, "next": position}
            turn: dict[str, Any] = (await client.post(route("executions", "verify"), body)).data
            advance(turn["checked"], turn["total"])
            yield turn
            position = turn["next"]
            if position is None:
                return


async def _file_turns(client: Client, file: str, *, compare: bool) -> AsyncIterator[dict[str, Any]]:
    """The board's answers about the lines of a file, one after the other."""
    position: Any = None
    with _source(file) as source, progress("Verifying", _size(file)) as advance:
        for lines, last in _chunks(source, file):
            body = {"lines": lines, "last": last, "compare": compare, "next": position}
            turn: dict[str, Any] = (await client.post(route("executions", "verify-export"), body)).data
            advance(sum(len(line.encode()) + 1 for line in lines))
            yield turn
            position = turn["next"]
            if position is None:
                return


def _chunks(source: TextIO, file: str) -> Iterator[tuple[list[str], bool]]:
    """The lines of a file, some at a time, and whether they are the last."""
    try:
        lines: list[str] = []
        size = 0
        for line in source:
            if lines and size + len(line) > _CHUNK_BYTES:
                yield lines, False
                lines, size = [], 0
            lines.append(line.rstrip("\n"))
            size += len(line)
        yield lines, True
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None


def _tell(ctx: typer.Context, report: dict[str, Any]) -> None:
    findings = report["findings"]
    if session_of(ctx).as_json:
        write_json(report)
    else:
        for finding in findings:
            write(f"{painted('✗', 'red', sys.stdout)} {plain(finding['message'])}")
        for note in report["notes"]:
            say(f"Note: {note}")
        checked = f"checked {_rows(report['checked'])}"
        count = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
        write(f"{checked}: {count}" if findings else f"{checked}: nothing is wrong")
    if findings:
        raise typer.Exit(1)


def _tell_removed(ctx: typer.Context, removed: int, words: str) -> None:
    if session_of(ctx).as_json:
        write_json({"removed": removed})
    else:
        write(words)


@contextmanager
def _target(output: str) -> Iterator[TextIO | None]:
    """A file that gets its name only once it is whole and on disk; None for standard output."""
    if output == "-":
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # JSON is, whatever the terminal speaks
        yield None
        return
    partial = Path(f"{output}.partial")
    try:
        # The journal is for admins, whoever else may read this folder.
        with open(partial, "w", encoding="utf-8", opener=_privately) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(output)
    except OSError as error:
        raise Usage(f"{output}: {error.strerror}") from None


@contextmanager
def _source(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield sys.stdin
        return
    try:
        with Path(file).open(encoding="utf-8", newline="\n") as opened:
            yield opened
    except OSError as error:
        raise Usage(f"{file}: {error.strerror}") from None


def _size(file: str) -> int | None:
    return None if file == "-" else Path(file).stat().st_size


def _privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
