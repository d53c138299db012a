"""`pegboard migrate` and `pegboard doctor`: maintain the installation on this machine."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.surfaces.cli.exit_codes import BoardUnreachable, RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    Colour,
    colour_text,
    escape_control_characters,
    write,
    write_json,
    write_message,
)
from pegboard.surfaces.cli.session import get_session

if TYPE_CHECKING:
    from pegboard.settings import Settings

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
    from pegboard.surfaces.cli.api_client import read_settings  # noqa: PLC0415 -- start-up time

    revisions = asyncio.run(_run_migrations(read_settings(), check=check))
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
    from pegboard.surfaces.cli.doctor import run_checks  # noqa: PLC0415 -- start-up time

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
            mark, colour = _LEVEL_MARKS[item.level]
            write(
                f"{colour_text(mark, colour, sys.stdout)} {escape_control_characters(item.check)}: "
                f"{escape_control_characters(item.message)}"
            )
            if item.advice:
                write(f"    {escape_control_characters(item.advice)}")
        if not healthy:
            write_message("Something is wrong: see the lines that begin with ✗")
    if not healthy:
        raise typer.Exit(1)


async def _run_migrations(settings: Settings, *, check: bool) -> list[str]:
    from pegboard import maintenance  # noqa: PLC0415 -- start-up time
    from pegboard.model.api_errors import Conflict  # noqa: PLC0415 -- start-up time

    if check and (file := maintenance.find_missing_file(settings.database)):
        raise RequestRefused(f"There is no database yet: {file}", ["Make it with: pegboard migrate"])
    try:
        return await maintenance.migrate_database(settings.database, check=check)
    except ValueError as error:
        raise UsageError(f"PEGBOARD_DATABASE_URL: {error}") from None
    except OSError as error:
        raise BoardUnreachable(f"The database cannot be made: {error}") from None
    except Conflict as error:
        raise RequestRefused(str(error)) from None
    except maintenance.DatabaseUnreachable as error:
        raise BoardUnreachable(str(error)) from None
