"""`pegboard audit verify`, `audit export` and `audit prune`: the journal as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from pegboard.surfaces.cli.api_client import ApiClient, build_path
from pegboard.surfaces.cli.command_arguments import parse_past_time
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    ask_confirmation,
    format_count,
    format_local_time,
    show_progress,
    write,
    write_json,
    write_marked,
    write_message,
)
from pegboard.surfaces.cli.resources import CONFLICT, run_and_write, run_with_client
from pegboard.surfaces.cli.session import get_session

# The part of a file sent in one request; the default body limit of a board is 4 MiB.
CHUNK_BYTES = 256 * 2**10

Since = Annotated[str | None, typer.Option("--since", help="Finished since: 30m, 1h, 2d, or an ISO time")]
Until = Annotated[str | None, typer.Option("--until", help="Finished before: the same forms")]


def verify_journal(
    ctx: typer.Context,
    *,
    writer: Annotated[int | None, typer.Option("--writer", min=1, help="Only this writer's chain")] = None,
    first: Annotated[int | None, typer.Option("--first", min=1, help="From this row of the writer on")] = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="Up to this row of the writer")] = None,
    since: Since = None,
    until: Until = None,
    file: Annotated[str | None, typer.Option("--file", metavar="FILE|-", help="Verify an export instead")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="With --file: also check that the board still has those rows")
    ] = False,
    only_last: Annotated[
        bool, typer.Option("--last-time", help="Only show when the whole journal was last verified, and the result")
    ] = False,
) -> None:
    """Verify the journal against its hash chain and list every violation; for admins.

    Exit 1 if there is one.

    Example: pegboard audit verify --since 1d
    """
    if only_last:
        run_and_write(ctx, lambda it: it.get(build_path("executions", "verification")), _show_last_verification)
        return
    scope = {
        "writer": writer,
        "first": first,
        "last": last,
        "since": parse_past_time(since, "--since"),
        "until": parse_past_time(until, "--until"),
    }
    ranged = any(value is not None for value in scope.values())
    if file is not None and ranged:
        raise UsageError("--file verifies a whole file and excludes --writer, --first, --last, --since and --until")
    if compare and file is None:
        raise UsageError("--compare needs an export to compare with: --file")
    if writer is None and (first is not None or last is not None):
        raise UsageError("--first and --last are rows of one writer: give its number with --writer")

    async def work(client: ApiClient) -> dict[str, Any]:
        turns = (
            _verify_in_steps(client, scope) if file is None else _verify_file_in_steps(client, file, compare=compare)
        )
        whole: dict[str, Any] = {"checked": 0, "findings": [], "notes": []}
        async for turn in turns:
            whole["checked"] += turn["checked"]
            whole["findings"] += turn["findings"]
            whole["notes"] += turn["notes"]
        return whole

    _show_verify_report(ctx, run_with_client(ctx, work))


def export_journal(
    ctx: typer.Context,
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE|-", help="Where to write")] = "-",
    since: Since = None,
    until: Until = None,
) -> None:
    """Write the journal with its hash chain as JSON Lines; for admins.

    An export can be checked by itself, with: audit verify --file

    Example: pegboard audit export --until 30d --output old.jsonl
    """
    span = {"since": parse_past_time(since, "--since"), "until": parse_past_time(until, "--until")}

    async def work(client: ApiClient) -> int:
        written = 0
        with _open_output(output) as target, show_progress("Exporting") as advance:
            async for text in client.lines(build_path("executions", "export"), span):
                if target is not None:
                    target.write(text)
                elif text:
                    write(text)
                rows = sum(line.startswith('{"id":') for line in text.split("\n"))
                written += rows
                advance(rows)
        return written

    written = run_with_client(ctx, work)
    if output != "-":
        write_message(f"Wrote {_count_rows(written)} to {output}")


def prune_journal(
    ctx: typer.Context,
    *,
    before: Annotated[
        str, typer.Option("--before", help="Remove rows that finished before: 30d, or an ISO time", show_default=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the rows")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking")] = False,
    force: Annotated[bool, typer.Option("--force", help="Also remove rows that were tampered with")] = False,
) -> None:
    """Remove the oldest rows of the journal, so that the rest still verifies; for admins.

    Example: pegboard audit prune --before 90d
    """
    instant = str(parse_past_time(before, "--before"))
    if not (yes or dry_run) and not sys.stdin.isatty():
        raise UsageError(
            "Rows are removed permanently, and standard input is not a terminal: add --yes, or --dry-run to count them"
        )
    path = build_path("executions", "prune")

    async def count(client: ApiClient) -> int:
        planned = await client.post(path, {"before": instant, "dry_run": True}, patient=True)
        return int(planned.data["removed"])

    async def remove(client: ApiClient) -> int:
        removed = 0
        with show_progress("Pruning", expected) as advance:
            while True:
                done = (await client.post(path, {"before": instant, "force": force}, patient=True)).data
                removed += int(done["removed"])
                advance(done["removed"])
                if not done["more"]:
                    return removed

    expected = run_with_client(ctx, count)
    if dry_run:
        _show_removed(
            ctx, expected, f"{_count_rows(expected)} finished before {format_local_time(instant)} and would be removed"
        )
        return
    if (
        expected
        and not yes
        and not ask_confirmation(f"Remove {_count_rows(expected)} that finished before {format_local_time(instant)}?")
    ):
        raise RequestRefused("Nothing was removed")
    try:
        removed = run_with_client(ctx, remove)
    except RequestRefused as refused:
        if refused.status != CONFLICT:
            raise
        raise RequestRefused(refused.message, ["Remove it anyway with --force"], status=CONFLICT) from None
    _show_removed(ctx, removed, f"removed {_count_rows(removed)} that finished before {format_local_time(instant)}")


async def _verify_in_steps(client: ApiClient, scope: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Yield the results of verifying the journal, one per request."""
    position: Any = None
    with show_progress("Verifying") as advance:
        while True:
            body = {**scope, "next": position}
            turn: dict[str, Any] = (await client.post(build_path("executions", "verify"), body)).data
            advance(turn["checked"], turn["total"])
            yield turn
            position = turn["next"]
            if position is None:
                return


