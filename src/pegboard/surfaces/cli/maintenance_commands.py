"""`pegboard serve`, `migrate` and `doctor`: run and maintain the board of this machine."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from pegboard.surfaces.cli.output import (
    Colour,
    escape_control_characters,
    write,
    write_json,
    write_marked,
    write_message,
)
from pegboard.surfaces.cli.session import get_session

_LEVEL_MARKS: dict[str, tuple[str, Colour]] = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "bad": ("✗", "red")}


def migrate_database(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only list missing migrations; exit 1 if there are any")
    ] = False,
) -> None:
    """Apply the database migrations.

    Uses the settings of this machine, never a server.
    """
    from pegboard.surfaces.cli.local_maintenance import migrate_local_database  # noqa: PLC0415 -- not for its help

    revisions = asyncio.run(migrate_local_database(check=check))
    if get_session(ctx).as_json:
        write_json({"pending" if check else "applied": revisions})
    elif revisions:
        write("\n".join(f"{'missing' if check else 'applied'} {revision}" for revision in revisions))
    else:
        write("up to date")
    if check and revisions:
        raise typer.Exit(1)


def run_doctor(ctx: typer.Context) -> None:
    """Check this installation and print what to fix.

    Exit 1 if anything is wrong.

    Example: pegboard doctor --url http://board.example:8080
    """
    from pegboard.surfaces.cli.local_maintenance import run_checks  # noqa: PLC0415 -- not for its help

    findings = asyncio.run(run_checks(get_session(ctx)))
    healthy = all(finding.level != "bad" for finding in findings)
    if get_session(ctx).as_json:
        shown = [
            {"check": item.check, "level": item.level, "message": item.message, "advice": item.advice}
            for item in findings
        ]
        write_json({"healthy": healthy, "findings": shown})
    else:
        for item in findings:
            write_marked(*_LEVEL_MARKS[item.level], f"{item.check}: {item.message}")
            if item.advice:
                write(f"    {escape_control_characters(item.advice)}")
        if not healthy:
            write_message("Problems were found: see the lines that begin with ✗")
    if not healthy:
        raise typer.Exit(1)


def serve_board(
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Address to listen on [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, metavar="N", help="Port to listen on; 0 takes a free one [default: 8080]"
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Processes; more than one needs PEGBOARD_REDIS_URL")
    ] = 1,
    demo: Annotated[bool, typer.Option("--demo", help="Add three demo tools")] = False,
) -> None:
    """Run the server; Ctrl-C lets running calls end, then stops.

    Example: pegboard serve --demo
    """
    from pegboard.surfaces.cli.board_server import run_server  # noqa: PLC0415 -- the help does without the server

    run_server(host, port, workers=workers, demo=demo)
