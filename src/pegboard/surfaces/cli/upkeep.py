"""`pegboard migrate` and `pegboard doctor`: the set-up of this machine."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.surfaces.cli.failures import Refused, Unreachable, Usage
from pegboard.surfaces.cli.output import Colour, painted, plain, say, write, write_json
from pegboard.surfaces.cli.session import session_of

if TYPE_CHECKING:
    from pegboard.settings import Settings

_MARKS: dict[str, tuple[str, Colour]] = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "bad": ("✗", "red")}


def migrate(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only list missing migrations; exit 1 if there are any")
    ] = False,
) -> None:
    """Apply the database migrations.

    Uses the settings of this machine, never a server.
    """
    from pegboard.surfaces.cli.client import read_settings  # noqa: PLC0415 -- start-up time

    revisions = asyncio.run(_migrated(read_settings(), check=check))
    if session_of(ctx).as_json:
        write_json({"pending" if check else "applied": revisions})
    elif revisions:
        write("\n".join(f"{'missing' if check else 'applied'} {revision}" for revision in revisions))
    else:
        write("up to date")
    if check and revisions:
        raise typer.Exit(1)


def doctor(ctx: typer.Context) -> None:
    """Check this installation and print what to fix.

    Exit 1 if anything is wrong.

    Example: pegboard doctor --url http://board.example:8080
    """
    from pegboard.surfaces.cli.doctor import examine  # noqa: PLC0415 -- start-up time

    findings = asyncio.run(examine(session_of(ctx)))
    healthy = all(finding.level != "bad" for finding in findings)
    if session_of(ctx).as_json:
        shown = [
            {"check": item.check, "level": item.level, "message": item.message, "advice": item.advice}
            for item in findings
        ]
        write_json({"healthy": healthy, "findings": shown})
    else:
        for item in findings:
            mark, colour = _MARKS[item.level]
            write(f"{painted(mark, colour, sys.stdout)} {plain(item.check)}: {plain(item.message)}")
            if item.advice:
                write(f"    {plain(item.advice)}")
        if not healthy:
            say("Something is wrong: see the lines that begin with ✗")
    if not healthy:
        raise typer.Exit(1)


async def _migrated(settings: Settings, *, check: bool) -> list[str]:
    from pegboard.store.database import Database, driver_message  # noqa: PLC0415 -- start-up time
    from pegboard.store.migrate import SchemaTooNew, pending  # noqa: PLC0415 -- start-up time
    from pegboard.store.migrate import migrate as bring_up  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.doctor_store import missing_file  # noqa: PLC0415 -- start-up time

    if check and (file := missing_file(settings.database)):
        raise Refused(f"There is no database yet: {file}", ["Make it with: pegboard migrate"])
    try:
        database = Database.create(settings.database)
    except ValueError as error:
        raise Usage(f"PEGBOARD_DATABASE_URL: {error}") from None
    except OSError as error:
        raise Unreachable(f"The database cannot be made: {error}") from None
    work: Awaitable[list[str]] = pending(database) if check else bring_up(database)
    try:
        return await work
    except SchemaTooNew as error:
        raise Refused(str(error)) from None
    except Exception as error:
        raise Unreachable(f"The database {database.shown_url} cannot be reached: {driver_message(error)}") from None
    finally:
        await database.close()
