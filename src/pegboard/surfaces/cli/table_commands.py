"""`pegboard tables`: tools that insert rows into database tables."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from pegboard.model.documents import write_yaml
from pegboard.surfaces.cli.api_client import build_path
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.input_files import name_source, read_input
from pegboard.surfaces.cli.output import (
    FileFormat,
    escape_control_characters,
    format_count,
    format_json,
    format_yes_no,
    is_json_file,
    write,
    write_file,
    write_json,
    write_marked,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.resources import run_and_write
from pegboard.surfaces.cli.session import get_session, read_settings

DATABASE_VARIABLE = "PEGBOARD_TABLES_DATABASE"
PUBLIC_COMMENT = "true lets every user of the board call this tool"


def list_tables(ctx: typer.Context) -> None:
    """List the tables in use, and the problems of those that cannot be used; for admins."""
    run_and_write(ctx, lambda it: it.get(build_path("tables")), _show_tables)


def reload_tables(ctx: typer.Context) -> None:
    """Reload the server's tables file now; for admins.

    With several worker processes, the one that answers reloads at once and the others within two seconds.
    """
    run_and_write(ctx, lambda it: it.post(build_path("tables", "reload"), patient=True), _show_tables)


def _show_tables(report: dict[str, Any]) -> None:
    if report["file"] is None:
        write_message("No tables file. Set PEGBOARD_TABLES for the server and restart it.")
        return
    if report["items"]:
        rows = [
            [item["tool_id"], item["table"], item["database"], item["status"], format_yes_no(item["public"])]
            for item in report["items"]
        ]
        write_table(["TOOL", "TABLE", "DATABASE", "STATUS", "PUBLIC"], rows)
    for item in report["items"]:
        for problem in item["problems"]:
            write_marked("✗", "red", f"{item['tool_id']}: {problem['message']}")
    if report["error"] is not None:
        faults = report["error"]["errors"]
        write_message(
            "The tables file is invalid and not in use:" if faults else report["error"]["message"], colour="red"
        )
        for fault in faults:
            write_message("  " + (f"{fault['field']}: " if fault["field"] else "") + fault["message"])


def check_tables(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="YAML or JSON; - is standard input")],
) -> None:
    """Check a tables file against its databases.

    Always from this machine, never through a server. Exit 1 if anything is wrong.

    Example: pegboard tables check tables.yaml
    """
    from pegboard.maintenance import check_tables_file  # noqa: PLC0415 -- not for its help

    name = name_source(file)
    # Tables without a database are in that of the board.
    checked = asyncio.run(check_tables_file(read_input(file), name, read_settings().database, os.environ))
    if get_session(ctx).as_json:
        found = [
            {"path": one.path, "tool_id": one.tool_id, "code": one.code, "message": one.message}
            for one in checked.found
        ]
        write_json({"file": name, "tables": checked.tables, "tools": checked.tools, "findings": found})
    elif checked.found:
        lines = [": ".join(part for part in (name, one.place, one.message) if part) for one in checked.found]
        write("\n".join(map(escape_control_characters, lines)))
    else:
        write(escape_control_characters(f"{name}: {checked.count}; no problems"))
    if checked.found:
        raise typer.Exit(1)


def init_tables(
    ctx: typer.Context,
    *,
    database: Annotated[str, typer.Option("--database", metavar="URL", help="URL of the database")],
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Names of tables; by default all")
    ] = None,
    schema: Annotated[str | None, typer.Option("--schema", help="The schema of the tables")] = None,
    form: FileFormat = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE|-", help="Where to write")] = "-",
) -> None:
    """Write a tables file from the tables of a database.

    Read it before you use it: a model chooses and fills in tools by their descriptions.

    Example: pegboard tables init --database sqlite:///mood.db -o tables.yaml
    """
    if output != "-" and Path(output).exists():
        raise UsageError(f"{output} exists already; remove it, or write to another file")
    from pegboard.surfaces.cli.local_maintenance import generate_local_tables  # noqa: PLC0415 -- not for its help

    made = asyncio.run(generate_local_tables(database, schema, tables or [], DATABASE_VARIABLE))
    if is_json_file(output, form, as_json=get_session(ctx).as_json):
        text = format_json(made.document)
    else:
        written = write_yaml(made.document).replace("  public: false\n", f"  public: false  # {PUBLIC_COMMENT}\n")
        text = "".join(f"# {escape_control_characters(note)}\n" for note in made.notes) + written
    for note in made.notes:
        write_message(note, label="note ", colour="yellow")
    if isinstance(made.document["database"], dict):
        write_message(f"The URL holds a password and is not written: the file takes it from {DATABASE_VARIABLE}")
    write_file(output, text)
    if output != "-":
        write_message(f"Wrote {format_count(len(made.document['tables']), 'table')} to {output}")
