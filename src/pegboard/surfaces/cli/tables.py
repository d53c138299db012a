"""`pegboard tables`: tools that insert rows into database tables."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pegboard.surfaces.cli.failures import Refused, Unreachable, Usage
from pegboard.surfaces.cli.output import counted, json_text, painted, plain, say, write, write_json, write_table
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, session_of, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.table_files import Made

VARIABLE = "PEGBOARD_TABLES_DATABASE"
PUBLIC_COMMENT = "true lets every user of the board call this tool"

app = group("tables", "Make tools from database tables, and check them.")


@board_command(app, "list")
def list_tables(ctx: typer.Context) -> None:
    """List the tables in use, and the problems of those that cannot be used; for admins."""
    give(ctx, with_board(ctx, lambda it: it.get(route("tables"))), _show)


@board_command(app, "reload")
def reload(ctx: typer.Context) -> None:
    """Reload the server's tables file now; for admins.

    With several worker processes, the one that answers reloads at once and the others within two seconds.
    """
    give(ctx, with_board(ctx, lambda it: it.post(route("tables", "reload"), patient=True)), _show)


@board_command(app, "check")
def check(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="YAML or JSON; - is standard input")],
) -> None:
    """Check a tables file against its databases.

    Always from this machine, never through a server. Exit 1 if anything is wrong.

    Example: pegboard tables check tables.yaml
    """
    from pegboard.surfaces.cli import table_files  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.client import read_settings  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.files import read_input  # noqa: PLC0415 -- start-up time

    raw, name = read_input(file), "standard input" if file == "-" else file
    checked = asyncio.run(table_files.check(raw, name, read_settings().database, os.environ))
    if session_of(ctx).as_json:
        found = [
            {"path": one.path, "tool_id": one.tool_id, "code": one.code, "message": one.message}
            for one in checked.found
        ]
        write_json({"file": name, "tables": checked.tables, "tools": checked.tools, "findings": found})
    elif checked.found:
        lines = [": ".join(part for part in (name, one.place, one.message) if part) for one in checked.found]
        write("\n".join(map(plain, lines)))
    else:
        write(plain(f"{name}: {checked.count}; no problems"))
    if checked.found:
        raise typer.Exit(1)


@board_command(app, "init")
def init(
    ctx: typer.Context,
    *,
    database: Annotated[str, typer.Option("--database", metavar="URL", help="URL of the database")],
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Names of tables; by default all")
    ] = None,
    schema: Annotated[str | None, typer.Option("--schema", help="The schema of the tables")] = None,
    form: Annotated[
        Literal["yaml", "json"] | None,
        typer.Option("--format", help="yaml or json; by default json for *.json", show_default=False),
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE|-", help="Where to write")] = "-",
) -> None:
    """Write a tables file from the tables of a database.

    Read it before you use it: a model chooses and fills in tools by their descriptions.

    Example: pegboard tables init --database sqlite:///mood.db -o tables.yaml
    """
    from pegboard.registry.documents import write_yaml  # noqa: PLC0415 -- start-up time

    if output != "-" and Path(output).exists():
        raise Usage(f"{output} exists already; remove it, or write to another file")
    made = asyncio.run(_made(database, schema, tables or []))
    is_json = form == "json" or (form is None and (session_of(ctx).as_json or output.lower().endswith(".json")))
    if is_json:
        text = json_text(made.document)
    else:
        written = write_yaml(made.document).replace("  public: false\n", f"  public: false  # {PUBLIC_COMMENT}\n")
        text = "".join(f"# {plain(note)}\n" for note in made.notes) + written
    for note in made.notes:
        say(note, label="note ", colour="yellow")
    if isinstance(made.document["database"], dict):
        say(f"The URL holds a password and is not written: the file takes it from {VARIABLE}")
    if output == "-":
        write(text)
        return
    try:
        Path(output).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        raise Usage(f"{output}: {error.strerror}") from None
    say(f"Wrote {counted(len(made.document['tables']), 'table')} to {output}")


async def _made(url: str, schema: str | None, names: list[str]) -> Made:
    from sqlalchemy import make_url  # noqa: PLC0415 -- start-up time

    from pegboard.core.errors import ToolError  # noqa: PLC0415 -- start-up time
    from pegboard.core.refusals import Invalid  # noqa: PLC0415 -- start-up time
    from pegboard.executors.table.source import Fault  # noqa: PLC0415 -- start-up time
    from pegboard.executors.table.sources import open_source  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli import table_files  # noqa: PLC0415 -- start-up time

    try:
        source = open_source(url)
    except ValueError as error:
        raise Usage(f"--database: {error}") from None
    parsed = make_url(url)
    has_password = parsed.password is not None or any("password" in key for key in parsed.query)
    address = {"env": VARIABLE} if has_password else url
    try:
        made = await table_files.make(source, schema, names, address)
    except Invalid as error:
        raise Usage(error.message) from None
    except (Fault, ToolError) as error:
        raise Unreachable(f"{source.shown_url}: {error.message}") from None
    finally:
        await source.close()
    if not made.document["tables"]:
        raise Refused("The database has no table that can become a tool", made.notes)
    return made


def _show(report: dict[str, Any]) -> None:
    if report["file"] is None:
        say("No tables file. Set PEGBOARD_TABLES for the server and restart it.")
        return
    if report["items"]:
        rows = [
            [item["tool_id"], item["table"], item["database"], item["status"], "yes" if item["public"] else "no"]
            for item in report["items"]
        ]
        write_table(["TOOL", "TABLE", "DATABASE", "STATUS", "PUBLIC"], rows)
    for item in report["items"]:
        for problem in item["problems"]:
            write(f"{painted('✗', 'red', sys.stdout)} {plain(item['tool_id'])}: {plain(problem['message'])}")
    if report["error"] is not None:
        faults = report["error"]["errors"]
        say("The tables file is invalid and not in use:" if faults else report["error"]["message"], colour="red")
        for fault in faults:
            say("  " + (f"{fault['field']}: " if fault["field"] else "") + fault["message"])