async def _verify_file_in_steps(client: ApiClient, file: str, *, compare: bool) -> AsyncIterator[dict[str, Any]]:
    """Yield the results of verifying the lines of a file, one per request."""
    position: Any = None
    with _open_source(file) as source, show_progress("Verifying", _get_file_size(file)) as advance:
        for lines, last in _read_chunks(source, file):
            body = {"lines": lines, "last": last, "compare": compare, "next": position}
            turn: dict[str, Any] = (await client.post(build_path("executions", "verify-export"), body)).data
            advance(sum(len(line.encode()) + 1 for line in lines))
            yield turn
            position = turn["next"]
            if position is None:
                return


def _read_chunks(source: TextIO, file: str) -> Iterator[tuple[list[str], bool]]:
    """Yield chunks of lines of a file, and whether the chunk is the last; raise UsageError if it cannot be read."""
    try:
        lines: list[str] = []
        size = 0
        for line in source:
            if lines and size + len(line) > CHUNK_BYTES:
                yield lines, False
                lines, size = [], 0
            lines.append(line.rstrip("\n"))
            size += len(line)
        yield lines, True
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None


def _show_verify_report(ctx: typer.Context, report: dict[str, Any]) -> None:
    findings = report["findings"]
    if get_session(ctx).as_json:
        write_json(report)
    else:
        for finding in findings:
            write_marked("✗", "red", finding["message"])
        for note in report["notes"]:
            write_message(f"Note: {note}")
        checked = f"checked {_count_rows(report['checked'])}"
        write(f"{checked}: {format_count(len(findings), 'finding')}" if findings else f"{checked}: nothing is wrong")
    if findings:
        raise typer.Exit(1)


def _show_last_verification(status: dict[str, Any]) -> None:
    last = status["last"]
    if last is None:
        write("The whole journal was never verified. Verify it with: pegboard audit verify")
        return
    found = ", ".join(f"{count} {kind}" for kind, count in last["findings"].items()) or "nothing is wrong"
    when = format_local_time(last["finished_at"])
    write(f"{when}, by {last['caller']}: checked {_count_rows(last['checked'])}: {found}")


def _show_removed(ctx: typer.Context, removed: int, words: str) -> None:
    if get_session(ctx).as_json:
        write_json({"removed": removed})
    else:
        write(words)


@contextmanager
def _open_output(output: str) -> Iterator[TextIO | None]:
    """Open a file that is renamed to its final name only after fsync; yield None for standard output."""
    if output == "-":
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8, also on terminals with another encoding
        yield None
        return
    partial = Path(f"{output}.partial")
    try:
        # Private to its owner, because only admins may read the journal.
        with open(partial, "w", encoding="utf-8", opener=_open_private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(output)
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror}") from None


@contextmanager
def _open_source(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield sys.stdin
        return
    try:
        with Path(file).open(encoding="utf-8", newline="\n") as opened:
            yield opened
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None


def _get_file_size(file: str) -> int | None:
    return None if file == "-" else Path(file).stat().st_size


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _count_rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
